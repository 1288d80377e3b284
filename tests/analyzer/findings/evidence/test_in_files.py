"""Which file code between calls waits for, and where it is something else."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from logpost.analyzer.findings.evidence.in_files import InFiles, mostly_in_file

STRETCHES = (np.array([0, 100]), np.array([50, 150]))


def _calls(*rows: tuple[int, str, int, int]) -> pl.DataFrame:
    found = pl.DataFrame(rows, schema=["location", "region", "enter_ps", "leave_ps"], orient="row")
    return found.with_row_index("callpath")


def _name(calls: pl.DataFrame) -> str:
    found = mostly_in_file(calls, 0, *STRETCHES)
    return found.name if found is not None else ""


def test_the_file_with_most_of_the_time_is_named() -> None:
    # 30 + 25 of 100 ps in the one, 10 in the other
    calls = _calls((0, "read a", 0, 30), (0, "write b", 30, 40), (0, "read a", 110, 135))
    assert mostly_in_file(calls, 0, *STRETCHES) == InFiles("read a", 0)


@pytest.mark.parametrize(
    ("calls", "name"),
    [
        (
            _calls((0, "open a", 0, 20), (0, "read a", 20, 45), (0, "close a", 45, 50), (0, "read a", 100, 103)),
            "read a",
        ),
        (_calls((0, "read a", 0, 40), (0, "read b", 100, 140), (0, "write c", 140, 145)), "read 2 files"),
        (_calls((0, "read a", 0, 30), (0, "write b", 100, 130)), "use 2 files"),
        (_calls((0, "read", 0, 40), (0, "read", 100, 140)), "read"),
    ],
    ids=["several calls on one file", "one kind of call", "several kinds", "a file without a name"],
)
def test_many_calls_have_one_name(calls: pl.DataFrame, name: str) -> None:
    assert _name(calls) == name


@pytest.mark.parametrize(
    "calls",
    [
        _calls((0, "read a", 0, 50)),  # half is not most
        _calls((1, "read a", 0, 50), (1, "read a", 100, 150)),
        _calls((0, "read a", 50, 100), (0, "read a", 150, 300)),
        _calls((0, "read a", 0, 25), (0, "write b", 100, 125)),
    ],
    ids=["half", "of another rank", "between the stretches", "half in two files"],
)
def test_no_file_is_named(calls: pl.DataFrame) -> None:
    assert mostly_in_file(calls, 0, *STRETCHES) is None


def test_no_stretch_has_no_file() -> None:
    none = np.array([], dtype=np.int64)
    assert mostly_in_file(_calls((0, "read a", 0, 50)), 0, none, none) is None
