"""The time of a run in SENS's four parts: a second view of the accounting's categories.

Chong et al. (The Sensitivity of Communication Mechanisms to Bandwidth and Latency, section 4) divide a processor's time
into computation; memory and network interface wait; message overhead (sending, receiving, and gathering or scattering
data for bulk transfers); and synchronization (barriers, locks, spinning). What no model explains, and what an estimated
machine does not divide, belongs to none of these, and is shown separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.analyzer.run.schema import CATEGORIES

NOT_ASSIGNED = "not_assigned"
"""What belongs to none of the four."""

PACKING = "packing_by_hand"
"""In addition to the categories: user regions that were named as packing."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "compute": ("compute",),
    "message_overhead": ("send_overhead", "recv_overhead", "middleware", PACKING),
    "network_wait": (
        "latency",
        "serialization",
        "endpoint_contention",
        "network_contention",
        "processor_queueing",
    ),
    "synchronization": ("late_sender", "late_receiver", "lock_wait", "collective_wait", "collective"),
}
"""Part to the categories in it; every other category is not assigned."""

TITLES: Mapping[str, str] = {
    "compute": "compute",
    "message_overhead": "message overhead",
    "network_wait": "memory and network interface wait",
    "synchronization": "synchronization",
    NOT_ASSIGNED: "not assigned",
}
"""As SENS says them."""

_PART_OF = {category: part for part, categories in PARTS.items() for category in categories}
assert set(_PART_OF) <= {*CATEGORIES, PACKING}


@dataclass(frozen=True)
class SensPart:
    """One of the four, or what is not assigned."""

    name: str
    exposed_ps: int | None
    """None: an estimated machine divides none of it"""
    share: float
    """of the sum of the ranks' program times"""
    categories: tuple[str, ...]
    """those with time in it"""

    @property
    def title(self) -> str:
        """As SENS says it."""
        return TITLES[self.name]


def with_packing(exposed_ps: Mapping[str, int], packing_ps: int) -> dict[str, int]:
    """The categories' times with packing by hand apart from computation."""
    if packing_ps == 0:
        return dict(exposed_ps)
    return {**exposed_ps, "compute": exposed_ps.get("compute", 0) - packing_ps, PACKING: packing_ps}


def sens_view(exposed_ps: Mapping[str, int], undivided: Sequence[str] = ()) -> tuple[SensPart, ...]:
    """The four parts in SENS's order of stacking; what is not assigned is last. The sum is that of the given.

    Arguments:
        exposed_ps: category, as shown, to its time.
        undivided: categories that are shown as one; a part that has them only is not known.
    """
    total = max(1, sum(exposed_ps.values()))
    found = []
    for name in (*PARTS, NOT_ASSIGNED):
        some = {one: time for one, time in exposed_ps.items() if _PART_OF.get(one, NOT_ASSIGNED) == name and time > 0}
        time = sum(some.values())
        known = bool(some) or not set(PARTS.get(name, ("",))) <= {*undivided, PACKING}
        found.append(SensPart(name, time if known else None, time / total, tuple(some)))
    return tuple(found)
