"""A call site with its source lines; the URL names a call path of the run, never a file."""

from __future__ import annotations

from typing import Any

import polars as pl
from dash import html

from logpost.analyzer.run.place import MANIFEST
from logpost.dashboards.app.panels import aria
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.labels import prose, visible
from logpost.dashboards.report.source import source_lines


def call_site(view: View, callpath: int | None, what: str = "Call site") -> html.Div | None:
    """File and line of a call path and the lines around it; nothing where the trace names none.

    Args:
        view: of the run.
        callpath: row of the table `callpaths`.
        what: how to call it.
    """
    run = view.opened.run
    paths = run.table("callpaths")
    if callpath is None or callpath < 0 or not {"file", "line"} <= set(paths.collect_schema().names()):
        return None
    known = paths.filter(pl.col("callpath") == callpath, pl.col("file") != "", pl.col("line") > 0)
    found = known.select("file", "line").collect()
    if found.is_empty():
        return None
    file, line = found.row(0)
    made = source_lines(file, line, run_made=(run.path / MANIFEST).stat().st_mtime)
    head = html.P([f"{what}: ", html.Code(f"{visible(file, 120)}:{line}")], className="where")
    if made.why_not:
        return html.Div([head, html.P(prose(made.why_not), className="note")])
    lines: list[Any] = []
    for number, text in enumerate(made.lines, made.first):
        said = f"{number:>6}  {text}\n"
        lines.append(html.B(said, className="here") if number == line else said)
    changed = "The file has changed since the run was made: the lines may have moved."
    note = [html.P(changed, className="note")] if made.changed else []
    return html.Div(
        [head, html.Pre(lines, className="source", tabIndex=0, **aria(f"Source around line {line}")), *note]
    )
