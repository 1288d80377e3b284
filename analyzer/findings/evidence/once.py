"""What several finders need of a run is found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from logpost.analyzer.findings.evidence.tables import Evidence

T = TypeVar("T")


def once(find: Callable[[Evidence], T]) -> Callable[[Evidence], T]:
    """The function, which keeps its result as long as the evidence lives; finders that run beside it wait for that."""
    found: WeakKeyDictionary[Evidence, T] = WeakKeyDictionary()
    finding = Lock()

    @wraps(find)
    def kept(evidence: Evidence) -> T:
        with finding:
            if evidence not in found:
                found[evidence] = find(evidence)
            return found[evidence]

    return kept
