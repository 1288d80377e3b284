"""Several sources are read side by side, and what they give comes out in their order."""

from __future__ import annotations

import queue
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

T = TypeVar("T")

AHEAD = 2
"""Items of a source that wait for those of the sources before it."""

LOOK_S = 0.1
"""A source that waits looks so often whether its items are still wanted."""


def ordered_items(sources: int, items_of: Callable[[int], Iterator[T]], workers: int) -> Generator[T, None, None]:
    """The items of source 0, then those of source 1, and so on, while up to `workers` sources are read.

    Close the generator where it may not be read to its end: only that ends its threads.

    Arguments:
        sources: their number.
        items_of: the items of one of them; it is read in a separate thread.
        workers: threads; memory holds up to `AHEAD` items and one in the making for each.

    Raises what reading a source raised, once the items before it are given.
    """
    abandoned = Event()

    def read(source: int, into: queue.Queue[T | None]) -> None:
        try:
            for item in items_of(source):
                if not _put(into, item, abandoned):
                    return
        finally:
            _put(into, None, abandoned)

    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        queues: list[queue.Queue[T | None]] = []
        reading: list[Future[None]] = []
        try:
            for source in range(sources):
                # As many are begun as are read: a queue each for all would be many.
                while len(queues) < min(sources, source + max(1, workers)):
                    queues.append(queue.Queue(maxsize=AHEAD))
                    reading.append(pool.submit(read, len(queues) - 1, queues[-1]))
                while (item := queues[source].get()) is not None:
                    yield item
                reading[source].result()
        finally:
            abandoned.set()


def _put(into: queue.Queue[T | None], item: T | None, abandoned: Event) -> bool:
    """Whether the item was taken; not when the reader has stopped."""
    while not abandoned.is_set():
        try:
            into.put(item, timeout=LOOK_S)
        except queue.Full:
            continue
        return True
    return False
