"""Network: the links of a machine whose topology is known, and the load of each endpoint over time."""

from __future__ import annotations

from typing import Any

import dash
import numpy as np
import polars as pl
from dash import Input, State, dcc, html

from logpost.analyzer.machine.placement import places_on_network
from logpost.analyzer.predict.whatif.mapping import Seats, remapped
from logpost.analyzer.words.units import sentence_text
from logpost.dashboards.app import between_ranks, panels
from logpost.dashboards.app.picking import having, into_wanted, wanted
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.grid_map import MEASURES as MAPPED
from logpost.dashboards.figures.grid_map import MOST_DIMENSIONS, grid_map, is_drawn
from logpost.dashboards.figures.links import MEASURES, links
from logpost.dashboards.figures.load import MEASURES as LOADS
from logpost.dashboards.figures.node_traffic import MOST_NODES, node_traffic
from logpost.dashboards.selection.links import hosts_on_network, link_tables
from logpost.errors import InputError
from logpost.machines import hops_matrix, load_machine
from logpost.machines.topologies import Cartesian, Topology

NAME, TITLE = "network", "Network"
MOST_ROWS, MOST_COLUMNS = 64, 128
"""Ranks and stretches of time of a chart: cells of half a page are 8 pixels high and 4 wide."""
NO_WAY = ("hops are not known", "network contention (C_n) is 0")
"""How notes of the analysis begin that say why no link is known."""
MAPPED_BY = ("block", "cyclic", "random")


def layout(view: View) -> list[Any]:
    """Links where they are known; endpoints always."""
    known = _known(view)
    drawn = known and is_drawn(_topology(view))
    mapping = _mapping(view)
    several = view.manifest.hosts.nodes > 1
    return [
        *(
            [
                panels.section(
                    "Between nodes",
                    html.Div(
                        [
                            wanted(NAME),
                            html.Label("ranks mapped", htmlFor="network-mapping"),
                            dcc.RadioItems(id="network-mapping", value=mapping, inline=True, className="switch",
                                           options=[{"label": name or "as they were", "value": name}
                                                    for name in ("", *MAPPED_BY)]),
                        ],
                        className="fields",
                    ),
                    panels.chart(
                        "network.nodes", "Bytes between nodes", ["As it was", f"Mapped {mapping}"] if mapping else [],
                        1 if mapping else None, height=400, spoken=True, drag="select2d",
                    ),
                    about="Before and after another mapping of ranks to the same nodes; the What if page replays it.",
                )
            ]
            if several
            else []
        ),
        *(
            [
                panels.section(
                    "Map",
                    panels.chart("network.map", "Links where they lie", [m.label for m, _ in MAPPED], height=320),
                    about=_how_drawn(view),
                )
            ]
            if drawn
            else []
        ),
        panels.section(
            "Links",
            panels.chart("network.links", "Links over time", [m.label for m, _ in MEASURES], height=320, drag="zoom2d")
            if known
            else panels.empty(_why_none(view)),
            about="The links that carry most, over time: a column is a phase, from one global synchronization to the "
            "next. Contention is what messages wait for each other on a link. Drag to select a time."
            if known
            else "",
        ),
        panels.section(
            "Endpoints",
            panels.chart(
                "network.load",
                "Load of each rank over time",
                [m.label for m in LOADS],
                height=320,
                spoken=True,
                drag="zoom2d",
            ),
            about="What arrives at and leaves each rank over time; only messages keep a receiver busy. Drag a "
            "rectangle to select.",
        ),
    ]  # fmt: skip


def _known(view: View) -> bool:
    """Whether the run's machine has a network that carried something."""
    return view.opened.run.table("links").head(1).collect().height > 0


def _why_none(view: View) -> str:
    """Why no link is known."""
    try:
        topology = _topology(view)
    except InputError:  # the run has no machine file that can be read
        topology = None
    if topology is None:
        return (
            "The machine has no topology, so no link is known; analyze with --topology, or a machine file that has "
            "one, to see links and network contention."
        )
    said = [note for note in view.manifest.machine.notes if note.startswith(NO_WAY)]
    why = "".join(f" {sentence_text(note)}." for note in said)
    return f"The machine has a network ({topology.describe()}), but no link of it carried a message.{why}"


def _how_drawn(view: View) -> str:
    """How to read the map of this network."""
    said = ["A square is a node; around it are the links that leave it, in each direction."]
    topology = _topology(view)
    if isinstance(topology, Cartesian) and any(topology.wraps()):
        said.append("A link at the edge leads around to the other end.")
    if is_drawn(topology) and len(topology.shape()) == MOST_DIMENSIONS and topology.shape()[2] > 1:
        said.append(
            "Planes of the third dimension are drawn side by side, the first one left; the links between them are at a "
            "node's corners: upper right to the next plane, lower left to the one before."
        )
    return " ".join(said)


def _mapping(view: View) -> str:
    chosen = view.state.more.get("mapping", "").strip()
    return chosen if chosen in MAPPED_BY else ""


def _nodes(view: View) -> Chart:
    every = view.scoped.every_location.with_columns(of=view.scoped.owners)
    placed = every.filter(pl.col("rank") >= 0).sort("rank")
    seats = Seats(*(placed[name].to_numpy().astype(np.int64) for name in ("node", "socket")))
    if placed["node"].n_unique() > MOST_NODES:
        raise InputError(f"more than {MOST_NODES} nodes: too many for a picture of pairs")
    # Threads are on the node of their rank.
    own = placed.select(of="rank", seat=pl.int_range(pl.len()))
    located = every.filter(pl.col("of") >= 0).join(own, on="of", maintain_order="left")
    locations, seat = located["location"].to_list(), located["seat"].to_numpy()
    pairs = between_ranks.pairs(view, view.scoped)
    pairs = pairs.filter(pl.col("send_location").is_in(locations), pl.col("recv_location").is_in(locations))
    placements = {"as it was": dict(zip(locations, seats.nodes[seat].tolist(), strict=True))}
    if mapping := _mapping(view):
        after = remapped(seats, mapping)
        placements[f"mapped {mapping}"] = dict(zip(locations, after.nodes[seat].tolist(), strict=True))
    made = node_traffic(pairs, placements, dict(placed.select("node", "host").iter_rows()), _hops(view))
    ranks = np.array(placed["rank"].to_list(), dtype=np.int64)

    def on_nodes(nodes: np.ndarray) -> list[list[int]]:
        known = sorted({node for one in placements.values() for node in one.values()})
        return [panels.flat(ranks[nodes == node].tolist()) for node in known]

    panels.selectable(made, {"rows": on_nodes(seats.nodes), "pick": "pair"})
    if mapping:
        made.views[1].layout["meta"] = {**made.figure.layout.meta, "rows": on_nodes(after.nodes)}
    return made


def _hops(view: View) -> dict[tuple[int, int], int]:
    """Links between each two nodes; empty where the machine's network does not state all of them."""
    placed = view.scoped.every_location.filter(pl.col("rank") >= 0)
    nodes = placed["node"].unique().sort()
    if not _known(view) or nodes[0] < 0:
        return {}
    machine = load_machine(view.opened.run.machine_file)
    places, _ = places_on_network(machine, placed)
    hops = hops_matrix(machine, places[nodes.to_numpy()])
    if (hops < 0).any():
        return {}
    return {(a, b): int(hops[i, j]) for i, a in enumerate(nodes) for j, b in enumerate(nodes)}


def _topology(view: View) -> Topology | None:
    return load_machine(view.opened.run.machine_file).topology


def _map(view: View) -> Chart:
    topology = _topology(view)
    if not is_drawn(topology):
        raise InputError("the machine's network is no grid that can be drawn")
    return grid_map(topology, *link_tables(view.scoped), hosts_on_network(view.scoped))


def _links(view: View) -> Chart:
    return panels.brushable(links(*link_tables(view.scoped), hosts_on_network(view.scoped)), None, view.scoped)


def _load(view: View) -> Chart:
    return between_ranks.endpoints(view, view.scoped, MOST_ROWS, MOST_COLUMNS)


CHARTS = {"network.nodes": _nodes, "network.map": _map, "network.links": _links, "network.load": _load}


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """The URL states another mapping, which the What if page reads."""

    @app.callback(
        into_wanted(NAME),
        Input("network-mapping", "value"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def remap(mapping: str | None, pathname: str | None, query: str | None) -> Any:
        return having(pathname, query, mapping=mapping or "")
