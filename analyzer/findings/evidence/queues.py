"""What of a message's time is a queue's.

Where an estimated machine does not divide a queue from the transfer, all that a message took beyond one that queued for
nobody may be a queue's. What such a one takes is no more than the shortest message of its size and distance took, or a
round of the shortest collective operation of the run, whatever messages it consists of. Times in ps.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Flags, Graph, Messages
from logpost.analyzer.findings.evidence.rounds import shortest_round
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.replay.columns import Int64

QUEUES = ("endpoint_contention", "network_contention")


def queued_ps(evidence: Evidence, graph: Graph) -> Int64:
    """By message of the graph: the time in queues, at most."""
    messages = graph.messages
    if evidence.divides(*QUEUES):
        return np.asarray(np.sum([messages.parts[part] for part in QUEUES], axis=0), dtype=np.int64)
    rows = pl.DataFrame(
        {"bytes": messages.bytes, "within": within_nodes(evidence, messages), "time": messages.undivided_ps}
    )
    alone = pl.min_horizontal(pl.col("time").min().over("bytes", "within"), round(shortest_round(evidence)))
    return rows.select((pl.col("time") - alone).clip(lower_bound=0))["time"].to_numpy()


def within_nodes(evidence: Evidence, messages: Messages) -> Flags:
    """By message: whether it stays within a node."""
    nodes = dict(evidence.tables["locations"].select("location", "node").collect().iter_rows())
    node_of = np.full(max(nodes, default=0) + 1, -1, dtype=np.int64)
    node_of[list(nodes)] = list(nodes.values())
    return np.asarray(node_of[messages.sender] == node_of[messages.receiver], dtype=np.bool_)
