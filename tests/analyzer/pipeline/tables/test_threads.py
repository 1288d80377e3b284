"""The table `threads`, from spans whose sums are derived in the comments."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.archive._native import thread_categories
from logpost.analyzer.pipeline.tables.threads import thread_frame
from logpost.analyzer.run import schema


def test_categories_are_those_of_the_reader() -> None:
    assert list(schema.THREAD_CATEGORIES) == thread_categories()


def _locations(begin: int = 10, end: int = 90) -> pl.DataFrame:
    """A rank that is location 1, and a thread of it that is location 0; of the rank from 0 to 100."""
    return pl.DataFrame(
        {
            "location": [0, 1],
            "process": [0, 0],
            "rank": [-1, 0],
            "first_ps": [30, 0],
            "last_ps": [80, 100],
            "begin_ps": [30, begin],
            "end_ps": [80, end],
        },
        schema_overrides={"location": pl.Int32, "process": pl.Int32, "rank": pl.Int32},
    )


# A region from 30 to 70. The rank works until 50, calls MPI until 55, waits; the thread works from 32 on.
SPANS = [
    (0, 0, 5, 5, "management", 30, 32),
    (0, 0, 5, 5, "parallel", 32, 70),
    (1, 0, 5, 5, "parallel", 30, 50),
    (1, 0, 5, 7, "communication", 50, 55),
    (1, 0, 5, 6, "imbalance", 55, 70),
]
# MPI_Init, the call in the region, one behind it, MPI_Finalize.
CALLS = [(1, 0, 10), (1, 50, 55), (1, 75, 85), (1, 90, 100)]


def _frame(interest: pl.DataFrame | None = None) -> dict[tuple[int, str, str], int]:
    spans = pl.DataFrame(SPANS, schema=schema.THREAD_SPANS.schema, orient="row")
    calls = pl.DataFrame(CALLS, schema={"location": pl.Int32, "enter_ps": pl.Int64, "leave_ps": pl.Int64}, orient="row")
    rows = thread_frame(spans, calls.lazy(), _locations(), interest)
    assert rows.schema == schema.THREADS.schema
    sums = rows.group_by("location", "phase", "category").agg(pl.col("spent_ps").sum())
    return {(location, str(phase), str(category)): time for location, phase, category, time in sums.iter_rows()}


def test_what_lies_outside_of_regions_is_serial_idle_or_communication() -> None:
    assert _frame() == {
        (1, "start_up", "communication"): 10,
        (1, "program", "parallel"): 20,
        (1, "program", "communication"): 5 + 10,
        (1, "program", "imbalance"): 15,
        (1, "program", "serial"): 80 - 40 - 10,
        (1, "shut_down", "communication"): 10,
        # The thread has the time of its process, not its own.
        (0, "start_up", "idle_communication"): 10,
        (0, "program", "management"): 2,
        (0, "program", "parallel"): 38,
        (0, "program", "idle_communication"): 10,
        (0, "program", "idle_serial"): 30,
        (0, "shut_down", "idle_communication"): 10,
    }


def test_a_region_of_interest_is_the_program_and_the_rest_is_outside() -> None:
    found = _frame(_locations(40, 80))
    assert found[1, "program", "parallel"] == 10  # 40 to 50
    assert found[1, "outside", "parallel"] == 10
    assert found[1, "program", "communication"] == 5 + 5  # 75 to 80
    assert found[1, "outside", "communication"] == 5
    assert sum(time for (location, _, _), time in found.items() if location == 1) == 100
    assert sum(time for (location, _, _), time in found.items() if location == 0) == 100


def test_a_thread_that_works_while_the_first_one_does_not_is_not_idle() -> None:
    spans = pl.DataFrame([*SPANS, (0, -1, 8, 8, "parallel", 70, 88)], schema=schema.THREAD_SPANS.schema, orient="row")
    calls = pl.DataFrame(CALLS, schema={"location": pl.Int32, "enter_ps": pl.Int64, "leave_ps": pl.Int64}, orient="row")
    rows = thread_frame(spans, calls.lazy(), _locations()).filter(pl.col("location") == 0, pl.col("phase") == "program")
    times = dict(rows.group_by("category").agg(pl.col("spent_ps").sum()).iter_rows())
    # 80 in all, 2 + 38 + 18 in regions; of the other 22, as many during communication as there is outside: 10.
    assert (times["idle_communication"], times["idle_serial"]) == (10, 12)


def test_without_spans_there_is_nothing() -> None:
    empty = schema.THREAD_SPANS.empty()
    assert thread_frame(empty, schema.CALLS.empty().lazy(), _locations()).is_empty()
