"""Access to the dashboard (loopback: under a name of this machine; elsewhere: the token), and what a page may load."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

import flask

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """192 bits in hexadecimal digits, as long as Jupyter's."""
    return secrets.token_hex(24)


def cookie_of(token: str) -> str:
    """The name of the cookie that holds the token: browsers keep one jar for all ports of a machine, where another
    dashboard has another token."""
    return f"logpost_{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def guard(server: flask.Flask, token: str | None, hashes: Callable[[], Sequence[str]]) -> None:
    """Refuse requests without the token, or, without a token, under a foreign host name (a page of another site whose
    name resolves to this machine); forbid pages to load from elsewhere.

    Args:
        server: what serves the pages.
        token: what to ask for; None: nothing.
        hashes: gives the hashes of the inline scripts that may run.
    """

    @server.before_request
    def refuse() -> flask.Response | None:
        if token is None:
            name = flask.request.host.rsplit(":", 1)[0] if not flask.request.host.endswith("]") else flask.request.host
            if name not in LOCAL_NAMES and not is_loopback(name):
                return _line("this dashboard is served to localhost only; open the address that logpost printed", 403)
            return None
        given = flask.request.args.get("token")
        if given is not None and _same(given, token):
            rest = [(k, v) for k, v in flask.request.args.items(multi=True) if k != "token"]
            answer = flask.redirect(flask.request.path + (f"?{urlencode(rest)}" if rest else ""))
            # Lax and not Strict: a browser that follows a link to the printed address (in a mail, say) sends no strict
            # cookie from the redirection. No GET changes anything.
            answer.set_cookie(cookie_of(token), token, httponly=True, samesite="Lax")
            return answer  # type: ignore[return-value]
        if _same(flask.request.cookies.get(cookie_of(token), ""), token):
            return None
        return _line("a token is needed: open the whole address that logpost printed, with ?token=…", 403)

    @server.after_request
    def headers(answer: flask.Response) -> flask.Response:
        scripts = " ".join(hashes())
        answer.headers["Content-Security-Policy"] = (
            f"default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; "
            "base-uri 'none'; form-action 'none'; object-src 'none'"
        )
        answer.headers["X-Content-Type-Options"] = "nosniff"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer


def _same(given: str, token: str) -> bool:
    """In a time that does not reveal how much of the token is right."""
    return hmac.compare_digest(given.encode(), token.encode())


def _line(text: str, status: int) -> flask.Response:
    return flask.Response(f"logpost: {text}\n", status, mimetype="text/plain")
