"""Delay costs of every archive add up to its waits; docs/causes.md names why Scalasca's differ."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.archives import DATA

from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run

MESSAGE_WAITS = ("late_sender", "late_receiver")
SCALASCA = {
    "late_sender": ("delay_latesender", "mpi_latesender"),
    "late_receiver": ("delay_latereceiver", "mpi_latereceiver"),
    "wait_at_barrier": ("delay_barrier", "mpi_barrier_wait"),
    "late_broadcast": ("delay_12n", "mpi_latebroadcast"),
}
TOLERANCE = 0.05
"""Of the waits: Scalasca leaves out what a sender does between its receiver's request and the end of its own send."""


EQUAL = (
    ("scorep-npb-cg-W-nocomp-8", "late_broadcast", "delay_12n"),
    ("scorep-lulesh-nocomp-8", "wait_at_barrier", "delay_barrier"),
    ("scorep-npb-lu-S-comp-4", "wait_at_barrier", "delay_barrier"),
    ("scorep-npb-sp-S-comp-4", "late_broadcast", "delay_12n"),
    ("scorep-npb-sp-S-comp-4", "wait_at_nxn", "delay_n2n"),
    ("scorep-npb-is-A-nocomp-8", "late_sender", "delay_latesender"),
    ("scorep-npb-is-A-nocomp-8", "late_broadcast", "delay_12n"),
    ("scorep-prk-rma-stencil-8", "late_broadcast", "delay_12n"),
    ("scorep-prk-rma-transpose-flush-4", "wait_at_barrier", "delay_barrier"),
)
"""Short-term costs in which none of the differences of docs/causes.md has a part."""


def costs(run: Run) -> pl.DataFrame:
    both = pl.col("short_term_ps") + pl.col("long_term_ps")
    return run.table("delay_costs").with_columns(both_ps=both).collect()


def test_costs_of_each_pattern_add_up_to_its_waits(runs: dict[str, Run]) -> None:
    compared = 0
    for name, run in runs.items():
        states = dict(
            run.table("wait_states").group_by("pattern").agg(pl.col("wait_ticks").sum()).collect().iter_rows()
        )
        sums = dict(costs(run).group_by("pattern").agg(pl.col("both_ps").sum()).iter_rows())
        for pattern in MESSAGE_WAITS:
            seconds = states.get(pattern, 0) / run.manifest.clock.ticks_per_second
            # Waits of calls that wait for both a sender and a receiver are one here; messages to oneself wait for no
            # rank.
            assert sums.get(pattern, 0) * 1e-12 <= seconds * (1 + 1e-9) + 1e-9, (name, pattern)
            if name.startswith("scorep-npb") or name == "scorep-lulesh-nocomp-8":
                assert sums.get(pattern, 0) * 1e-12 == pytest.approx(seconds, rel=1e-6), (name, pattern)
                compared += seconds > 0
    assert compared >= 8


def test_costs_are_not_negative_and_name_their_place(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        table = costs(run)
        assert (table.select(pl.min_horizontal("short_term_ps", "long_term_ps")).to_series() >= 0).all(), name
        explained = table.filter(pl.col("place") != "unexplained")
        assert (explained["location"] >= 0).all(), name
        assert (explained["wait_callpath"] >= 0).all(), name


@pytest.mark.parametrize("pattern", list(SCALASCA))
def test_short_term_costs_are_near_scalascas(pattern: str, runs: dict[str, Run]) -> None:
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    cost, wait = SCALASCA[pattern]
    compared = 0
    for name, opinion in totals.items():
        rows = costs(runs[name]).filter(pl.col("pattern") == pattern, pl.col("place") != "unexplained")
        ours = int(rows["short_term_ps"].sum()) * 1e-12
        assert abs(ours - opinion[cost]) <= TOLERANCE * opinion[wait], name
        compared += opinion[wait] > 0
    assert compared >= 3


@pytest.mark.parametrize(("name", "pattern", "column"), EQUAL)
def test_short_term_costs_without_a_known_difference_equal_scalascas(
    name: str, pattern: str, column: str, runs: dict[str, Run]
) -> None:
    opinion = json.loads((DATA / "scalasca-totals.json").read_text())[name][column]
    rows = costs(runs[name]).filter(pl.col("pattern") == pattern, pl.col("place") != "unexplained")
    # Costs are whole picoseconds per place: of sums from 0.1 ms on, seven digits are beyond their rounding.
    assert int(rows["short_term_ps"].sum()) * 1e-12 == pytest.approx(opinion, rel=1e-7)


def test_all_but_little_is_explained(runs: dict[str, Run]) -> None:
    for name in ("scorep-npb-cg-W-nocomp-8", "scorep-lulesh-nocomp-8", "scorep-npb-lu-S-comp-4"):
        table = costs(runs[name])
        unexplained = int(table.filter(pl.col("place") == "unexplained")["both_ps"].sum())
        assert unexplained < 0.01 * int(table["both_ps"].sum()), name


def test_every_pattern_has_a_name() -> None:
    assert set(SCALASCA) < set(schema.WAIT_KINDS)
