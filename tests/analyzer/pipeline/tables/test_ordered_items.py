from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from logpost.analyzer.pipeline.tables.ordered_items import AHEAD, ordered_items


def test_items_are_in_the_order_of_their_sources() -> None:
    def items_of(source: int) -> Iterator[tuple[int, int]]:
        yield from ((source, item) for item in range(3 * AHEAD * (source % 3)))

    wanted = [(source, item) for source in range(7) for item in range(3 * AHEAD * (source % 3))]
    for workers in (1, 2, 5):
        assert list(ordered_items(7, items_of, workers)) == wanted
    assert list(ordered_items(0, items_of, 2)) == []


def test_sources_are_read_side_by_side() -> None:
    both = threading.Barrier(2, timeout=30)

    def items_of(source: int) -> Iterator[int]:
        both.wait()  # raises BrokenBarrierError where each would be read after the other
        yield source

    assert list(ordered_items(2, items_of, 2)) == [0, 1]


@pytest.mark.slow
def test_no_source_runs_further_ahead_than_it_may() -> None:
    given = [0, 0]
    first_is_wanted = threading.Event()

    def items_of(source: int) -> Iterator[int]:
        if source == 0:
            assert first_is_wanted.wait(30)
        for _ in range(10 * AHEAD):
            given[source] += 1
            yield source

    with closing(ordered_items(2, items_of, 2)) as items:
        threading.Timer(0.5, first_is_wanted.set).start()
        assert next(items) == 0
        assert given[1] <= AHEAD + 1  # one waits for a place


def test_what_a_source_raises_follows_the_items_before_it() -> None:
    def items_of(source: int) -> Iterator[int]:
        yield source
        if source == 1:
            raise OSError("the disk is full")

    items = ordered_items(3, items_of, 2)
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(OSError, match="the disk is full"):
        next(items)


def test_a_reader_that_stops_ends_the_threads() -> None:
    def items_of(source: int) -> Iterator[int]:
        yield from range(100 * AHEAD)

    before = threading.active_count()
    with closing(ordered_items(8, items_of, 4)) as items:
        assert next(items) == 0
    assert threading.active_count() == before
