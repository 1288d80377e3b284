"""Uneven work: by rank, by step, of ranks of another role; barriers and fences that wait for the slowest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.analyzer.story import MS, US, Story
from tests.analyzer.wavefront import wavefront
from tests.said import facts

from logpost.analyzer.findings.cures import (
    late_ranks,
    needless_barrier,
    needless_fence,
    uneven_computation,
    uneven_steps,
)
from logpost.analyzer.findings.cures.code import Code
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.cures.stretches import Stretch, stretches
from logpost.analyzer.findings.finding import HIGH, LOW

STEPS = 10
STEP = 10 * MS


def steps(*works: Sequence[float], operation: str = "Allreduce") -> Story:
    """In each step each rank computes its time, ms, in `relax`, and all meet at its end; the works alternate."""
    ranks = len(works[0])
    story = Story(ranks, STEPS * STEP, windows=STEPS)
    path = story.path("main", "step", f"MPI_{operation}")
    sums = [0.0] * ranks
    end = 0
    for i in range(STEPS):
        work = works[i % len(works)]
        enters = {rank: end + round(time * MS) for rank, time in enumerate(work)}
        end = max(enters.values()) + US
        story.collective(path, operation, {rank: (enter, end) for rank, enter in enters.items()})
        sums = [all_of + time for all_of, time in zip(sums, work, strict=True)]
    for rank in range(ranks):
        story.user(rank, story.path("main", "step", "relax"), round(sums[rank] * MS))
        story.user(rank, story.path("main"), 0)
        story.program[rank] = (0, end)
    return story


@pytest.mark.parametrize("queries", [0, 3])
def test_queries_in_a_stretch_of_code_divide_no_turn(queries: int) -> None:
    """In each step rank 0 computes 7 ms and rank 1 8 ms, one before its queries of the environment and the other one
    behind them: rank 1 is slow in each step, whatever the queries divide."""
    story = Story(2, STEPS * 8 * MS, windows=STEPS)
    path, query = story.path("main", "MPI_Allreduce"), story.path("main", "MPI_Comm_rank")
    for i in range(STEPS):
        begin, end = i * 8 * MS, (i + 1) * 8 * MS
        for rank, work in ((0, 7 * MS), (1, 8 * MS)):
            at = begin + (work - US if (i + rank) % 2 else US)
            for k in range(queries):
                story.call(rank, at + k, at + k, query)
        story.collective(path, "Allreduce", {0: (begin + 7 * MS, end), 1: (end - 1, end)})
    (row,) = story.alone(uneven_computation.find).iter_rows(named=True)
    assert (row["ranks"], row["region"], row["confidence"]) == ([1], "MPI_Allreduce", HIGH)
    # Of 8 ms 1 is saved where rank 1 is as fast as rank 0, and a half where they share the work.
    assert row["gain"] == pytest.approx(0.75 / 8, abs=0.002)


def test_one_slow_rank_of_many_may_become_as_fast_as_the_others() -> None:
    (row,) = steps([4] * 4 + [8]).alone(uneven_computation.find).iter_rows(named=True)
    assert (row["ranks"], row["cause_region"], row["region"]) == ([4], "relax", "MPI_Allreduce")
    # Of 8 ms a step 4 are left, as fast as the others, or 4.8, shared by five: 40 and 50 %.
    assert row["gain"] == pytest.approx(0.45, abs=0.001)
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    assert numbers["gain_if_as_fast"] == pytest.approx(0.5, abs=0.001)
    assert numbers["gain_if_shared"] == pytest.approx(0.4, abs=0.001)
    assert numbers["load_balance"] == pytest.approx(4.8 / 8)


def test_ranks_with_as_much_code_in_all_are_not_slow() -> None:
    story = Story(2, STEPS * STEP, windows=STEPS)
    send, recv = story.path("main", "exchange", "MPI_Send"), story.path("main", "exchange", "MPI_Recv")
    for i in range(STEPS):  # both compute 8 ms: rank 0 before its send, rank 1 before its receive
        begin = i * STEP + 8 * MS
        for sender, at in ((0, begin), (1, begin + 20 * US)):
            done = at + 10 * US
            story.call(sender, at, done, send, send_overhead=10 * US)
            story.call(1 - sender, at, done + 10 * US, recv, latency=10 * US, recv_overhead=10 * US)
            story.message(
                sender,
                1 - sender,
                800,
                (at, done),
                (at, done + 10 * US),
                (send, recv),
                latency=10 * US,
                recv_overhead=10 * US,
            )
    for rank in range(2):
        story.program[rank] = (0, STEPS * STEP)
    assert story.alone(uneven_computation.find).is_empty()


def chain(*works: int, functions: bool = False) -> Story:
    """In each step each rank computes its time, us, sends to the rank above it, if there is one, then to the one below
    in another line, or in another function, and receives from both."""
    story = Story(len(works), STEPS * STEP, windows=STEPS)
    up = story.path("main", *(["up"] if functions else []), "MPI_Send")
    down = story.path("main", "down", "MPI_Send") if functions else story.another_line(up, 20)
    recv = story.path("main", "MPI_Recv")
    at = [0] * len(works)
    for _ in range(STEPS):
        sends: list[tuple[int, int, int, int]] = []
        for rank, work in enumerate(works):
            at[rank] += work * US
            for path, to in ((up, rank + 1), (down, rank - 1)):
                if 0 <= to < len(works):
                    story.call(rank, at[rank], at[rank] + US, path, send_overhead=US)
                    sends.append((rank, to, path, at[rank]))
                    at[rank] += US
        for rank in range(len(works)):
            for sender, to, path, sent in sends:
                if to == rank:
                    late = max(0, sent + US - at[rank])
                    leave = at[rank] + late + US
                    story.call(rank, at[rank], leave, recv, late_sender=late, recv_overhead=US)
                    ends = (sent, sent + US), (at[rank], leave)
                    before = at[rank] - min(sent, at[rank])
                    paths = path, recv
                    story.message(
                        sender, rank, 8, *ends, paths, late_sender=late, processor_queueing=before, recv_overhead=US
                    )
                    at[rank] = leave
    for rank, end in enumerate(at):
        story.program[rank] = (0, end)
    return story


@pytest.mark.parametrize("functions", [False, True])
def test_equal_work_before_calls_that_only_some_ranks_make_is_no_imbalance(functions: bool) -> None:
    assert chain(8000, 8040, 7980, 8030, functions=functions).alone(uneven_computation.find).is_empty()


def test_the_same_work_is_before_other_lines_of_ranks_with_other_neighbors() -> None:
    (row,) = chain(8000, 4000).alone(uneven_computation.find).iter_rows(named=True)
    assert row["ranks"] == [0]
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    assert numbers["gain_if_shared"] == pytest.approx(2 / 8, abs=0.005)


def test_work_is_shared_within_each_step() -> None:
    # Rank 0 computes 8 ms a step, rank 1 0.4 in two of ten and 0.1 in the others: 80 and 1.6 ms, 40.8 on average.
    (row,) = steps([8, 0.4], *[[8, 0.1]] * 4).alone(uneven_computation.find).iter_rows(named=True)
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    # Rank 0 keeps 4.08 ms of each step; the 3.92 that it gives are 4.32 with rank 1's longer visits. Had these grown in
    # proportion, to 10.2 ms, little would be saved.
    assert numbers["gain_if_shared"] == pytest.approx(1 - (2 * 4.32 + 8 * 4.08) / 80, abs=0.001)


@pytest.mark.parametrize(("others_ms", "alone"), [(0.07, True), (0.09, False)])
def test_a_rank_does_alone_what_others_have_less_than_a_hundredth_of(others_ms: float, alone: bool) -> None:
    (row,) = steps([others_ms] * 3 + [8]).alone(uneven_computation.find).iter_rows(named=True)
    assert ("alone" in {one["name"] for one in row["evidence"]}) == alone


def test_the_same_work_may_be_before_other_calls() -> None:
    # Ranks 0 and 1 compute 8 ms before a reduction, rank 2 12 ms before a barrier behind it.
    story = Story(3, STEPS * 13 * MS)
    reduce, barrier = story.path("main", "MPI_Reduce"), story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        t = 13 * step * MS
        enters = {0: t + 8 * MS, 1: t + 8 * MS, 2: t}
        story.collective(reduce, "Reduce", {rank: (at, at) for rank, at in enters.items()}, root=2)
        story.collective(
            barrier,
            "Barrier",
            {0: (t + 8 * MS, t + 12 * MS), 1: (t + 8 * MS, t + 12 * MS)} | {2: (t + 12 * MS, t + 12 * MS)},
        )
    (row,) = story.alone(uneven_computation.find).iter_rows(named=True)
    numbers = {one["name"]: one["value"] for one in row["evidence"]}
    assert row["ranks"] == [2]
    assert numbers["longest"] / numbers["shortest"] == pytest.approx(13 / 9, abs=0.1)


def test_a_rank_that_polls_by_several_calls_computes_nothing() -> None:
    """Rank 0 polls by two calls alternately, 0.1 µs apart, as long as rank 1 works."""
    story = Story(2, STEPS * 2 * MS)
    story.loggp |= {"L": 1.0}
    some, one = story.path("main", "MPI_Testsome"), story.path("main", "MPI_Test")
    barrier = story.path("main", "MPI_Barrier")
    for step in range(STEPS):
        begin = step * 2 * MS
        for i in range(100):
            at = begin + MS // 10 + i * US // 2
            story.call(0, at, at + 2 * US // 5, one if i % 2 else some, mpi_other=2 * US // 5)
        story.collective(barrier, "Barrier", dict.fromkeys((0, 1), (begin + MS, begin + MS + US)))
    with story.as_run() as run:
        program = Program(run).build()
        polls = program.polls & (program.location == 0)
    assert polls.sum() == STEPS * 98  # the first one of either call is no repetition
    assert program.gap_ps[polls].sum() == 0


def test_a_slow_rank_becomes_as_fast_as_one_with_the_same_turns() -> None:
    # Ranks 0 to 2 compute 8 and 4 ms alternately, rank 2 4 ms more in each; ranks 3 to 5 compute 4 and 8 ms.
    with steps([8, 8, 12, 4, 4, 4], [4, 4, 8, 8, 8, 8]).as_run() as run:
        program = Program(run).build()
        (place,) = stretches(program)
        longer = uneven_computation.Uneven(program, (place,)).as_fast.longer_ps
    assert longer is not None
    assert longer[program.location == 2].tolist() == pytest.approx([-4 * MS] * STEPS, abs=US)


def test_what_one_rank_alone_computes_is_shared_with_those_that_compute_nothing_there() -> None:
    with steps([0, 0, 0, 8]).as_run() as run:
        program = Program(run).build()
        (proposal,) = uneven_computation.propose(program)
        shared = proposal.other_ends[0].longer_ps
    assert shared is not None
    # Rank 3 gives 6 of 8 ms of each step, and each of the three others has 2 of them.
    of_rank = [int(shared[program.location == rank].sum()) for rank in range(4)]
    assert of_rank == [pytest.approx(STEPS * 2 * MS, rel=1e-3)] * 3 + [pytest.approx(-STEPS * 6 * MS, rel=1e-3)]


def test_how_much_is_saved_is_between_shared_work_and_a_rank_as_fast_as_the_others() -> None:
    (row,) = steps([4, 4, 8]).findings().iter_rows(named=True)
    # Of 8 ms a step 16 / 3 are left, shared by three, or 4: 33.3 and 50 %, and 41.7 between these.
    assert row["gain"] == pytest.approx(1 - (16 / 3 + 4) / 2 / 8, abs=0.001)
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((1 - (16 / 3) / 8, 0.5), abs=0.002)


def test_where_most_are_slow_the_others_have_less_to_do() -> None:
    assert steps([2, 4, 4, 4]).alone(uneven_computation.find).is_empty()


def test_a_rank_whose_visits_differ_may_be_slow_by_chance() -> None:
    # Rank 2 takes 8 and 2 ms by turns, 5 on average: 1 more than the 4 of the others.
    (row,) = steps([4, 4, 8, 4, 4], [4, 4, 2, 4, 4]).alone(uneven_computation.find).iter_rows(named=True)
    assert (row["ranks"], row["confidence"]) == ([2], LOW)


def test_ranks_that_take_turns_are_slow_step_by_step() -> None:
    story = steps([8, 4], [4, 8])
    assert story.alone(uneven_computation.find).is_empty()
    (row,) = story.alone(uneven_steps.find).iter_rows(named=True)
    # Each step lasts 8 ms, and 6 with its work shared.
    assert row["gain"] == pytest.approx(0.25, abs=0.001)
    assert (row["ranks"], row["cause_region"]) == ([0, 1], "relax")


@pytest.mark.parametrize(
    ("uneven_ms", "named"),
    [
        ((4, 2, 1), "A and 2 other places"),
        ((1, 2, 2), "B and C and A"),
        ((2, 4, 1, 3), "B and D and 2 other places"),
        ((3, 2), "A and B"),
        ((3,), "A"),
    ],
)
def test_code_that_has_most_of_what_is_uneven_is_named(uneven_ms: Sequence[int], named: str) -> None:
    at = np.arange(4)
    times = [(np.array([ms, 0]) * MS, np.array([0, ms]) * MS) for ms in uneven_ms]
    places = [Stretch(i, (0, 1), (at[:2], at[2:]), each, (at[:2], at[:2])) for i, each in enumerate(times)]
    assert uneven_computation._most_of(places, [Code("ABCD"[place.callpath]) for place in places]) == named


def test_a_barrier_between_steps_whose_slowest_rank_is_another_one_each_time_is_needless() -> None:
    story = steps([8, 4], [4, 8], operation="Barrier")
    assert story.alone(uneven_steps.find).is_empty()
    (row,) = story.alone(needless_barrier.find).iter_rows(named=True)
    # Without it each rank computes 8 + 4 ms in two steps, which take 16.
    assert row["gain"] == pytest.approx(0.25, abs=0.001)
    # One rank that is slow throughout would not wait less.
    assert steps([8, 4], operation="Barrier").alone(needless_barrier.find).is_empty()


def test_variation_by_a_twentieth_is_a_loss_only_where_nothing_needs_the_wait_for_the_slowest() -> None:
    assert steps([4, 4.2], [4.2, 4]).alone(uneven_steps.find).is_empty()
    (row,) = steps([4, 4.2], [4.2, 4], operation="Barrier").alone(needless_barrier.find).iter_rows(named=True)
    # Two steps of 4.2 ms; without the barrier, each rank computes 8.2 ms in both.
    assert row["gain"] == pytest.approx(0.2 / 8.4, abs=0.001)


def test_code_of_one_rank_for_which_others_wait_is_shared_with_them() -> None:
    found = wavefront().alone(late_ranks.find)
    row = found.row(0, named=True)
    # A round of 20 ms has 8 ms on rank 0, and 11.9 ms of code that all ranks have.
    assert row["cause_region"].startswith("relax")
    assert {one["value"] for one in row["evidence"] if one["name"] == "late_rank"} == {0.0}
    assert row["gain"] > 0.1


def test_ranks_that_wait_in_an_operation_are_not_the_one_they_wait_for() -> None:
    story = Story(4, STEPS * STEP, windows=STEPS)
    writes, barrier = story.path("main", "write", "MPI_Wait"), story.path("main", "MPI_Barrier")
    for i in range(STEPS):
        begin = i * STEP
        story.call(0, begin + 8 * MS, begin + 8 * MS, writes)
        story.collective(
            barrier, "Barrier", {rank: (begin + (1 if rank else 9) * MS, begin + STEP) for rank in range(4)}
        )
    (row,) = story.alone(late_ranks.find).iter_rows(named=True)
    assert row["kind"] == "collective_wait"
    assert facts(row["title"])[:3] == ["1-3", "MPI_Barrier", "0"]
    assert "computes longer than the mean" in row["title"]


def fences(partners: bool) -> Story:
    """Ranks 0 and 1, and 2 and 3, put to each other; in each step another rank enters 6 ms late to the fence of all."""
    story = Story(4, STEPS * STEP, windows=STEPS)
    fence, put = story.path("main", "MPI_Win_fence"), story.path("main", "MPI_Put")
    for i in range(STEPS):
        begin = i * STEP
        enters = {rank: begin + (8 if rank == i % 4 else 2) * MS for rank in range(4)}
        for rank in range(4):
            target = rank ^ 1 if partners else (rank + 1 + i % 3) % 4
            story.transfer(rank, target, put, begin + MS, begin + MS + US, send_overhead=US)
        story.collective(fence, "Fence", {rank: (enter, begin + 8 * MS + US) for rank, enter in enters.items()})
    return story


def test_a_fence_waits_for_ranks_that_exchange_nothing_with_it() -> None:
    (row,) = fences(partners=True).alone(needless_fence.find).iter_rows(named=True)
    assert (row["kind"], row["region"]) == ("wait_at_fence", "MPI_Win_fence")
    assert row["gain"] > 0.1
    assert "less often" not in row["advice"]


def test_fewer_fences_let_steps_even_out_that_are_long_on_different_ranks() -> None:
    # Where each rank exchanges data with all others, it needs them all.
    (row,) = fences(partners=False).alone(needless_fence.find).iter_rows(named=True)
    assert "less often" in row["advice"]
    # Of ten steps, three are long on ranks 0 and 1, by 6 of 10 ms: without any wait seven of these are saved.
    assert 0.2 < row["gain"] < 7 * 6 / 100
    assert row["title"].endswith("rank of each step is another one")
