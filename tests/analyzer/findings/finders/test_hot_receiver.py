"""A hot spot that moves faster than any window is found by crowding; one that stays, by load; a spread order by
neither."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from tests.analyzer.story import US, Story, evidence_of

from logpost.analyzer.findings.evidence.collisions import crowding
from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.queues import QUEUES
from logpost.analyzer.findings.finders import hot_receiver
from logpost.analyzer.findings.finding import HIGH

STEP = 40 * US
SERVICE = 10 * US


def exchange(targets: Callable[[int, int], int | None], steps: int, ranks: int = 4) -> Story:
    """In each step every rank sends one rendezvous message to `targets(step, rank)`, whose NIC serves one in 10 µs.

    The k-th message at a receiver waits k * 10 µs (endpoint contention) and is served in 10 µs; its sender is blocked
    in MPI_Send meanwhile. The receivers take the messages in an MPI_Waitall after the last step, so that their waiting
    is not in the way.
    """
    tail = steps * STEP
    story = Story(ranks, tail + STEP, windows=8)
    send, wait = story.path("main", "MPI_Send"), story.path("main", "MPI_Waitall")
    for step in range(steps):
        arrived: dict[int, int] = {}
        for sender in range(ranks):
            receiver = targets(step, sender)
            if receiver is None:
                continue
            begin, queue = step * STEP, arrived.get(receiver, 0) * SERVICE
            arrived[receiver] = arrived.get(receiver, 0) + 1
            end = begin + queue + SERVICE
            contention = {"endpoint_contention": queue} if queue else {}
            story.call(sender, begin, end, send, **contention, serialization=SERVICE)
            story.message(
                sender,
                receiver,
                1000,
                (begin, end),
                (tail, tail + STEP),
                (send, wait),
                complete=end,
                service=SERVICE,
                serialization=SERVICE,
                **contention,
                processor_queueing=tail + STEP - end,
            )
    for rank in range(ranks):
        story.call(rank, tail, tail + STEP, wait, recv_overhead=STEP)
    return story


def in_step(step: int, rank: int) -> int | None:
    """EM3D's original order: all walk the ranks from 0 up, at the same pace."""
    return None if step % 4 == rank else step % 4


def staggered(step: int, rank: int) -> int | None:
    """Each starts behind its own rank: every receiver has one sender."""
    return (rank + 1 + step % 3) % 4


def test_a_hot_spot_that_moves_from_rank_to_rank_is_found_with_its_time() -> None:
    story = exchange(in_step, 80)
    found = story.alone(hot_receiver.find)
    assert found.height == 1
    finding = found.row(0, named=True)
    assert (
        finding["title"]
        == "ranks 0-3 are hot receivers in turn: all senders send to the same rank at once; they stall in MPI_Send"
    )
    assert (finding["ranks"], finding["region"]) == ([0, 1, 2, 3], "MPI_Send")
    # Three senders send to the same receiver at once: each meets 2 messages there, where it has one of three receivers:
    # E = 1/3 * 2, and R = 2 / (2/3) = 3.
    assert "crowding: 3.00 ×; crowding standard error: 0.00 ×" in evidence_of(finding)
    # Per step the second waits 10 µs and the third 20 µs: 80 * 30 µs = 2.4 ms, all charged but 1/3.
    assert finding["exposed_ps"] == pytest.approx(80 * 30 * US * (1 - 1 / 3), rel=1e-3)
    # The third sender is rank 3 in steps 0, 1, 2 of 4, rank 2 in step 3: rank 3 waits 20 * 60 µs = 1.2 ms of 3.24 ms.
    assert finding["share"] == pytest.approx(20 * 60 / (81 * 40) * (1 - 1 / 3), rel=1e-3)
    # Rank 0 is the first at every receiver and waits for nobody: no order lets it end before.
    assert finding["gain"] == 0.0


def walked(phases: int, order: Callable[[int, int], list[int]], ranks: int = 4) -> tuple[Story, int]:
    """Every rank visits all others in its `order` with blocking synchronous sends, and takes in the messages to itself
    where its own number stands: each moves in 1 µs once both are there, and is handled in 9 µs of code. A barrier of
    1 µs ends the phase. The story, and how long a phase is."""
    clock, length = dict.fromkeys(range(ranks), 0), 0
    calls: list[tuple[int, int, int, int]] = []  # sender, its enter, receiver, its enter
    todo = {
        rank: [
            (who, rank) if to == rank else (rank, to) for to in order(rank, ranks) for who in _others(rank, to, ranks)
        ]
        for rank in range(ranks)
    }
    while any(todo.values()):
        pair = next(one[0] for rank, one in todo.items() if one and todo[sum(one[0]) - rank][0] == one[0])
        calls.append((pair[0], clock[pair[0]], pair[1], clock[pair[1]]))
        end = max(clock[pair[0]], clock[pair[1]]) + US
        clock[pair[0]], clock[pair[1]] = end, end + 9 * US
        for rank in pair:
            todo[rank].pop(0)
    length = max(clock.values()) + US
    story = Story(ranks, phases * length)
    send, receive, barrier = (story.path("main", name) for name in ("MPI_Ssend", "MPI_Recv", "MPI_Barrier"))
    for begin in range(0, phases * length, length):
        for sender, sends, receiver, receives in calls:
            late, end = sends - receives, max(sends, receives) + US
            story.call(sender, begin + sends, begin + end, send, late_receiver=max(0, -late), serialization=US)
            story.call(receiver, begin + receives, begin + end, receive, late_sender=max(0, late), serialization=US)
            spans = (begin + sends, begin + end), (begin + receives, begin + end)
            story.message(
                sender,
                receiver,
                8,
                *spans,
                (send, receive),
                complete=begin + end,
                service=US,
                late_sender=max(0, late),
                late_receiver=max(0, -late),
                serialization=US,
            )
        story.collective(barrier, "Barrier", {rank: (begin + clock[rank], begin + length) for rank in clock})
    return story, length


def _others(rank: int, to: int, ranks: int) -> list[int]:
    return [other for other in range(ranks) if other != rank] if to == rank else [to]


def test_another_order_gains_what_the_recorded_one_keeps_from_everybody() -> None:
    story, length = walked(10, lambda rank, ranks: list(range(ranks)))
    finding = story.alone(hot_receiver.find).row(0, named=True)
    # Rank 0 takes 3 messages before it sends to rank 1, which sends to rank 2 behind its own three, and so on: one
    # waits for the other in any case, as long as the calls keep their order. What a rank does itself in a phase is
    # 3 sends of 1 µs, 3 receives of 1 µs, 27 µs of code; and the barrier is 1 µs.
    assert length > 100 * US
    assert finding["gain"] == pytest.approx(1 - 34 * US / length)
    kept = next(one["value"] for one in finding["evidence"] if one["name"] == "saved_with_calls_in_recorded_order")
    assert kept < 0.15


def test_a_receiver_of_most_messages_is_hot_in_any_order() -> None:
    # All turn to rank 0 at once; sent there alone, no order of theirs spreads that.
    found = exchange(lambda step, rank: 0 if rank else 1, 80).alone(hot_receiver.find)
    assert [row["ranks"] for row in found.iter_rows(named=True)] == [[0]]
    assert "crowding" not in evidence_of(found.row(0, named=True))


def test_a_spread_order_has_no_hot_receiver() -> None:
    story = exchange(staggered, 80)
    assert story.alone(hot_receiver.find).is_empty()
    tables = story.tables()
    measured = crowding(tables["messages"], tables["pairs"].collect())
    assert measured is not None
    assert measured.ratio == 0.0


@pytest.mark.parametrize("ranks", [4, 64])
def test_an_order_by_chance_is_what_crowding_expects(ranks: int) -> None:
    rng = random.Random(7)

    def by_chance(step: int, rank: int) -> int:
        return (rank + rng.randrange(1, ranks)) % ranks

    story = Story(ranks, 200 * STEP)
    path = story.path("MPI_Send")
    for step in range(200 if ranks == 4 else 40):
        for rank in range(ranks):
            at = step * STEP
            story.message(rank, by_chance(step, rank), 8, (at, at + US), (at, at + US), (path, path), serialization=US)
    tables = story.tables()
    measured = crowding(tables["messages"], tables["pairs"].collect())
    assert measured is not None
    assert measured.ratio == pytest.approx(1.0, abs=4 * measured.standard_error + 0.02)
    assert 0 < measured.standard_error < 0.2
    assert story.alone(hot_receiver.find).is_empty()


def test_one_that_gets_all_the_messages_is_found_by_its_load() -> None:
    # Ranks 1, 2, 3 always send to rank 0, which sends one message to rank 1 per step.
    story = exchange(lambda step, rank: 0 if rank else 1, 80)
    found = story.alone(hot_receiver.find)
    assert found.height == 1
    finding = found.row(0, named=True)
    # Rank 0 serves 3 messages per step, the three others 1 together: 3 / (1/3) = 9 times their mean.
    assert finding["title"].startswith("rank 0 is a hot receiver: 9.0 × the load of the other receivers")
    # 30 µs of contention per step, of which 1 - 1/9 would vanish with an even load.
    assert finding["exposed_ps"] == pytest.approx(80 * 30 * US * (1 - 1 / 9), rel=1e-3)
    assert finding["confidence"] == HIGH


def test_one_that_is_the_only_receiver_is_as_hot_as_there_are_ranks() -> None:
    # Ranks 1, 2, 3 send to rank 0 and nobody else receives anything: the others' mean is 0, and R the 4 ranks.
    story = exchange(lambda step, rank: 0 if rank else None, 80)
    finding = story.alone(hot_receiver.find).row(0, named=True)
    assert finding["title"].startswith("rank 0 is a hot receiver: 4.0 × the load of the other receivers")
    assert finding["exposed_ps"] == pytest.approx(80 * 30 * US * (1 - 1 / 4), rel=1e-3)


def test_nobody_waits_nobody_is_hot() -> None:
    """The same crowding without any exposed waiting costs nothing and is not a finding."""
    story = exchange(in_step, 80)
    for row in story.rows["segments"] + story.rows["exposed"]:
        if row["category"] == "endpoint_contention":
            row["category"] = "serialization"
    assert story.alone(hot_receiver.find).is_empty()


def test_confidence_is_lower_where_ranks_outnumber_cores() -> None:
    story = exchange(in_step, 80)
    sure = story.alone(hot_receiver.find)["confidence"][0]
    story.hosts.oversubscribed = True
    doubtful = story.alone(hot_receiver.find)["confidence"][0]
    assert (sure, doubtful) == (HIGH, pytest.approx(HIGH * 2 / 3))
    assert "scheduling" in story.alone(hot_receiver.find)["certainty"][0]


@pytest.mark.parametrize(("code", "cured"), [(0, 22.0), (30, 34.25)])
def test_an_even_load_is_served_and_handled_by_somebody(code: int, cured: float) -> None:
    """In a step ranks 1 to 3 send to rank 0 at once, compute for `code` µs, and all meet for 1 µs. A message is sent
    in 1 µs, waits k * 10 µs at the receiver, which serves it in 10 µs, and is handled in 3 µs. Six small ones, which
    load nobody, go from rank 2 to rank 3."""
    steps = 20
    story = Story(4, steps * 37 * US)
    send, wait, receive, barrier = (
        story.path("main", f"MPI_{name}") for name in ("Isend", "Waitall", "Recv", "Barrier")
    )
    for begin in range(0, steps * 37 * US, 37 * US):
        sends, waits = (begin, begin + US), (begin, begin + 36 * US)
        for k, rank in enumerate((1, 2, 3)):
            parts = {"send_overhead": US, "latency": 2 * US, "serialization": 10 * US, "recv_overhead": 3 * US}
            story.call(rank, *sends, send, send_overhead=US)
            queues = {"endpoint_contention": k * 10 * US, "processor_queueing": (20 - k * 10) * US}
            story.message(rank, 0, 1000, sends, waits, (send, wait), service=10 * US, **parts, **queues)
        story.call(
            0, *waits, wait, late_sender=US, latency=2 * US, endpoint_contention=20 * US, serialization=10 * US,
            recv_overhead=3 * US,
        )  # fmt: skip
        receives = (begin + US, begin + 2 * US)
        story.call(3, *receives, receive, recv_overhead=US)
        for _ in range(6):
            story.message(2, 3, 8, sends, receives, (send, receive), send_overhead=US, latency=US)
        met = {rank: (begin + max(code, rank == 3) * US + US, begin + 37 * US) for rank in (1, 2, 3)}
        story.collective(barrier, "Barrier", {0: (begin + 36 * US, begin + 37 * US), **met})
    finding = story.alone(hot_receiver.find).row(0, named=True)
    # Three messages for four ranks: a quarter of the queue stays, and each sender handles three quarters of a message.
    # The last message has come after 16 µs and a quarter of 20, a sender has computed after 1 µs, `code` and 2.25.
    assert finding["gain"] == pytest.approx(1 - cured / 37)


def test_what_a_receiver_computes_before_it_posts_is_no_crowd() -> None:
    """Two senders wait from 10 to 30 and from 10 to 50 for posts of rank 2, which computes 15 before the first of them
    and handles messages before the second; 20 more are queues."""
    graph = SimpleNamespace(
        enter_ps=np.array([10, 10, 30, 50]),
        gap_ps=np.array([0, 0, 15, 0]),
        waited_last=np.array([0, 1, -1, -1]),
        waits={"message": np.array([0, 1]), "source": np.array([2, 3])},
        waiting_for=lambda *_: np.array([0, 1], dtype=np.int32),
        last_source=lambda calls: np.array([2, 3])[calls],
        messages=SimpleNamespace(parts={part: np.array([20, 0]) * (part == QUEUES[0]) for part in QUEUES}),
    )
    of = np.array([True, True])
    assert hot_receiver.computing_before_posts(cast(Graph, graph), of) == pytest.approx(15 / (20 + 40 + 20))
    of = np.array([True, False])
    assert hot_receiver.computing_before_posts(cast(Graph, graph), of) == pytest.approx(15 / (20 + 20))
