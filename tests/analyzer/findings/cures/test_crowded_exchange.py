"""A hot spot that moves from rank to rank faster than any window is found by crowding; the best order is a bound."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.analyzer.story import US, Story

from logpost.analyzer.findings.cures import crowded_exchange
from logpost.analyzer.findings.evidence.crowding import Crowding, crowding

STEP = 40 * US
SERVICE = 10 * US


def exchange(targets: Callable[[int, int], int | None], steps: int, ranks: int = 4) -> Story:
    """In each step every rank sends one rendezvous message to `targets(step, rank)`, whose NIC serves one in 10 µs.

    The k-th message at a receiver waits k * 10 µs (endpoint contention) and is served in 10 µs; its sender is blocked
    in MPI_Send during that time. The receivers take the messages in an MPI_Waitall after the last step, so that their
    waiting is not in the way.
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


def walked(phases: int, order: Callable[[int, int], list[int]], ranks: int = 4) -> tuple[Story, int]:
    """Every rank visits all others in its `order` with blocking synchronous sends, and takes in the messages to itself
    at its own number: each moves in 1 µs once both are there, and is handled in 9 µs of code. A barrier of
    1 µs ends the phase. The story, and how long a phase is."""
    clock, length = dict.fromkeys(range(ranks), 0), 0
    calls: list[tuple[int, int, int, int]] = []  # sender, its enter, receiver, its enter
    todo = {
        rank: [
            (sender, rank) if to == rank else (rank, to)
            for to in order(rank, ranks)
            for sender in _others(rank, to, ranks)
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


def measured(story: Story) -> Crowding:
    tables = story.tables()
    found = crowding(tables["messages"], tables["pairs"].collect())
    assert found is not None
    return found


def test_senders_in_step_meet_three_times_as_many_as_by_chance() -> None:
    """Three senders send to the same receiver at once: there are 2 other messages of each, where it has one of three
    receivers: E = 1/3 * 2, and R = 2 / (2/3) = 3."""
    found = measured(exchange(in_step, 80))
    assert found.ratio == pytest.approx(3.0)
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)


def test_senders_in_a_spread_order_meet_none() -> None:
    story = exchange(staggered, 80)
    assert measured(story).ratio == 0.0
    assert story.alone(crowded_exchange.find).is_empty()


@pytest.mark.parametrize("ranks", [4, 64])
def test_an_order_by_chance_is_what_crowding_expects(ranks: int) -> None:
    rng = random.Random(7)
    story = Story(ranks, 200 * STEP)
    path = story.path("MPI_Send")
    for step in range(200 if ranks == 4 else 40):
        for rank in range(ranks):
            at, to = step * STEP, (rank + rng.randrange(1, ranks)) % ranks
            story.message(rank, to, 8, (at, at + US), (at, at + US), (path, path), serialization=US)
    found = measured(story)
    assert found.ratio == pytest.approx(1.0, abs=4 * found.standard_error + 0.02)
    assert 0 < found.standard_error < 0.2


def test_another_order_saves_what_the_recorded_one_makes_all_wait() -> None:
    story, length = walked(10, lambda rank, ranks: list(range(ranks)))
    finding = story.alone(crowded_exchange.find).row(0, named=True)
    assert (finding["kind"], finding["ranks"]) == ("destination_order", [0, 1, 2, 3])
    # Rank 0 receives 3 messages before it sends to rank 1, which sends to rank 2 behind its own three, and so on: one
    # waits for the other in any case, as long as the calls keep their order. What a rank does itself in a phase is
    # 3 sends of 1 µs, 3 receives of 1 µs, 27 µs of code; and the barrier is 1 µs.
    assert length > 100 * US
    assert finding["gain"] == pytest.approx(1 - 34 * US / length, abs=0.01)


def test_where_none_waits_no_order_saves_anything() -> None:
    """The same crowding without any exposed waiting costs nothing and is not a finding."""
    story = exchange(in_step, 80)
    for row in story.rows["segments"] + story.rows["exposed"]:
        if row["category"] == "endpoint_contention":
            row["category"] = "serialization"
    assert story.alone(crowded_exchange.find).is_empty()
