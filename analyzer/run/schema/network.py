"""Tables of the load on endpoints and links."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.schema.column import Column, Table, count, enum, ids, ps, wide_ps
from logpost.analyzer.run.schema.vocabulary import DIRECTIONS

LOAD = Table(
    "load",
    "(location as an endpoint, direction, window)",
    (
        *ids(location="endpoint", window="time window of the injection (send) or arrival (recv)"),
        enum("direction", DIRECTIONS, "leaving or arriving"),
        count("messages", "messages", "messages"),
        count("bytes", "B", "payload"),
        *ids(peers="distinct partners in the window"),
        *ps(
            busy="service time at the endpoint: max(g, B G) summed",
            queued="time that messages waited for the endpoint in the FIFO replay",
        ),
    ),
)

TRAFFIC = Table(
    "traffic",
    "phase of the traffic between nodes: between global synchronizations, or a piece of it",
    (
        *ids(traffic_phase="the phase"),
        *ps(begin="begins", end="ends"),
        count("messages", "messages", "messages between nodes that left in it"),
        count("bytes", "B", "their payload"),
        Column("utilisation", pl.Float64(), "1", "load of the busiest dimension's channels; null: not a grid"),
        Column(
            "contention_ps",
            pl.Float64(),
            "ps",
            "C_n, the model's mean wait of a message; null: saturated, or not a grid",
        ),
        *wide_ps(
            excess="the time of messages beyond what all else explains, where their receivers waited for them",
            granted="of it, network contention",
        ),
    ),
)

LINKS = Table(
    "links",
    "(phase of the traffic, directed link of the machine's network) that carried messages",
    (
        *ids(traffic_phase="the phase", from_vertex="from this node or switch", to_vertex="to this one"),
        count("messages", "messages", "messages that took it"),
        count("bytes", "B", "their payload"),
        Column("utilisation", pl.Float64(), "1", "bytes × time per byte / length of the phase"),
        *wide_ps(granted="network contention of the messages that took it, where their receivers waited for them"),
    ),
)
