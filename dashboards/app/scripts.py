"""The large scripts of the browser: those that the first page does not need are loaded later, and long ones compressed.

plotly.js is 4.9 MB and ag-grid 1.3 MB. Charts follow the text, and two pages have grids: so plotly.js is fetched
while the first callbacks run (`dashboard.js`), and ag-grid with the first page that has a grid (`panels.grid`). Through
an ssh tunnel their length counts, so they are sent as gzip, which is made once, before somebody asks for it.
"""

from __future__ import annotations

import gzip
import importlib.resources
import threading

import dash
import dash_ag_grid
import flask

PREFIX = "/_dash-component-suites/"
LARGE = (("plotly", "package_data/plotly.min.js"), ("dash_ag_grid", "dash_ag_grid.min.js"),
         ("dash_ag_grid", "async-community.js"))  # fmt: skip
LEVEL = 6
KEPT_S = 60
"""Seconds for which a browser need not ask again: from fetching a script ahead to using it."""


def tables_on_demand() -> None:
    """Leave ag-grid's script out of the first page (the browser loads it on demand), and Dash's own table, which no
    page has, out of all."""
    for script in (*dash_ag_grid._js_dist, *dash.dash_table._js_dist):  # type: ignore[attr-defined]
        if script["relative_package_path"] in ("dash_ag_grid.min.js", "dash_table/bundle.js"):
            script["async"] = "lazy"


def compress(server: flask.Flask) -> None:
    """Send the large scripts as gzip as soon as that is made."""
    packed: dict[str, bytes] = {}

    def pack() -> None:
        for package, path in LARGE:
            source = importlib.resources.files(package).joinpath(path)
            packed[f"{PREFIX}{package}/{path}"] = gzip.compress(source.read_bytes(), LEVEL, mtime=0)

    threading.Thread(target=pack, daemon=True).start()

    @server.after_request
    def send(answer: flask.Response) -> flask.Response:
        path = flask.request.path
        if not path.startswith(PREFIX) or answer.status_code != 200:
            return answer
        if not answer.cache_control.max_age:
            answer.headers["Cache-Control"] = f"private, max-age={KEPT_S}"
        answer.headers["Vary"] = "Accept-Encoding"
        if path in packed and "gzip" in flask.request.headers.get("Accept-Encoding", ""):
            answer.set_data(packed[path])
            answer.headers["Content-Encoding"] = "gzip"
        return answer
