"""The Dash application: its frame, its pages, and the parts that all pages share, each with its callbacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import dash
import flask

from logpost.dashboards.app import charts, content, frame, named, pages, picking, search, selection_bar
from logpost.dashboards.app.guard import guard
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.scripts import compress, tables_on_demand
from logpost.dashboards.app.style import INDEX, before_js, style


def make_app(runs: Runs, token: str | None = None) -> dash.Dash:
    """The application over the runs; with a token, only requests that have the token are served."""
    tables_on_demand()
    app = dash.Dash(
        __name__,
        title="logpost",
        update_title="",
        serve_locally=True,
        suppress_callback_exceptions=True,
        index_string=INDEX,
        add_log_handler=False,
        enable_mcp=False,
    )
    server: flask.Flask = app.server
    for file, made, kind in (("style.css", style, "text/css"), ("before.js", before_js, "text/javascript")):
        server.add_url_rule(f"/_logpost/{file}", file, partial(_text, made, kind))
    guard(server, token, app.csp_hashes)
    compress(server)
    app.layout = frame.layout(runs)
    for part in (frame, content, charts, selection_bar, named, search, picking, *pages.PAGES):
        if hasattr(part, "callbacks"):
            part.callbacks(app, runs)
    return app


def _text(made: Callable[[], str], kind: str) -> flask.Response:
    return flask.Response(made(), mimetype=kind)
