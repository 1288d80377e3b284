"""The tables of the traffic between nodes: by phase, and by phase and link."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.machine.known_network import KnownNetwork
from logpost.analyzer.run import schema
from logpost.analyzer.run.parquet import frame
from logpost.replay._native import Analysis


def network_frames(analysis: Analysis, network: KnownNetwork) -> dict[str, pl.DataFrame]:
    """Both tables; without rows where the network is not known.

    Args:
        analysis: the split messages.
        network: the network that the replay knows.
    """
    found = analysis.network()
    phases = np.arange(len(found["begin_ps"]), dtype=np.int32)
    length = np.maximum(found["end_ps"] - found["begin_ps"], 1)
    at = found["link_phase"]
    ends = network.links[found["link"]] if len(at) else np.empty((0, 2), dtype=np.int32)
    traffic = frame(
        schema.TRAFFIC,
        {
            "traffic_phase": phases,
            **{name: found[name] for name in ("begin_ps", "end_ps", "messages", "bytes", "excess_ps", "granted_ps")},
            "utilisation": found["utilisation"],
            "contention_ps": found["contention_ps"],
        },
    ).with_columns(
        contention_ps=pl.when(pl.col("contention_ps").is_finite() & network.grid).then(pl.col("contention_ps")),
        utilisation=pl.when(network.grid).then(pl.col("utilisation")),
    )
    carried = frame(
        schema.LINKS,
        {
            "traffic_phase": at,
            "from_vertex": np.ascontiguousarray(ends[:, 0]),
            "to_vertex": np.ascontiguousarray(ends[:, 1]),
            "messages": found["link_messages"],
            "bytes": found["link_bytes"],
            "utilisation": found["link_bytes"] * network.byte_ps[found["link"]] / length[at],
            "granted_ps": found["link_granted_ps"],
        },
    )
    return {"traffic": traffic, "links": carried}
