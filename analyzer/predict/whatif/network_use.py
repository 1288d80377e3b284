"""What became of the network: how much of it was used, and what messages waited for it, before and after."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.analyzer.predict.whatif.plan import Plan
from logpost.replay.graph import Outcome, Scenario

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
    why = plan.why_not if plan.why_not or after.network is not None else "no message is between nodes"
    recorded, planned = _use(plan, plan.recorded, before), _use(plan, plan.planned, after)
    notes = [] if planned is None else plan.network_of(plan.planned).notes
    of_network = (note for note in notes if note.startswith("network contention: "))
    return NetworkChange(recorded, planned, why, next(of_network, "").removeprefix("network contention: "))


def _use(plan: Plan, scenario: Scenario, outcome: Outcome) -> Use | None:
    use = outcome.network
    if use is None:
        return None
    network = plan.network_of(scenario)
    busiest, utilisation = "", 0.0
    if len(use.link_busy_ps) and use.link_busy_ps.max() > 0:
        link = int(use.link_busy_ps.argmax())
        busiest = f"{network.links[link][0]} -> {network.links[link][1]}"
        utilisation = float(use.link_busy_ps[link]) / max(outcome.makespan_ps, 1)
    return Use(use.messages, use.delayed, use.waited_ps, busiest, utilisation)
