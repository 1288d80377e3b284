"""What a selection sees of the network between nodes: the phases of the traffic in its time, and their links."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.machine.placement import places_on_network
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.errors import InputError
from logpost.machines import load_machine


def link_tables(scoped: SelectedRun) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables `links` and `traffic` of the selected time, by time.

    Raises:
        InputError: no link carried anything then, or none is known.
    """
    traffic = scoped.run.table("traffic").sort("begin_ps").collect()
    if scoped.selection.timed:
        begin, end = scoped.span
        traffic = traffic.filter(traffic["begin_ps"] < end, traffic["end_ps"] > begin)
    links = scoped.run.table("links").collect()
    links = links.join(traffic.select("traffic_phase"), on="traffic_phase", how="semi")
    if links.is_empty():
        raise InputError("no traffic between nodes in the selected time")
    return links, traffic


def hosts_on_network(scoped: SelectedRun) -> dict[int, str]:
    """By node of the machine's network, its host, by the name that every page uses."""
    placed = scoped.every_location.filter(pl.col("rank") >= 0, pl.col("node") >= 0)
    places, _ = places_on_network(load_machine(scoped.run.machine_file), placed)
    hosts = placed.select("node", "host").unique("node").iter_rows()
    return {int(places[node]): host for node, host in hosts if places[node] >= 0 and host}
