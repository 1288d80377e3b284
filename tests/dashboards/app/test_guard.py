"""Access to the dashboard, and what its pages may load."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.app import make_app
from logpost.dashboards.app.guard import cookie_of, is_loopback, new_token
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.server import listening
from logpost.errors import InputError


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs([make_run(tmp_path_factory.mktemp("guard") / "a.run").path])


def client(runs: Runs, token: str | None = None) -> FlaskClient:
    server: Flask = make_app(runs, token).server
    return server.test_client()


def test_loopback_needs_no_token_but_its_own_name(runs: Runs) -> None:
    connection = client(runs)
    for host in ("127.0.0.1:8050", "localhost", "[::1]:8050", "[::1]"):
        assert connection.get("/", headers={"Host": host}).status_code == 200, host
    for host in ("evil.example", "evil.example:8050", "127.0.0.1.evil.example"):
        answer = connection.get("/", headers={"Host": host})
        assert answer.status_code == 403
        assert "is served to localhost only" in answer.text


def test_elsewhere_only_the_token_opens_and_then_a_cookie(runs: Runs) -> None:
    token = new_token()
    connection = client(runs, token)
    for path in ("/", "/timeline?run=a.run", "/_dash-layout", "/assets/dashboard.js", "/_logpost/style.css"):
        answer = connection.get(path)
        assert answer.status_code == 403, path
        assert "a token is needed" in answer.text
    assert connection.post("/_dash-update-component", json={}).status_code == 403
    assert connection.get(f"/?token={token[:-1]}").status_code == 403
    answer = connection.get(f"/timeline?from=1&token={token}")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/timeline?from=1"
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert connection.get("/").status_code == 200
    connection.delete_cookie(cookie_of(token))
    assert connection.get("/").status_code == 403


def test_pages_may_load_only_from_here(runs: Runs) -> None:
    policy = client(runs).get("/").headers["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in rules["script-src"]
    assert all(word == "'self'" or word.startswith("'sha256-") for word in rules["script-src"].split())


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.8.8.8", True),
        ("0.0.0.0", False),
        ("node7", False),
    ],
)
def test_what_is_loopback(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_an_address_of_another_machine_is_refused_with_its_name(runs: Runs) -> None:
    with pytest.raises(InputError, match=r"--host 192\.0\.2\.1 --port 0: .*; choose another port or address"):
        listening(runs, "192.0.2.1", 0, None)


def test_a_path_is_never_a_run(runs: Runs, tmp_path: Path) -> None:
    other = make_run(tmp_path / "other.run").path
    for name in (str(other), "../other.run", "other.run", "a.run/../../x"):
        with pytest.raises(InputError, match="no run is called"):
            _ = runs[name]


def test_runs_of_one_name_are_distinct(tmp_path: Path) -> None:
    paths = [make_run(tmp_path / parent / "a.run").path for parent in ("x", "y")]
    assert Runs([*paths, paths[0]]).names[:2] == ["a.run", "y/a.run"]
