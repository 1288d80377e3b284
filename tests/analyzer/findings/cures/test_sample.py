"""Of a long program, cures are replayed on a sample, whose calls have other numbers than the run's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analyzer import story
from tests.analyzer.story import Story
from tests.collectors.raw_logs import Log

from logpost.analyzer.findings.cures import offered
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.sample import Sample, SampleWindows
from logpost.analyzer.run.schema import TABLES

from .from_logs import MACHINE, MS, PS, ROUNDS, US, Found, findings, numbers, rounds, started

RANKS, SIZE = 4, 8


def reduced_and_handed_out() -> list[Log]:
    """In each round of 1 ms, a Reduce of 100 µs, and a Bcast of 100 µs of what it gave."""
    logs = started(RANKS)
    for begin in rounds():
        for log in logs:
            at = begin + 500 * US
            log.collective("MPI_Reduce", at, at + 100 * US, (SIZE, 0 if log.rank else RANKS * SIZE))
            log.collective("MPI_Bcast", at + 100 * US, at + 200 * US, (0 if log.rank else RANKS * SIZE, SIZE))
    return logs


def reduced_twice() -> list[Log]:
    """In each round of 1 ms, two Allreduces of 100 µs in a row."""
    logs = started(RANKS)
    for begin in rounds():
        for log in logs:
            for at in (begin + 500 * US, begin + 600 * US):
                log.collective("MPI_Allreduce", at, at + 100 * US, (RANKS * SIZE, RANKS * SIZE))
    return logs


def at_most(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample has so many, and not fewer where they would do."""
    monkeypatch.setattr(offered, "MOST_CALLS", calls)
    monkeypatch.setattr(offered, "FEWER", 1)


@pytest.mark.parametrize(
    ("program", "named", "gain", "operations"),
    [
        # The Bcast is gone: 100 µs of each round of 1 ms.
        (reduced_and_handed_out, "both_in_one[MPI_Allreduce]", 0.1, ROUNDS),
        # Either Allreduce lasts as long as its 2 rounds of 1 + 8 + 1 µs: 2 * (100 - 20) µs of each round.
        (reduced_twice, "back_to_back", 0.16, 2 * ROUNDS),
    ],
)
@pytest.mark.parametrize("most", [3 * ROUNDS * RANKS, ROUNDS * RANKS])
def test_half_of_equal_rounds_saves_as_much_as_all(
    program: Callable[[], list[Log]],
    named: str,
    gain: float,
    operations: int,
    most: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`most` calls are more than the program has, or half of them: 8 rounds, and 0.6 ms up to a first operation."""
    at_most(most, monkeypatch)
    monkeypatch.setattr(SampleWindows, "at_meetings", lambda *_: None)  # windows of two operations would part them
    found: list[Found] = [row for row in findings(program(), tmp_path, MACHINE) if named in numbers(row)]
    assert [row["gain"] for row in found] == [pytest.approx(gain, rel=0.08)], found
    # On every rank, of the whole program.
    assert numbers(found[0])["operations"] == pytest.approx(operations, rel=0.1)
    assert found[0]["exposed_ps"] == pytest.approx(gain * ROUNDS * RANKS * MS * PS, rel=0.15)


def test_calls_that_another_operation_replaces_are_not_called_less_often(tmp_path: Path) -> None:
    found = findings(reduced_and_handed_out(), tmp_path, machine="")
    assert ["both_in_one[MPI_Allreduce]" in numbers(row) for row in found if row["region"] == "MPI_Bcast"] == [True]


STEPS = 5_000


def slow_from(first: int) -> Story:
    """Two ranks with an Allreduce in each step of 10 ms; from one step on, it lasts 1 ms instead of 2 µs."""
    made = Story(2, 10 * STEPS * story.MS)
    path = made.path("main", "MPI_Allreduce")
    for step in range(STEPS):
        enter = (10 * step + 8) * story.MS
        leave = enter + (story.MS if step >= first else story.MS // 500)
        made.collective(path, "Allreduce", dict.fromkeys((0, 1), (enter, leave)))
    return made


@pytest.mark.parametrize("first", [STEPS // 2, 0])
def test_windows_of_all_of_a_program_show_what_its_first_part_lacks(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 10,000 calls of 2 ranks, of which 4,000 are in ten windows of 2 s: two cut calls each are 0.1 % of that.
    at_most(4_000, monkeypatch)
    run = slow_from(first).write(tmp_path / "a.run")
    rows = run.table("findings").collect().to_dicts()
    # 1 ms of each step of 10 ms, from the first one on.
    truth = 0.1 * (STEPS - first) / STEPS
    assert [one["kind"] for one in rows] == ["collective_cost"]
    assert rows[0]["gain"] == pytest.approx(truth, rel=0.03)
    assert "calls in 10 windows of the program" in rows[0]["certainty"]
    # Five windows save 0.1 and five nothing: they deviate by 0.05 * sqrt(10 / 9) from their mean, and that mean by
    # sqrt(1 - 0.4) / sqrt(10) of that, times 2.262: 0.0292. Equal windows do not deviate.
    off = 0.0292 if first else 0.0
    assert (rows[0]["gain_low"], rows[0]["gain_high"]) == pytest.approx((truth - off, truth + off), abs=0.002)


def sampled(run: Run, count: int) -> Sample:
    return Sample(run, *SampleWindows(run).of(4_000, count))


def test_a_sample_has_no_time_between_its_windows(tmp_path: Path) -> None:
    sample = sampled(slow_from(0).write(tmp_path / "a.run"), 10)
    calls = sample.facts("calls").collect()
    assert calls.height == pytest.approx(4_000, rel=0.01)
    # 2,000 steps of 10 ms in windows of equal length.
    assert sample.lasts_until_ps[-1] == pytest.approx(2_000 * 10 * story.MS, rel=0.02)
    assert len(set(np.diff(sample.lasts_until_ps).tolist())) == 1
    ends = sample.facts("locations").select("begin_ps", "end_ps").collect()
    assert ends.rows() == [(0, sample.lasts_until_ps[-1])] * 2
    for _, own in calls.group_by("location"):
        assert (own["enter_ps"].to_numpy()[1:] >= own["leave_ps"].to_numpy()[:-1]).all()
    # Of every operation both members are here, or none.
    assert sample.facts("collectives").group_by("instance").len().collect()["len"].unique().to_list() == [2]


def test_a_call_that_a_window_cuts_lasts_as_long_as_what_is_inside(tmp_path: Path) -> None:
    run = slow_from(0).write(tmp_path / "a.run")
    # From 8.5 to 18.25 ms, and from 35 to 48.75 ms: a call has 8 to 9 ms of each step of 10 ms.
    begins, ends = (np.array(times) * story.MS // 100 for times in ([850, 3500], [1825, 4875]))
    sample = Sample(run, begins, ends)
    calls = sample.facts("calls").filter(pl.col("location") == 0).collect()
    # Of the first 0.5 ms, of the second 0.25; 38 to 39 ms is 3 ms behind 9.75, 48 to 48.75 is 13.
    expected = [(0, 50), (950, 975), (1275, 1375), (2275, 2350)]
    assert calls.select("enter_ps", "leave_ps").rows() == [tuple(t * story.MS // 100 for t in one) for one in expected]
    # Only the third one is whole.
    assert sample.facts("collectives").filter(pl.col("location") == 0).collect()["call"].to_list() == [2]
    assert (calls["collective_ps"] > 0).to_list() == [False, False, True, False]


def test_what_happens_between_calls_has_the_times_of_a_sample(tmp_path: Path) -> None:
    """Else code of a long program has the name of what was sampled at another time."""
    run = slow_from(0).write(tmp_path / "a.run")
    tick = story.MS // 100
    # Within the first window, between the two, and within the second, which begins where the first has ended.
    at = [900, 2_000, 3_600]
    samples = pl.DataFrame([(0, 0, tick * one, 1, 1) for one in at], schema=TABLES["samples"].schema, orient="row")
    samples.write_parquet(run.path / "samples.parquet")
    calls = [(0, 0, tick * one, tick * (one + 10)) for one in at]
    pl.DataFrame(calls, schema=TABLES["file_calls"].schema, orient="row").write_parquet(run.path / "file_calls.parquet")
    begins, ends = (np.array(times) * tick for times in ([850, 3_500], [1_825, 4_875]))
    sample = Sample(run, begins, ends)
    assert sample.facts("samples").collect()["at_ps"].to_list() == [50 * tick, 1_075 * tick]
    found = sample.facts("file_calls").collect()
    assert found.select("enter_ps", "leave_ps").rows() == [(50 * tick, 60 * tick), (1_075 * tick, 1_085 * tick)]


def test_transfers_of_a_sample_are_of_its_epochs(tmp_path: Path) -> None:
    """Ten accesses of a put each, one per ms; the windows have the third to the fifth and the eighth to the ninth."""
    made = Story(2, 10 * story.MS)
    start, put, complete = (made.path("main", f"MPI_{name}") for name in ("Win_start", "Put", "Win_complete"))
    for step in range(10):
        at = step * story.MS + 100 * story.US
        made.call(0, at, at + 10 * story.US, start, mpi_other=10 * story.US)
        ends = (at + 10 * story.US, at + 20 * story.US)
        made.transfer(0, 1, put, *ends, kind="put", epoch=step, latency=10 * story.US)
        made.call(0, at + 20 * story.US, at + 30 * story.US, complete, mpi_other=10 * story.US)
        made.epoch(0, "access", start, -1, 0, calls=(at, at + 20 * story.US), peer=1)
    run = made.write(tmp_path / "a.run")
    sample = Sample(run, np.array([2, 7]) * story.MS, np.array([5, 9]) * story.MS)
    epochs = {row["number"]: row for row in sample.facts("epochs").collect().to_dicts()}
    transfers = sample.facts("transfers").collect().to_dicts()
    assert [row["number"] for row in transfers] == [0, 1, 2, 3, 4]
    for row in transfers:
        assert epochs[row["epoch"]]["begin_call"] < row["call"] < epochs[row["epoch"]]["end_call"]


def test_where_windows_cut_more_than_can_be_stated_the_first_part_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ranks compute 1 s, and wait 1 s, ten times; each second has 100 sends in its last ms."""
    made = Story(2, 20_000 * story.MS)
    send, wait = made.path("main", "MPI_Send"), made.path("main", "MPI_Wait")
    for step, rank in itertools.product(range(10), range(2)):
        begin = 2_000 * step * story.MS
        for number in range(100):
            at = begin + 999 * story.MS + number * story.MS // 100
            made.call(rank, at, at + story.MS // 200, send, mpi_other=story.MS // 200)
        made.call(rank, begin + 1_000 * story.MS, begin + 2_000 * story.MS, wait, mpi_other=1_000 * story.MS)
    run = made.write(tmp_path / "a.run")
    at_most(1_000, monkeypatch)
    # Half of the calls are in ten windows that end in waits, or in six or three; and the ranks never meet.
    windows = SampleWindows(run)
    assert min(windows.cut_shares([windows.of(1_000, count) for count in (10, 6, 3)])) > 0.01
    assert len(offered._sampled(run).begins_ps) == 1


def test_windows_of_meetings_in_a_row_are_no_sample(tmp_path: Path) -> None:
    """Two ranks meet 100 times within 1 ms, and not in the rest of each 2 s."""
    made = Story(2, 20_000 * story.MS)
    path = made.path("main", "MPI_Allreduce")
    for step, number in itertools.product(range(10), range(100)):
        at = (2_000 * step + 999) * story.MS + number * story.MS // 100
        made.collective(path, "Allreduce", dict.fromkeys((0, 1), (at, at + story.MS // 200)))
    run = made.write(tmp_path / "a.run")
    in_a_row = np.arange(10) * 2_000 * story.MS + 999 * story.MS
    windows = SampleWindows(run)
    assert windows.at_meetings(in_a_row, in_a_row + story.MS // 2) is None
    # From one such millisecond to the next.
    found = windows.at_meetings(in_a_row[:-1], in_a_row[1:])
    assert found is not None
    assert np.diff(np.stack(found), axis=0).tolist() == [[2_000 * story.MS] * 9]


def test_windows_that_would_cut_long_waits_begin_and_end_where_all_ranks_meet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of 10 ms: rank 0 waits 7 ms in a Barrier for rank 1, which computes 9 ms, and both leave it 1 ms later."""
    made = Story(2, 10 * STEPS * story.MS)
    wait = made.path("main", "MPI_Barrier")
    for begin in range(0, 10 * STEPS * story.MS, 10 * story.MS):
        end = begin + 10 * story.MS
        made.collective(wait, "Barrier", {0: (begin + 2 * story.MS, end), 1: (begin + 9 * story.MS, end)})
    run = made.write(tmp_path / "a.run")
    at_most(60, monkeypatch)
    # 3 steps in each of ten windows, and 10 in each of three, the last of which is cut.
    windows = SampleWindows(run)
    assert min(windows.cut_shares([windows.of(60, count) for count in (10, 6, 3)])) > 0.01
    sample = offered._sampled(run)
    assert len(sample.begins_ps) == 10
    assert not (sample.begins_ps % (10 * story.MS)).any()
    assert not (sample.ends_ps % (10 * story.MS)).any()
    assert windows.cut_shares([(sample.begins_ps, sample.ends_ps)]) == [0]


def test_a_sample_of_fewer_calls_is_taken_where_its_windows_are_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of 10 ms with an Allreduce of two ranks each: 4 calls, or 2, in each of ten windows, of which none is cut
    where ranks meet."""
    run = slow_from(0).write(tmp_path / "a.run")
    monkeypatch.setattr(offered, "MOST_CALLS", 4_000)
    assert offered._sampled(run).facts("calls").collect().height == pytest.approx(2_000, rel=0.02)
    monkeypatch.setattr(
        SampleWindows, "cut_shares", lambda _, tried: [1.0 if i < len(tried) // 2 else 0.0 for i in range(len(tried))]
    )
    assert offered._sampled(run).facts("calls").collect().height == pytest.approx(4_000, rel=0.02)


@pytest.mark.parametrize("count", [3, 1])
def test_what_windows_cut_is_that_of_the_sample(count: int, tmp_path: Path) -> None:
    """All windows are judged by one reading of the calls; a sample has the same calls, cut."""
    run = slow_from(0).write(tmp_path / "a.run")
    windows = SampleWindows(run)
    tried = [windows.of(most, count) for most in (40, 60)]
    for one, share in zip(tried, windows.cut_shares(tried), strict=True):
        sample = Sample(run, *one)
        lasts = sample.facts("calls").filter(pl.lit(sample._cut)).select(pl.col("leave_ps") - pl.col("enter_ps"))
        programs = sample.facts("locations").select((pl.col("end_ps") - pl.col("begin_ps")).sum()).collect().item()
        assert share == pytest.approx(lasts.collect().sum().item() / programs)
