"""How close queries follow each other that only wait; times in ps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.spinning import SPIN_PS, spin_ps
from logpost.analyzer.findings.evidence.tables import Evidence

US = 1_000_000
MAIN, TEST, SOLVE = 0, 1, 2
REGIONS = {MAIN: "main", TEST: "MPI_Test", SOLVE: "solve"}


def evidence(own_ps: int) -> Evidence:
    """main calls MPI_Test and solve, and computes `own_ps` itself; the machine's latency is not known."""
    made: Any = SimpleNamespace(
        callpaths=pl.DataFrame({"callpath": [MAIN, TEST, SOLVE]}),
        region=lambda callpath: REGIONS[callpath],
        parent=lambda callpath: -1 if callpath == MAIN else MAIN,
        manifest=SimpleNamespace(hosts=SimpleNamespace(nodes=2), machine=SimpleNamespace(values=[])),
        user_profile=pl.DataFrame(
            [(MAIN, 0, own_ps), (SOLVE, 0, 5000 * US)],
            schema={"callpath": pl.Int32, "location": pl.Int32, "exclusive_ps": pl.Int64},
            orient="row",
        ),
    )
    return cast("Evidence", made)


def asked(every_ps: int, *, count: int = 20) -> pl.DataFrame:
    """Queries of a location, each `every_ps` behind the one before."""
    enters = np.arange(count) * every_ps
    return pl.DataFrame({"location": 0, "callpath": TEST, "enter_ps": enters, "leave_ps": enters})


NEVER = np.array([], dtype=np.int32)
"""No query has the message."""
TAKES_100_US = np.array([90 * US, 100 * US, 110 * US])


def test_a_function_that_only_asks_spins_within_what_a_message_takes() -> None:
    # 19 times 28 us lie between 20 queries.
    assert spin_ps(evidence(19 * 28 * US), asked(28 * US), TAKES_100_US, NEVER, whole=True) == 28 * US


def test_what_called_functions_compute_between_queries_is_work() -> None:
    assert spin_ps(evidence(0), asked(28 * US), TAKES_100_US, NEVER, whole=True) == SPIN_PS


def test_a_function_that_computes_elsewhere_as_well_may_work_between_queries() -> None:
    assert spin_ps(evidence(2 * 19 * 28 * US), asked(28 * US), TAKES_100_US, NEVER, whole=True) == SPIN_PS


def test_queries_further_apart_than_a_message_takes_are_not_for_it() -> None:
    assert spin_ps(evidence(19 * 128 * US), asked(128 * US), TAKES_100_US, NEVER, whole=True) == SPIN_PS


def test_a_part_of_a_program_does_not_show_what_functions_do_elsewhere() -> None:
    assert spin_ps(evidence(19 * 28 * US), asked(28 * US), TAKES_100_US, NEVER, whole=False) == SPIN_PS


def test_rows_of_queries_that_end_with_the_message_wait_for_it() -> None:
    asked_twice = pl.concat([asked(128 * US), asked(128 * US).with_columns(pl.col("location") + 1)])
    own = evidence(2 * 19 * 128 * US)
    assert spin_ps(own, asked_twice, TAKES_100_US, np.array([19, 39]), whole=True) == 128 * US
    assert spin_ps(own, asked_twice, TAKES_100_US, np.array([19]), whole=True) == SPIN_PS  # one goes on without it
