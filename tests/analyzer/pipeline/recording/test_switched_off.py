"""What reports say of times at which recording was switched off, by our collector and by others."""

from __future__ import annotations

from tests.said import facts

from logpost.analyzer.pipeline.recording.switched_off import switched_off, switched_off_counts
from logpost.analyzer.run.directory import Run

OURS = {
    "LOGPOST::OFF_TIMES": "4",
    "LOGPOST::OFF_NS": "12000000000",
    "LOGPOST::OFF_CALLS": "1200",
    "LOGPOST::OFF_SENDS": "300",
    "LOGPOST::OFF_TRANSFERS": "0",
    "LOGPOST::OFF_HALVES_LEFT_OUT": "7",
    "LOGPOST::OFF_INEXACT": "2",
}


def test_our_recordings_state_what_they_skipped() -> None:
    (said,) = switched_off(OURS, [])
    assert facts(said) == ["4", "12 s", "1,200", "300", "7"]
    assert said.endswith("messages behind it may be paired wrongly.")
    assert {count.name: count.count for count in switched_off_counts(OURS)} == {
        "skipped_calls": 1200,
        "halves_while_off": 7,
        "skipped_inexactly": 2,
    }
    assert switched_off({}, []) == []
    assert switched_off_counts({}) == []


def test_of_other_writers_the_readers_counters_show_it() -> None:
    quality: list[dict[str, object]] = [
        {"name": "measurement_off", "count": 2},
        {"name": "message_while_off", "count": 5},
        {"name": "collective_while_off", "count": 1},
    ]
    (said,) = switched_off({}, quality)
    assert facts(said) == ["2", "5", "1", "collective"]
    assert said.endswith(" may be paired wrongly.")
    assert switched_off({}, quality[:1]) == [], "nothing is missing"


def test_a_time_without_records_is_no_computation(runs: dict[str, Run]) -> None:
    """TraceR's archive is off between MPI_Init and its loop on each of 32 ranks: that belongs to start-up."""
    run = runs["tracer-stencil4d-32"]
    off = run.table("regions").filter(kind="not_recorded")
    gaps = run.table("calls").join(off, on="region", how="semi").collect()
    assert gaps["location"].n_unique() == 32
    begins = dict(run.table("locations").select("location", "begin_ps").collect().iter_rows())
    assert all(gap["leave_ps"] <= begins[gap["location"]] for gap in gaps.iter_rows(named=True))
