"""Timeline: ranks by time, from the whole run down to single calls and messages."""

from __future__ import annotations

from typing import Any

import polars as pl

from logpost.analyzer.run.undivided import together
from logpost.analyzer.words.units import percent_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.pages import one_call
from logpost.dashboards.app.pages.messages import chosen
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import code_lane, palette, path_line
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.dense_timeline import dense_timeline
from logpost.dashboards.figures.efficiency_line import efficiency_line
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.single_calls import MOST_CALLS, MOST_MESSAGES, single_calls
from logpost.dashboards.figures.timeline import timeline
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.errors import InputError

NAME, TITLE = "timeline", "Timeline"
FEW_ROWS = 32
FEW_BINS = 256
"""Rows and bins up to which each cell has its shares as text."""
MANY_ROWS = 500
UNGROUPED = 64
"""Ranks up to which each has its own row."""
COLUMNS = 1_000
"""Pixels of the picture on a small screen."""
MOST_OVERDRAWN = 0.1
"""Of the picture: as much may be drawn as call that is none, because no bar is narrower than a pixel."""
IN_ORDER = "order"
"""What the URL says for rows in the order of ranks."""
MANY_BINS = 1_024
BINS_OF_EFFICIENCY = 200
MOST_ON_PATH = 4
"""Categories that are named of the critical path."""


def layout(view: View) -> list[Any]:
    """The timeline, and POP's efficiencies below it on the same time."""
    scoped = view.scoped
    present = view.present
    single = _single(scoped)
    first = (
        ["Calls and messages"] if single else ["Dominant category", "Dominant outside compute", "Share outside compute"]
    )
    has_path = view.opened.run.table("critical_path").head(1).collect().height > 0
    has_code = any(view.opened.run.table(name).head(1).collect().height for name in ("samples", "file_calls"))
    views = [*first, *([path_line.VIEW] if has_path else []), *([code_lane.VIEW] if has_code else [])]
    rows = _rows(view)
    what = (
        "Each bar is a call in the colour of what took most of it; a line is a message, from its send to its receive. "
        "A click on either shows its parts below."
        if single
        else "Each cell has the colour of the category that took most of it; where nearly all is compute, the first "
        "view leaves compute out, or shows how much is left besides. Drag a rectangle to look closer: "
        "every page follows; double-click to go back to the whole."
    )
    what += " Ctrl and the wheel zoom time, Shift and the wheel or a Shift-drag move it; so do the keys W, S, A and D."
    if has_path:
        what += (
            " The critical path is what the length of the run consists of: only what is shorter on it makes the run "
            "shorter."
        )
    if has_code:
        what += " The code between calls is a lane below each row: sampled functions, and calls on files (--io)."
    return [
        panels.section(
            "Timeline",
            panels.legend(present),
            panels.chart("timeline.timeline", "Ranks by time", views, height=360, spoken=True, drag="zoom2d"),
            *panels.notes(_on_path(view) if has_path else ""),
            *panels.notes("" if single else rows.note),
            _other_rows(view),
            about=what,
        ),
        *one_call.section(view),
        *chosen(view),
        panels.section(
            "Efficiencies over time",
            panels.chart("timeline.efficiency", "POP efficiencies over time", height=250, drag="zoom2d"),
        ),
    ]


def _single(scoped: SelectedRun) -> bool:
    """Whether single calls are drawn: they are so few, and so long, that the picture shows their durations."""
    return (
        scoped.locations.height <= MANY_ROWS
        and scoped.calls_in(MOST_CALLS) <= MOST_CALLS
        and scoped.overdrawn(COLUMNS) <= MOST_OVERDRAWN
    )


def _on_path(view: View) -> str:
    """The parts of the whole program's critical path; empty for a selected part, because no table divides the path."""
    path = view.report.critical_path
    if path is None or view.state.selection.query():
        return ""
    whole = max(1, sum(path.categories_ps.values()))
    most = sorted(path.categories_ps.items(), key=lambda item: -item[1])[:MOST_ON_PATH]
    return f"It consists of {', '.join(f'{palette.label(name)} {percent_text(ps / whole)}' for name, ps in most)}."


def _rows(view: View) -> Rows:
    """Single ranks where they are few; groups that behave alike; or, if the URL says so, the order of ranks."""
    scoped = view.scoped
    if scoped.locations.height <= UNGROUPED or view.state.more.get("rows") == IN_ORDER:
        return scoped.rows(FEW_ROWS if scoped.locations.height <= FEW_ROWS else MANY_ROWS)
    found = scoped.behaving(UNGROUPED)
    return found if found.grouping else scoped.rows(MANY_ROWS)


def _other_rows(view: View) -> Any:
    """A link to the other arrangement of many ranks."""
    if view.scoped.locations.height <= UNGROUPED or not view.scoped.behaving(UNGROUPED).grouping:
        return None
    if view.state.more.get("rows") == IN_ORDER:
        return panels.go(view.state.having(rows=""), "Group ranks that behave alike, outliers first")
    return panels.go(view.state.having(rows=IN_ORDER), "Show ranks in their order")


def _timeline(view: View) -> Chart:
    scoped = view.scoped
    begin, end = scoped.span
    if _single(scoped):
        on = scoped.rows(max(1, scoped.locations.height))
        made = _calls(view, scoped)
    elif scoped.locations.height <= FEW_ROWS and not scoped.cells.levels:
        on = scoped.rows(FEW_ROWS)
        cube, over = view.cube(on, FEW_BINS)
        made = timeline(cube, on, over)
    else:
        on = _rows(view)
        cube, over = view.cube(on, MANY_BINS)
        made = dense_timeline(cube, on, over)
        if on.grouping:
            made.figure.update_layout(meta={**(made.figure.layout.meta or {}), "pick": "rows"})
    path = view.opened.run.table("critical_path").filter(pl.col("begin_ps") < end, pl.col("end_ps") > begin)
    made = path_line.with_path(made, path.collect(), on, begin, end)
    made = code_lane.with_code(made, *_code(view), on, begin, end)
    return panels.brushable(made, on, scoped, str((made.figure.layout.meta or {}).get("pick", "")))


def _code(view: View) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Samples and calls on files, with the names of their functions and files."""
    run = view.opened.run
    names = run.table("callpaths").select("callpath", "region").join(run.table("regions"), on="region")
    names = names.select("callpath", "name")
    samples, files = (run.table(name).join(names, on="callpath").collect() for name in ("samples", "file_calls"))
    return samples, files


def _calls(view: View, scoped: SelectedRun) -> Chart:
    run = view.opened.run
    on = scoped.rows(max(1, scoped.locations.height))
    begin, end = scoped.span
    regions = run.facts("regions").select("region", "name")
    calls = (
        together(scoped.calls(), run.manifest.machine.undivided)
        .join(regions, on="region", how="left")
        .join(on.of.lazy(), on="location")
        .collect()
    )
    rows = on.of.lazy()
    messages = (
        scoped.messages()
        .filter(pl.col("send_enter_ps") < end, pl.col("recv_leave_ps") > begin)
        .join(rows.rename({"location": "send_location", "row": "send_row"}), on="send_location")
        .join(rows.rename({"location": "recv_location", "row": "recv_row"}), on="recv_location")
        .head(MOST_MESSAGES + 1)
        .with_columns(name=pl.format("{}:{}", "recv_location", "recv_number"))
        .select(
            *("send_row", "recv_row", "send_enter_ps", "recv_leave_ps"),
            *("send_call", "send_complete_call", "recv_call", "bytes", "name"),
        )
        .collect()
    )
    return single_calls(calls, messages, on, begin, end)


def _efficiency(view: View) -> Chart:
    scoped = view.scoped
    if scoped.callpaths is not None:
        raise InputError("efficiencies are of all that ranks do: remove the call path from the selection to see them")
    on = scoped.rows(max(1, scoped.locations.height))
    cube, over = view.cube(on, BINS_OF_EFFICIENCY if on.count <= 1_000 else 50)
    return panels.brushable(efficiency_line(cube, over), None, scoped)


CHARTS = {**one_call.CHARTS, "timeline.timeline": _timeline, "timeline.efficiency": _efficiency}
