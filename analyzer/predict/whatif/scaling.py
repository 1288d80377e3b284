"""Factors of computation as people write them: 0.5 for all, solve=0.5 for a region, rank:3=2 for a rank, node:1=2 for
the ranks of a node, 0 for computation that costs nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import owners
from logpost.errors import InputError, suggestion
from logpost.replay.graph import Scenario

RANK, NODE = "rank:", "node:"


def scaled(run: Run, scenario: Scenario, texts: Sequence[str]) -> Scenario:
    """The scenario with each factor applied. Time between two calls belongs to the regions around the second one.

    Raises:
        InputError: a factor is none, or names no region or rank of the run.
    """
    for text in texts:
        where, _, number = text.rpartition("=")
        factor = _factor(text, number)
        if not where:
            scenario = replace(scenario, compute=scenario.compute * factor)
        elif where.startswith(RANK):
            scenario = _by_rank(run, scenario, text, where.removeprefix(RANK), factor)
        elif where.startswith(NODE):
            scenario = _by_node(run, scenario, text, where.removeprefix(NODE), factor)
        else:
            scenario = _by_region(run, scenario, text, where, factor)
    return scenario


def _factor(text: str, number: str) -> float:
    try:
        factor = float(number)
    except ValueError:
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0.0):
        raise InputError(f"--scale-compute {text}: write a factor, e.g. 0.5, solve=0.5, rank:3=2 or node:1=2")
    return factor


def _by_rank(run: Run, scenario: Scenario, text: str, rank: str, factor: float) -> Scenario:
    ranks = owners(run.facts("locations").sort("location").collect()).fill_null(-1).to_numpy()
    mine = ranks == int(rank) if rank.isdecimal() else np.zeros(len(ranks), dtype=bool)
    if not mine.any():
        raise InputError(f"--scale-compute {text}: there is no rank {rank}; the ranks are 0 to {ranks.max()}")
    return _on(mine, scenario, factor)


def _by_node(run: Run, scenario: Scenario, text: str, node: str, factor: float) -> Scenario:
    """The locations of a node, by its number or its name."""
    rows = run.facts("locations").sort("location").select("node", "host").collect()
    mine = (rows["host"] == node).to_numpy()
    if not mine.any() and node.isdecimal():
        mine = (rows["node"] == int(node)).to_numpy()
    if not mine.any():
        known = sorted({f"{number} ({host})" for number, host in rows.iter_rows() if number >= 0})
        raise InputError(f"--scale-compute {text}: there is no node {node}; the nodes are {', '.join(known[:8])}")
    return _on(mine, scenario, factor)


def _on(mine: NDArray[np.bool_], scenario: Scenario, factor: float) -> Scenario:
    before = np.ones(len(mine)) if scenario.by_location is None else scenario.by_location
    return replace(scenario, by_location=np.where(mine, before * factor, before))


def _by_region(run: Run, scenario: Scenario, text: str, region: str, factor: float) -> Scenario:
    paths = run.facts("callpaths").sort("callpath").select("path").collect()["path"]
    around = paths.str.split(" / ")
    mine = around.list.contains(region).to_numpy()
    if not mine.any():
        known = around.explode().unique().drop_nulls().to_list()
        raise InputError(
            f"--scale-compute {text}: no region is called {region}; `logpost report` lists the places in the code"
            f"{suggestion(region, known)}"
        )
    before = np.ones(len(paths)) if scenario.by_callpath is None else scenario.by_callpath
    return replace(scenario, by_callpath=np.where(mine, before * factor, before))


def regions(run: Run) -> pl.DataFrame:
    """Callpath and the place in the code of its communication: the path without the call itself."""
    callpaths = run.facts("callpaths").sort("callpath").select("callpath", "path").collect()
    parts = pl.col("path").str.split(" / ")
    return callpaths.select(
        "callpath",
        region=pl.when(parts.list.len() > 1)
        .then(parts.list.head(parts.list.len() - 1).list.join(" / "))
        .otherwise("path"),
    )
