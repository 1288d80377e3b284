"""What became of the network: how much of it was used, and what messages waited for it, before and after."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.analyzer.machine.network import NetworkTold
from logpost.analyzer.predict.whatif.plan import Plan
from logpost.replay.graph import Outcome

SATURATED = 0.95
"""A link that carries data for so much of the makespan bounds it: no message order changes that."""


@dataclass(frozen=True)
class Use:
    """Of one replay. `busiest`: the link that carries data longest; empty where none does."""

    messages: int
    delayed: int
    waited_ps: int
    busiest: str
    utilisation: float
    """share of the makespan in which the busiest link carries data"""

    @property
    def saturated(self) -> bool:
        """Whether the busiest link alone explains the makespan."""
        return self.utilisation >= SATURATED


@dataclass(frozen=True)
class NetworkChange:
    """Before and after; None where contention is not replayed, for the reason `why_not`."""

    before: Use | None
    after: Use | None
    why_not: str
    topology: str

    @property
    def modelled(self) -> bool:
        """Whether messages share the network in the replay."""
        return self.after is not None


def network_change(plan: Plan, before: Outcome, after: Outcome) -> NetworkChange:
    """How the network is used, as recorded and as planned."""
    told = plan.told(plan.planned)
    notes = [note for note in told.notes if note.startswith("network contention: ")]
    why = plan.why_not if plan.why_not or after.network is not None else "no message is between nodes"
    return NetworkChange(
        _use(plan.told(plan.recorded), before),
        _use(told, after),
        why,
        notes[0].removeprefix("network contention: ") if notes else "",
    )


def _use(told: NetworkTold, outcome: Outcome) -> Use | None:
    use = outcome.network
    if use is None:
        return None
    busiest, utilisation = "", 0.0
    if len(use.link_busy_ps) and use.link_busy_ps.max() > 0:
        link = int(use.link_busy_ps.argmax())
        busiest = f"{told.links[link][0]} -> {told.links[link][1]}"
        utilisation = float(use.link_busy_ps[link]) / max(outcome.makespan_ps, 1)
    return Use(use.messages, use.delayed, use.waited_ps, busiest, utilisation)
