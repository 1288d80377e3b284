"""What several finders need of a run, or several cures of its program, is found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

K = TypeVar("K")
T = TypeVar("T")


def once(find: Callable[[K], T]) -> Callable[[K], T]:
    """The function, which keeps its result as long as its argument lives; concurrent finders wait for that."""
    found: WeakKeyDictionary[K, T] = WeakKeyDictionary()
    finding = Lock()

    @wraps(find)
    def kept(of: K) -> T:
        with finding:
            if of not in found:
                found[of] = find(of)
            return found[of]

    return kept
