"""Bytes between hosts: what the program's messages sent, and next to it what the adapters of each host counted.

The counters are those of the node: other programs, file systems and the library's own traffic are in them, and so are
collective operations and one-sided transfers, which the sums of messages do not hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import AdapterCounters


@dataclass(frozen=True)
class HostTraffic:
    """A host with what its ranks sent to other hosts, and got from them."""

    host: str
    sent_bytes: int
    received_bytes: int
    adapters: tuple[AdapterCounters, ...]
    """empty: their counters were not read"""


def host_traffic(run: Run) -> tuple[HostTraffic, ...]:
    """By host; empty where all ranks are on one host and no counter was read."""
    hosts = run.table("locations").filter(pl.col("node") >= 0).select("location", "host").collect()
    named = dict(hosts.iter_rows())
    pairs = (
        run.table("pairs")
        .select("bytes", sender=pl.col("send_location"), receiver=pl.col("recv_location"))
        .collect()
        .with_columns(pl.col("sender", "receiver").replace_strict(named, default="", return_dtype=pl.String))
        .filter(pl.col("sender") != pl.col("receiver"))
    )
    read: dict[str, list[AdapterCounters]] = {}
    for adapter in run.manifest.adapters:
        read.setdefault(adapter.host, []).append(adapter)
    names = sorted({*named.values(), *read} - {""})
    if len(names) < 2 and not read:
        return ()
    sums = {end: dict(pairs.group_by(end).agg(pl.col("bytes").sum()).iter_rows()) for end in ("sender", "receiver")}
    return tuple(
        HostTraffic(
            name, int(sums["sender"].get(name, 0)), int(sums["receiver"].get(name, 0)), tuple(read.get(name, ()))
        )
        for name in names
    )
