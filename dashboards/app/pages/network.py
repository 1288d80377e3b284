"""Network: the links of a machine whose topology is known, and the load of each endpoint over time."""

from __future__ import annotations

from typing import Any

import polars as pl

from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.grid_map import MEASURES as MAPPED
from logpost.dashboards.figures.grid_map import grid_map, is_drawn
from logpost.dashboards.figures.links import MEASURES, links
from logpost.dashboards.figures.load import MEASURES as LOADS
from logpost.dashboards.figures.load import load
from logpost.errors import InputError
from logpost.machines import load_machine
from logpost.machines.topologies import Topology

NAME, TITLE = "network", "Network"
MOST_ROWS = 64


def layout(view: View) -> list[Any]:
    """Links where they are known; endpoints always."""
    known = view.opened.run.table("links").head(1).collect().height > 0
    drawn = known and is_drawn(_topology(view))
    return [
        *(
            [
                panels.section(
                    "Map",
                    panels.chart("network.map", "Links where they lie", [m.label for m, _ in MAPPED], height=320),
                    about="A square is a node; beside it are the links that leave it, in each direction.",
                )
            ]
            if drawn
            else []
        ),
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


def _topology(view: View) -> Topology | None:
    return load_machine(view.opened.run.machine_file).topology


def _selected(view: View) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables `links` and `traffic` of the selected time."""
    run = view.opened.run
    traffic = run.table("traffic").sort("begin_ps").collect()
    if view.state.selection.timed:
        begin, end = view.scoped.span
        traffic = traffic.filter(traffic["begin_ps"] < end, traffic["end_ps"] > begin)
    carried = run.table("links").collect()
    carried = carried.join(traffic.select("traffic_phase"), on="traffic_phase", how="semi")
    if carried.is_empty():
        raise InputError("no traffic between nodes in the selected time")
    return carried, traffic


def _map(view: View) -> Chart:
    topology = _topology(view)
    if not is_drawn(topology):
        raise InputError("the machine's network is no grid that can be drawn")
    return grid_map(topology, *_selected(view))


def _links(view: View) -> Chart:
    return links(*_selected(view))


def _load(view: View) -> Chart:
    scoped = view.scoped
    if scoped.load().head(1).collect().is_empty():
        raise InputError("no message in the selection")
    on = scoped.rows(MOST_ROWS)
    return panels.brushable(load(scoped.load(), scoped.queues(), on, scoped.columns(128)), on, scoped)


CHARTS = {"network.map": _map, "network.links": _links, "network.load": _load}
