"""The own time of a recorded region, divided among the functions that samples found in it."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run import schema
from logpost.analyzer.run.sampled_profile import sampled_profile

MAIN, RELAX, SMOOTH, SEND = range(4)
TABLES = {
    "callpaths": pl.DataFrame({"callpath": [MAIN, RELAX, SMOOTH, SEND], "parent": [-1, MAIN, RELAX, MAIN]}),
    # 1,000 ps of main's own on rank 0 and 500 on rank 1, where smooth was recorded, too
    "profile": pl.DataFrame(
        {"callpath": [MAIN, SEND, MAIN, SMOOTH], "location": [0, 0, 1, 1], "exclusive_ps": [1000, 70, 500, 40]}
    ),
}


def _profile(rows: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    samples = pl.DataFrame(
        [(location, callpath, at, 0, 1) for at, (location, callpath) in enumerate(rows)],
        schema=schema.SAMPLES.schema,
        orient="row",
    )
    return list(sampled_profile(lambda name: {**TABLES, "samples": samples}[name].lazy()).iter_rows())


def test_times_are_shares_of_the_samples_and_add_up_to_no_more_than_the_region() -> None:
    # rank 0: 2 of 3 in relax, 1 in smooth below it; thirds of 1,000 are rounded down, the rest stays main's
    assert _profile([(0, RELAX), (0, RELAX), (0, SMOOTH)]) == [(RELAX, 0, MAIN, 2, 666), (SMOOTH, 0, MAIN, 1, 333)]


def test_a_recorded_region_keeps_its_own_samples() -> None:
    # rank 1: one sample in main itself and one in relax halve main's 500 ps; smooth's are recorded
    assert _profile([(1, MAIN), (1, RELAX), (1, SMOOTH)]) == [(RELAX, 1, MAIN, 1, 250)]


def test_without_samples_there_are_no_rows() -> None:
    assert _profile([]) == []
