"""The locations of a run on other seats, as its table has them."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.predict.whatif.mapping import Seats
from logpost.analyzer.predict.whatif.plan import Plan


def seated(locations: pl.DataFrame, plan: Plan, seats: Seats) -> pl.DataFrame:
    """The locations with other nodes, hosts and sockets. Nodes that the run had keep number and host; the cores that
    a location was bound to are no longer known."""
    assert plan.recorded_seats is not None
    rank = plan.ranks.rank
    node, socket, host = (locations[name].to_list() for name in ("node", "socket", "host"))
    known = {}
    for row in np.flatnonzero(locations["rank"].to_numpy() >= 0).tolist():
        known[int(plan.recorded_seats.nodes[rank[row]])] = (node[row], host[row])
    free = max(node, default=-1) + 1
    for row in np.flatnonzero(rank >= 0).tolist():
        place = int(seats.nodes[rank[row]])
        if place not in known:
            known[place] = (free, f"node {place}")
            free += 1
        node[row], host[row] = known[place]
        socket[row] = int(seats.sockets[rank[row]])
    return locations.with_columns(
        pl.Series("node", node, dtype=pl.Int32),
        pl.Series("socket", socket, dtype=pl.Int32),
        pl.Series("host", host, dtype=pl.String),
        core=pl.lit(""),
    )
