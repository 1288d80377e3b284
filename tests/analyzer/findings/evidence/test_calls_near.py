"""The calls near intervals in which others wait: the same however many calls are looked at at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest

from logpost.analyzer.findings.evidence import meanwhile
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run import schema

LOCATIONS, CALLS = 5, 40


def _evidence(*, shuffled: bool) -> Evidence:
    """Locations of 40 calls each: call i of each from 10 i to 10 i + 5 ps."""
    count = LOCATIONS * CALLS
    calls = pl.DataFrame({"call": range(count)}).with_columns(
        location=pl.col("call") // CALLS, enter_ps=pl.col("call") % CALLS * 10
    )
    filled = calls.with_columns(
        leave_ps=pl.col("enter_ps") + 5,
        **{name: pl.lit(0) for name in schema.CALLS.schema if name not in (*calls.columns, "leave_ps")},
    ).cast(dict(schema.CALLS.schema))  # type: ignore[arg-type]
    if shuffled:
        filled = filled.sample(fraction=1.0, shuffle=True, seed=1)
    locations = pl.DataFrame({"location": range(LOCATIONS)})
    return cast(
        "Evidence",
        SimpleNamespace(tables={"calls": filled.lazy()}, undivided=(), locations=locations, occurring=frozenset()),
    )


@pytest.mark.parametrize("at_once", [1, 50, 100, 10_000])
@pytest.mark.parametrize("shuffled", [False, True])
def test_calls_near_intervals(at_once: int, shuffled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meanwhile, "ROWS_AT_ONCE", at_once)
    intervals = pl.DataFrame(
        {"location": [1, 3, 3], "begin_ps": [302, 0, 200], "end_ps": [321, 10, 205]},
        schema={"location": pl.Int32, "begin_ps": pl.Int64, "end_ps": pl.Int64},
    )
    near = meanwhile.calls_near(_evidence(shuffled=shuffled), (intervals, [0, 1, 3]))
    assert sorted(near) == [1, 3]
    # On 1, calls 30 to 32 touch the interval, and 16 come before; on 3, call 0 and call 20, with 16 before it.
    assert near[1]["enter_ps"].to_list() == [10 * i for i in range(14, 33)]
    assert near[3]["enter_ps"].to_list() == [0, *(10 * i for i in range(4, 21))]
