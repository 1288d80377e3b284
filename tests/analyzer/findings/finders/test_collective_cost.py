"""The time inside collectives that is not waiting is a finding of its own, with a cure that fits what it is."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, US, Story, evidence_of

from logpost.analyzer.findings.finders import collective_cost
from logpost.analyzer.findings.finding import HIGH, MEDIUM
from logpost.analyzer.run.manifest import MachineValue, Manifest


class OnMachine(Story):
    """A story on a machine whose values are round numbers: o_s = o_r = 1 µs, L = 8 µs, G = 1 ns/B."""

    def manifest(self) -> Manifest:
        values = {"L": (8.0, "us"), "o_s": (1.0, "us"), "o_r": (1.0, "us"), "G": (1.0, "ns/B")}
        manifest = super().manifest()
        machine = manifest.machine.model_copy(
            update={
                "values": [
                    MachineValue(locality="same_node", parameter=name, value=value, unit=unit, source="the story")
                    for name, (value, unit) in values.items()
                ]
            }
        )
        return manifest.model_copy(update={"machine": machine})


class OnBoundedMachine(OnMachine):
    """The same where the trace only bounds what a byte takes: at most 100 ns."""

    def manifest(self) -> Manifest:
        manifest = super().manifest()
        bound = {"value": 0.0, "low": 0.0, "high": 100.0, "bound_only": True}
        values = [one.model_copy(update=bound) if one.parameter == "G" else one for one in manifest.machine.values]
        return manifest.model_copy(update={"machine": manifest.machine.model_copy(update={"values": values})})


def reductions(
    *,
    per_round: int,
    gap: int,
    cost: int = 30 * US,
    size: int = 8,
    skew: int = 0,
    rounds: int = 20,
    on: type[OnMachine] = OnMachine,
) -> Story:
    """In each round of 1 ms, four ranks compute 100 µs and then call `per_round` reductions at intervals of `gap`.

    Rank 3 enters each `skew` later than the others; all leave `cost` after it.
    """
    story = on(4, rounds * MS, windows=rounds)
    path = story.path("main", "dot", "MPI_Allreduce")
    for i in range(rounds):
        at = i * MS + 100 * US
        for _ in range(per_round):
            leave = at + skew + cost
            story.collective(path, "Allreduce", {rank: (at + (skew if rank == 3 else 0), leave) for rank in range(4)})
            at = leave + gap
    for row in story.rows["collectives"]:
        row["bytes_sent"] = row["bytes_received"] = 4 * size  # one part for each member
    return story


def test_reductions_in_a_row_are_to_be_fused() -> None:
    # Ten of 30 µs, 2 µs apart.
    finding = reductions(per_round=10, gap=2 * US).alone(collective_cost.find).row(0, named=True)
    assert finding["title"] == (
        "200 operations in MPI_Allreduce cost 30.0 µs each beyond waiting for the last rank, mostly back to back"
    )
    # Nine of ten follow another one: 20 rounds * 9 * 30 µs of 20 ms on each rank.
    assert "back to back: 90.0 %" in evidence_of(finding)
    assert finding["gain"] == pytest.approx(20 * 9 * 30 / 20_000)
    # log2(4) = 2 rounds of 1 + 8 + 1 µs; 8 B of 1 ns each.
    assert "mean cost: 30.0 µs; latency estimate: 20.0 µs; bandwidth estimate: 8.00 ns" in evidence_of(finding)
    assert "cost over estimate: 1.50 ×" in evidence_of(finding)
    assert finding["advice"].startswith("Fuse them")
    assert finding["confidence"] == HIGH


def test_waiting_in_reductions_in_a_row_is_their_cost_and_nobody_elses() -> None:
    """One rank enters each 5 µs late, since it left the one before late: that is no work to balance."""
    story = reductions(per_round=10, gap=2 * US, skew=5 * US)
    finding = story.alone(collective_cost.find).row(0, named=True)
    # Three ranks wait 5 µs in each of the nine that follow another one.
    assert "waiting in those: 2.70 ms" in evidence_of(finding)
    # Each rank but the last spends 35 µs in each. Without them rank 3 keeps the 7 µs of code between them, 5 more than
    # the others: it is done 30 + 9 * 7 µs after its first enter, not 30 + 9 * 37, and the next round begins that much
    # earlier. 20 rounds ended at 19 * 1000 + 468 µs.
    before, less = 19 * 1000 + 468, 9 * (37 - 7)
    assert finding["gain"] == pytest.approx(20 * less / before)


def test_a_cost_beside_which_others_work_saves_nothing() -> None:
    """Ranks 0 and 1 compute for 1 ms, 2 and 3 meet in a reduction of 300 µs and compute for 600; then all meet."""
    story = OnMachine(4, 20 * MS, windows=20)
    dot, end = (story.path("main", name, "MPI_Allreduce") for name in ("dot", "end"))
    for t in range(0, 20 * MS, MS):
        story.collective(dot, "Allreduce", dict.fromkeys((2, 3), (t + 50 * US, t + 350 * US)))
        enters = {0: t + 970 * US, 1: t + 970 * US, 2: t + 950 * US, 3: t + 950 * US}
        story.collective(end, "Allreduce", {rank: (enter, t + MS) for rank, enter in enters.items()})
    gains = story.alone(collective_cost.find)["gain"].to_list()
    # All take 30 µs to meet, 20 of which every algorithm takes: a hundredth of 1 ms. The reduction of two, 290 beyond
    # its latency, was three tenths of their time; without it they wait.
    assert gains == [pytest.approx(0.01), 0.0]


def test_single_small_reductions_are_bound_by_latency() -> None:
    finding = reductions(per_round=5, gap=100 * US).alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith("latency-bound at 8 B each")
    # Every algorithm takes two rounds of 10 µs: 5 * (30 - 20) of 1000 µs.
    assert finding["gain"] == pytest.approx(0.05)
    assert finding["advice"].startswith("Call it less often")
    assert finding["confidence"] == MEDIUM


def test_large_reductions_are_bound_by_bandwidth() -> None:
    story = reductions(per_round=2, gap=300 * US, cost=150 * US, size=100_000)
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith("bandwidth-bound at 97.7 KiB each")
    assert "latency estimate: 20.0 µs; bandwidth estimate: 100 µs" in evidence_of(finding)
    assert "ring" in finding["advice"]


def test_what_takes_far_longer_than_the_machine_says_is_no_matter_of_size() -> None:
    finding = reductions(per_round=1, gap=0, cost=200 * US).alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith("10.0 × what the machine's values predict")
    assert "binding" in finding["advice"]


def test_work_that_comes_late_is_waiting_not_cost() -> None:
    """Rank 3 enters 400 µs late; the operation itself takes 5 µs of 1 ms."""
    story = reductions(per_round=1, gap=0, cost=5 * US, skew=400 * US)
    assert story.alone(collective_cost.find).is_empty()


def divided(story: Story, **shares: float) -> Story:
    """The story, with its operations divided by a replay as told."""
    for part, share in shares.items():
        story.rows["collective_parts"].append(
            {"location": 0, "callpath": 2, "phase": "program", "part": part, "exposed_ps": round(share * MS)}
        )
    return story


def test_what_the_replay_says_of_rounds_and_bytes_decides() -> None:
    story = divided(reductions(per_round=5, gap=100 * US), latency=0.2, send_overhead=0.1, serialization=0.6)
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert "share of rounds: 33.3 %; share of bytes: 66.7 %" in evidence_of(finding)
    assert finding["title"].endswith("bandwidth-bound at 8 B each")


def test_fusing_saves_rounds_and_no_bytes() -> None:
    story = divided(reductions(per_round=10, gap=2 * US), latency=0.25, serialization=0.75)
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert finding["gain"] == pytest.approx(0.25 * 20 * 9 * 30 / 20_000)
    assert "saves rounds, not bytes" in finding["advice"]


def unequal_fences(costs: list[int]) -> Story:
    """A fence each ms that all of three ranks enter at once, on a machine that is only bounded."""
    story = Story(3, len(costs) * MS, windows=len(costs))
    story.undivided = ["latency", "serialization"]
    path = story.path("main", "MPI_Win_fence")
    for i, cost in enumerate(costs):
        at = i * MS + 100 * US
        story.collective(path, "Fence", dict.fromkeys(range(3), (at, at + cost)))
    return story


def test_a_fence_without_a_machine_is_compared_with_the_shortest_of_its_kind() -> None:
    assert unequal_fences([200 * US] * 10).alone(collective_cost.find).is_empty()
    found = unequal_fences([200 * US, *[300 * US] * 9]).alone(collective_cost.find)
    # 9 of 10 take 100 us beyond the shortest: 0.9 of 10 ms.
    assert found["gain"].to_list() == [pytest.approx(0.09)]


def test_where_nothing_is_known_of_messages_a_small_cost_may_be_as_small_as_it_can() -> None:
    class Unknown(Story):
        def manifest(self) -> Manifest:
            manifest = super().manifest()
            return manifest.model_copy(update={"machine": manifest.machine.model_copy(update={"values": []})})

    for cost, told_of in ((300 * US, False), (2 * MS, True)):
        story = Unknown(3, 10 * MS)
        story.collective(story.path("main", "MPI_Barrier"), "Barrier", dict.fromkeys(range(3), (MS, MS + cost)))
        assert story.alone(collective_cost.find).is_empty() != told_of


@pytest.mark.parametrize(
    ("size", "told_as"), [(8, "10.0 × what the machine's values predict"), (1 << 20, "1.00 MiB each")]
)
def test_a_byte_whose_time_is_only_bounded_may_explain_a_large_operation(size: int, told_as: str) -> None:
    # Two rounds of 10 µs; 8 B take 800 ns at most, 1 MiB may take 105 ms of the 200 µs that were measured.
    story = reductions(per_round=1, gap=0, cost=200 * US, size=size, on=OnBoundedMachine)
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith(f", {told_as}")
    assert ("bandwidth estimate at most" in evidence_of(finding)) == (size == 8)
    assert ("a calibrated machine" in finding["advice"]) == (size > 8)


def test_a_broadcast_costs_what_is_beyond_waiting_for_its_root() -> None:
    """In each round the root enters after 300 µs, two ranks after 200 and rank 3 after 400; all leave after 900."""
    story = OnMachine(4, 20 * MS, windows=20)
    story.communicator(*range(4))
    path = story.path("main", "MPI_Bcast")
    for t in range(0, 20 * MS, MS):
        enters = (300, 200, 200, 400)
        story.collective(path, "Bcast", {rank: (t + at * US, t + 900 * US) for rank, at in enumerate(enters)}, root=0)
    finding = story.alone(collective_cost.find).row(0, named=True)
    numbers = {one["name"]: one["value"] for one in finding["evidence"]}
    assert numbers["wait_for_root"] == 3
    # Ranks 1 and 2 are in it for 600 µs beyond their wait, rank 3 for 500. The root needs no other rank: its 100 µs
    # until rank 3 enters are no cost, the 500 behind that are.
    assert numbers["mean_cost"] == pytest.approx((600 + 600 + 500 + 500) / 4 * US)
    assert "beyond waiting for the root" in finding["title"]


def test_making_communicators_in_a_row_is_no_cost_to_fuse() -> None:
    story = OnMachine(4, 20 * MS, windows=20)
    path = story.path("main", "MPI_Comm_split")
    for i in range(6):
        story.collective(path, "create handle", dict.fromkeys(range(4), (3 * i * MS, 3 * i * MS + 2999 * US)))
    assert story.alone(collective_cost.find).is_empty()


@pytest.mark.parametrize("shares", [{"residual": 1.0}, {"residual": 0.6, "latency": 0.3, "serialization": 0.1}])
def test_what_is_not_most_of_the_cost_bounds_nothing(shares: dict[str, float]) -> None:
    """No rounds and no bytes are known, or less than half of the cost together: neither is what bounds it."""
    story = divided(reductions(per_round=5, gap=100 * US, size=1000), **shares)
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith(", 1000 B each")
    assert "Neither latency nor bytes are known to cost most" in finding["advice"]


def test_an_operation_of_unknown_size_has_none() -> None:
    finding = reductions(per_round=5, gap=100 * US, size=0).alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith("beyond waiting for the last rank")


N, C = 4, 800
"""Members, and bytes of a part."""


@pytest.mark.parametrize(
    ("operation", "moved", "least"),
    [
        # (sent, received) of ranks 0 (the root), 1, 2, 3 as collectors/pmpi/README.md has them; what some member moves.
        ("Bcast", [(N * C, C), (0, C), (0, C), (0, C)], C),
        ("Reduce", [(C, N * C), (C, 0), (C, 0), (C, 0)], C),
        ("Gather", [(C, N * C), (C, 0), (C, 0), (C, 0)], (N - 1) * C),
        ("Gatherv", [(0, 6 * C), (C, 0), (2 * C, 0), (3 * C, 0)], (N - 1) * 1.5 * C),
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
    operation: str, moved: list[tuple[int, int]], least: float
) -> None:
    story = reductions(per_round=1, gap=0, cost=200 * US)
    for row in story.rows["collectives"]:
        row["operation"] = operation
        row["bytes_sent"], row["bytes_received"] = moved[row["location"]]
    finding = story.alone(collective_cost.find).row(0, named=True)
    numbers = {one["name"]: one["value"] for one in finding["evidence"]}
    # Of Gatherv the mean of 0, 1, 2 and 3 parts.
    assert numbers["mean_part"] == pytest.approx(1.5 * C if operation == "Gatherv" else C)
    # 1 ns for each byte that a member moves at least.
    assert numbers["bandwidth_estimate"] == pytest.approx(least * 1000)


def test_a_communicator_without_members_has_those_of_its_operations() -> None:
    story = reductions(per_round=5, gap=100 * US)
    story.rows["communicators"].append({"comm": 0, "parent": -1, "size": 0, "name": "", "ref": 0, "members": []})
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert finding["title"].endswith("latency-bound at 8 B each")


def test_operations_of_one_call_cost_its_time_once() -> None:
    # Each of the calls, 20 rounds * 10 * 30 µs = 6 of 20 ms on each rank, holds three operations.
    story = reductions(per_round=10, gap=2 * US)
    story.rows["collectives"] = [
        row | {"instance": 3 * row["instance"] + i} for row in story.rows["collectives"] for i in range(3)
    ]
    finding = story.alone(collective_cost.find).row(0, named=True)
    assert finding["share"] == pytest.approx(6 / 20)
    assert finding["exposed_ps"] == 4 * 6 * MS


def test_operations_that_only_wait_cost_nothing() -> None:
    # Ten directly behind each other, in which the first three ranks do nothing but wait for rank 3.
    story = reductions(per_round=10, gap=0, cost=0, skew=30 * US)
    assert story.alone(collective_cost.find).is_empty()
