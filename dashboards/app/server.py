"""Serves the dashboard until it is interrupted."""

from __future__ import annotations

import getpass
import logging
import os
import socket
from collections.abc import Callable, Sequence

from werkzeug.serving import BaseWSGIServer, make_server

from logpost.dashboards.app.app import make_app
from logpost.dashboards.app.guard import is_loopback, new_token
from logpost.dashboards.app.runs import Runs
from logpost.errors import InputError

TRIED = 20
"""Ports after the requested one."""


def listening(runs: Runs, host: str, port: int, token: str | None) -> BaseWSGIServer:
    """A server that listens, on the port or on one of those after it.

    Raises:
        InputError: the address cannot be used.
    """
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_app(runs, token).server
    failure: OSError | None = None
    for one in range(port, min(port + TRIED, 65536)) if port else (0,):
        try:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host.strip("[]"), one))
            return make_server(host.strip("[]"), one, server, threaded=True)
        except OSError as error:
            failure = error
    reason = failure.strerror if failure else "no port"
    raise InputError(f"--host {host} --port {port}: {reason}; choose another port or address")


def serve(
    paths: Sequence[str | os.PathLike[str]],
    host: str,
    port: int,
    *,
    machines: Sequence[str | os.PathLike[str]] = (),
    token: bool = False,
    say: Callable[[str], None] = print,
    address: Callable[[str], None] = print,
) -> None:
    """Serve the runs and say where.

    Args:
        paths: run directories.
        host: loopback, or an address at which a token is demanded.
        port: 0: any.
        machines: files of machines for what-if.
        token: demand one on loopback, too.
        say: prints what else there is to know.
        address: prints the URL.

    Raises:
        InputError: a path is no run or no machine, or the address cannot be used.
    """
    runs = Runs(paths, machines)
    key = new_token() if token or not is_loopback(host) else None
    server = listening(runs, host, port, key)
    # Every address of this machine: its name is one that others can open.
    bare = host.strip("[]")
    at = socket.gethostname() if bare in ("0.0.0.0", "::") else (f"[{bare}]" if ":" in bare else bare)
    query = f"/?token={key}" if key else "/"
    try:
        address(f"http://{at}:{server.port}{query}")
        if is_loopback(host):
            say(
                f"from another machine: ssh -N -L {server.port}:127.0.0.1:{server.port} "
                f"{getpass.getuser()}@{socket.gethostname()}   then open the same address there"
            )
        say("Ctrl-C ends it")
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
