"""Network: the links of a machine whose topology is known, and the load of each endpoint over time."""

from __future__ import annotations

from typing import Any

from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.links import MEASURES, links
from logpost.dashboards.figures.load import MEASURES as LOADS
from logpost.dashboards.figures.load import load
from logpost.errors import InputError

NAME, TITLE = "network", "Network"
MOST_ROWS = 64


def layout(view: View) -> list[Any]:
    """Links where they are known; endpoints always."""
    known = view.opened.run.table("links").head(1).collect().height > 0
    return [
        panels.section(
            "Links",
            panels.chart("network.links", "Links by phase", [m.label for m, _ in MEASURES], height=320)
            if known
            else panels.empty(
                "The machine has no topology, so no link is known; analyze with a machine file that has one (logpost "
                "machines list) to see links and network contention."
            ),
            about="The links that carry most, by phase of the traffic: from one global synchronization to the next."
            if known
            else "",
        ),
        panels.section(
            "Endpoints",
            panels.chart("network.load", "Load of each rank over time", [m.label for m in LOADS], height=320),
            about="What arrives at and leaves each rank over time. Drag a rectangle to select.",
        ),
    ]  # fmt: skip


def _links(view: View) -> Chart:
    run = view.opened.run
    traffic = run.table("traffic").sort("begin_ps").collect()
    if view.state.selection.timed:
        begin, end = view.scoped.span
        traffic = traffic.filter(traffic["begin_ps"] < end, traffic["end_ps"] > begin)
    carried = run.table("links").collect()
    carried = carried.join(traffic.select("traffic_phase"), on="traffic_phase", how="semi")
    if carried.is_empty():
        raise InputError("no traffic between nodes in the selected time")
    return links(carried, traffic)


def _load(view: View) -> Chart:
    scoped = view.scoped
    if scoped.load().head(1).collect().is_empty():
        raise InputError("no message in the selection")
    on = scoped.rows(MOST_ROWS)
    return panels.brushable(load(scoped.load(), scoped.queues(), on, scoped.columns(128)), on, scoped)


CHARTS = {"network.links": _links, "network.load": _load}
