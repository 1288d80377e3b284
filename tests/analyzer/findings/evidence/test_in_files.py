"""Which file code between calls waits for, and where it is something else."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from logpost.analyzer.findings.evidence.in_files import mostly_in_file

STRETCHES = (np.array([0, 100]), np.array([50, 150]))


def _calls(*rows: tuple[int, str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["location", "region", "enter_ps", "leave_ps"], orient="row")


def test_the_file_with_most_of_the_time_is_named() -> None:
    # 30 + 25 of 100 ps in the one, 10 in the other
    calls = _calls((0, "read a", 0, 30), (0, "write b", 30, 40), (0, "read a", 110, 135))
    assert mostly_in_file(calls, 0, *STRETCHES) == "read a"


@pytest.mark.parametrize(
    "calls",
    [
        _calls((0, "read a", 0, 50)),  # half is not most
        _calls((1, "read a", 0, 50), (1, "read a", 100, 150)),
        _calls((0, "read a", 50, 100), (0, "read a", 150, 300)),
        _calls((0, "read a", 0, 40), (0, "read b", 100, 140)),
    ],
    ids=["half", "of another rank", "between the stretches", "two files"],
)
def test_no_file_is_named(calls: pl.DataFrame) -> None:
    assert mostly_in_file(calls, 0, *STRETCHES) == ""


def test_no_stretch_has_no_file() -> None:
    none = np.array([], dtype=np.int64)
    assert mostly_in_file(_calls((0, "read a", 0, 50)), 0, none, none) == ""
