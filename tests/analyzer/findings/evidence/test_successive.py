"""Whether collective operations are back to back: the cost of a call and the time before it, without its wait."""

from __future__ import annotations

import polars as pl
import pytest

from logpost.analyzer.findings.evidence import successive as module
from logpost.analyzer.findings.evidence.successive import successive, with_follows
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES


def _calls(rows: list[tuple[int, int, int]]) -> pl.LazyFrame:
    """Barriers of one location: (enter, leave, wait)."""
    return pl.LazyFrame(
        {
            "location": [0] * len(rows),
            "call": list(range(len(rows))),
            "instance": list(range(len(rows))),
            "operation": ["Barrier"] * len(rows),
            "comm": [0] * len(rows),
            "root": [-1] * len(rows),
            "rma_window": [-1] * len(rows),
            "enter_ps": [row[0] for row in rows],
            "leave_ps": [row[1] for row in rows],
            "wait_ps": [row[2] for row in rows],
        }
    )


def test_operations_with_nothing_in_between_follow_each_other() -> None:
    # 10 each, 2 in between: a fifth of a call.
    assert with_follows(_calls([(0, 10, 0), (12, 22, 0), (24, 34, 3)]))["follows"].to_list() == [False, True, True]


def test_a_rank_that_waits_long_for_another_one_has_not_come_back_at_once() -> None:
    # It is 20 after the operation before and waits 980 of its 990: with the 10 that the operation costs, 20 count.
    assert with_follows(_calls([(0, 10, 0), (30, 1020, 980)]))["follows"].to_list() == [False, False]


def test_a_table_beyond_memory_gives_the_same(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """One location after another: members of an operation are in several parts."""
    run = runs["scorep-lulesh-nocomp-8"]
    tables = {name: run.table(name) for name in TABLES if name != "findings"}
    whole = successive(Evidence(tables, run.manifest))
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 1)
    assert successive(Evidence(tables, run.manifest)) == whole
    assert len(whole.places) > 8
