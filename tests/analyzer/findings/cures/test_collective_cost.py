"""The time inside collectives that is not waiting is a finding with a cure that fits what it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analyzer.story import Story
from tests.collectors.raw_logs import Log

from logpost.analyzer.findings.cures import collective_cost

from .from_logs import MACHINE, PS, US, Found, findings, numbers, rounds
from .from_logs import started as started_with

RANKS = 4


@pytest.fixture
def costs(tmp_path: Path) -> Callable[..., list[Found]]:
    """Findings about the cost of collectives, of logs."""

    def of(logs: list[Log], *, machine: str = MACHINE) -> list[Found]:
        return [row for row in findings(logs, tmp_path, machine) if row["kind"] == "collective_cost"]

    return of


def started() -> list[Log]:
    return started_with(RANKS)


def reductions(
    *, per_round: int, gap: int, cost: int = 30 * US, size: int = 8, skew: int = 0, name: str = "MPI_Allreduce"
) -> list[Log]:
    """In each round of 1 ms, four ranks compute 100 µs and then call `per_round` reductions at intervals of `gap`.

    Rank 3 enters each `skew` later than the others; all leave `cost` after it.
    """
    logs = started()
    for begin in rounds():
        at = begin + 100 * US
        for _ in range(per_round):
            for log in logs:
                moved = (RANKS * size, RANKS * size)  # one part for each member
                log.collective(name, at + (skew if log.rank == 3 else 0), at + skew + cost, moved)
            at += skew + cost + gap
    return logs


def test_reductions_in_a_row_are_to_be_fused(costs: Callable[..., list[Found]]) -> None:
    (finding,) = costs(reductions(per_round=10, gap=2 * US))
    # Ten of 30 µs, 2 µs apart, of which nine follow another one; without those 20 * 9 * 30 of 20,000 µs are saved, but
    # for what their 8 B of 1 ns each take.
    assert finding["gain"] == pytest.approx(20 * 9 * 30 / 20_000, rel=0.01)
    assert finding["advice"].startswith("Fuse them")
    said = numbers(finding)
    assert (said["back_to_back"], said["operations"], said["mean_cost"]) == (0.9, 200, 30 * US * PS)
    # log2(4) = 2 rounds of 1 + 8 + 1 µs; 8 B of 1 ns each.
    assert (said["latency_estimate"], said["bandwidth_estimate"]) == (20 * US * PS, 8 * PS)


def test_reductions_of_different_operators_are_in_flight_together(costs: Callable[..., list[Found]]) -> None:
    (finding,) = costs(reductions(per_round=10, gap=2 * US))
    assert "of one operator and datatype" in finding["advice"]
    assert "MPI_Op_create" in finding["advice"]
    # At the low end nine of ten keep the overheads of two rounds, 1 + 1 us each, of 30 us.
    assert finding["gain_low"] == pytest.approx(20 * 9 * 26 / 20_000, abs=0.002)


def test_one_of_several_barriers_in_a_row_is_enough() -> None:
    story = Story(RANKS, 20 * 1000 * US * PS)
    path = story.path("main", "MPI_Barrier")
    for begin, at in itertools.product(range(20), range(10)):
        enter = (1000 * begin + 100 + 32 * at) * US * PS
        story.collective(path, "Barrier", dict.fromkeys(range(RANKS), (enter, enter + 30 * US * PS)))
    (finding,) = story.alone(collective_cost.find).iter_rows(named=True)
    assert finding["advice"].startswith("Leave all but one of them out")


def test_broadcasts_in_a_row_have_no_operator(costs: Callable[..., list[Found]]) -> None:
    logs = started()
    for begin in rounds():
        for log in logs:
            for at in range(10):
                enter = begin + 100 * US + at * 32 * US
                log.collective("MPI_Bcast", enter, enter + 30 * US, (32 if log.rank == 0 else 0, 8))
    (finding,) = costs(logs)
    assert finding["advice"].startswith("Fuse them: combine back-to-back operations")


def test_without_a_machine_reductions_in_a_row_are_to_be_fused_as_well(costs: Callable[..., list[Found]]) -> None:
    (finding,) = costs(reductions(per_round=10, gap=2 * US), machine="")
    assert finding["gain"] == pytest.approx(20 * 9 * 30 / 20_000, rel=0.01)


def test_single_small_reductions_are_as_short_as_their_rounds(costs: Callable[..., list[Found]]) -> None:
    (finding,) = costs(reductions(per_round=5, gap=100 * US))
    # Every algorithm takes two rounds of 10 µs: 5 * (30 - 20) of 1000 µs are saved, less 8 B of 1 ns at the other end.
    assert finding["gain"] == pytest.approx(0.05, rel=0.01)
    assert finding["gain_low"] == pytest.approx(0.049)  # 0.0499.., rounded outward to tenths of a percent
    assert finding["advice"].startswith("Call it less often")


def test_large_reductions_save_no_more_than_their_bytes_where_these_stay(costs: Callable[..., list[Found]]) -> None:
    (finding,) = costs(reductions(per_round=2, gap=300 * US, cost=150 * US, size=100_000))
    # Of 150 µs two rounds take 20, and 100,000 B of 1 ns each 100 µs.
    assert finding["gain"] == pytest.approx(2 * (150 - 20) / 1000, rel=0.02)
    assert finding["gain_low"] == pytest.approx(2 * (150 - 20 - 100) / 1000, rel=0.1)


def test_what_is_as_short_as_its_rounds_and_bytes_has_no_cure(costs: Callable[..., list[Found]]) -> None:
    assert costs(reductions(per_round=1, gap=0, cost=30 * US, size=10_000)) == []


def test_what_takes_far_longer_than_the_machine_says_is_no_matter_of_size(costs: Callable[..., list[Found]]) -> None:
    (finding,) = costs(reductions(per_round=1, gap=0, cost=200 * US))
    assert numbers(finding)["cost_over_estimate"] == pytest.approx(10)
    assert "binding" in finding["advice"]


def test_where_ranks_share_cores_they_need_one_each_before_another_algorithm(
    costs: Callable[..., list[Found]],
) -> None:
    logs = started_with(5)  # on the 4 cores of a node
    for begin in rounds():
        for log in logs:
            log.collective("MPI_Allreduce", begin + 100 * US, begin + 300 * US, (40, 40))
    (finding,) = costs(logs)
    assert finding["advice"].startswith("Give each rank a core")


def test_a_late_enter_is_waiting_not_cost(costs: Callable[..., list[Found]]) -> None:
    assert costs(reductions(per_round=1, gap=0, cost=5 * US, skew=400 * US)) == []


def test_operations_that_only_wait_cost_nothing(costs: Callable[..., list[Found]]) -> None:
    # Ten directly behind each other, in which the first three ranks do nothing but wait for rank 3.
    assert costs(reductions(per_round=10, gap=0, cost=0, skew=30 * US)) == []


def test_a_broadcast_costs_what_is_beyond_waiting_for_its_root(costs: Callable[..., list[Found]]) -> None:
    """In each round the root enters after 300 µs, two ranks after 200 and rank 3 after 400; all leave after 900."""
    logs = started()
    for begin in rounds():
        for log, enter in zip(logs, (300, 200, 200, 400), strict=True):
            log.collective("MPI_Bcast", begin + enter * US, begin + 900 * US, (32 if log.rank == 0 else 0, 8))
    (finding,) = costs(logs)
    said = numbers(finding)
    assert said["wait_for_root"] == 3
    # Ranks 0 to 2 are in it for 600 µs from the root's enter on, rank 3 for the 500 behind its own.
    assert said["mean_cost"] == pytest.approx((600 + 600 + 600 + 500) / 4 * US * PS)
    # With two rounds of 10 µs, rank 3, the last to enter, leaves 480 µs earlier in each of 1000.
    assert finding["gain"] == pytest.approx(0.48, rel=0.01)


def test_making_communicators_in_a_row_is_no_cost_to_fuse(costs: Callable[..., list[Found]]) -> None:
    logs = started()
    for begin in rounds():
        for log in logs:
            for at in (0, 200 * US, 400 * US):
                log.outside("MPI_Comm_split", begin + at, begin + at + 199 * US)
    assert [row["advice"][:12] for row in costs(logs)] == ["Make it once"]


N, C = RANKS, 800
"""Members, and bytes of a part."""


@pytest.mark.parametrize(
    ("operation", "moved", "least"),
    [
        # (sent, received) of ranks 0 (the root), 1, 2, 3 as collectors/pmpi/README.md has them; what some member moves.
        ("Bcast", [(N * C, C), (0, C), (0, C), (0, C)], C),
        ("Reduce", [(C, N * C), (C, 0), (C, 0), (C, 0)], C),
        ("Gather", [(C, N * C), (C, 0), (C, 0), (C, 0)], (N - 1) * C),
        ("Scatter", [(N * C, C), (0, C), (0, C), (0, C)], (N - 1) * C),
        ("Allgather", [(N * C, N * C)] * N, (N - 1) * C),
        ("Alltoall", [(N * C, N * C)] * N, (N - 1) * C),
        ("Allreduce", [(N * C, N * C)] * N, C),
        ("Reduce_scatter_block", [(N * C, N * C)] * N, C),
        ("Scan", [((N - rank) * C, (rank + 1) * C) for rank in range(N)], C),
        ("Exscan", [((N - rank - 1) * C, rank * C) for rank in range(N)], C),
    ],
)
def test_the_size_of_an_operation_is_the_part_that_its_call_names(
    costs: Callable[..., list[Found]], operation: str, moved: list[tuple[int, int]], least: float
) -> None:
    logs = started()
    for begin in rounds():
        for log in logs:
            log.collective(f"MPI_{operation}", begin + 100 * US, begin + 300 * US, moved[log.rank])
    (finding,) = costs(logs)
    assert numbers(finding)["mean_part"] == pytest.approx(C)
    # 1 ns for each byte that a member moves at least.
    assert numbers(finding)["bandwidth_estimate"] == pytest.approx(least * PS)


def test_a_communicator_that_is_made_in_each_step_is_to_be_kept(costs: Callable[..., list[Found]]) -> None:
    logs = started()
    for begin in rounds():
        for log in logs:
            log.outside("MPI_Comm_dup", begin + 100 * US, begin + 300 * US)
    (finding,) = costs(logs)
    # The first of 20 of 200 of 1,000 µs each stays.
    assert finding["gain"] == pytest.approx(19 * 200 / 20_000, rel=0.01)
    assert numbers(finding)["made_again"] == 19
    assert "keep the communicator" in finding["advice"]
