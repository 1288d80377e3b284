"""Several settings of a plan at once: in one pass, but for those under which messages arrive at NICs in another
order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logpost.replay.graph import Engine, Outcome, Scenario

Intervals = Callable[[Engine, Sequence[Scenario], Sequence[Outcome]], list[tuple[int, int]]]
"""Of makespans that an engine predicts."""


def replayed(
    engine: Engine, scenarios: Sequence[Scenario], intervals: Intervals, *, same_messages: bool
) -> tuple[list[Engine], list[Outcome], list[tuple[int, int]]]:
    """By scenario: the engine that its messages' order needs, what it finds, and the makespan's interval.

    Args:
        engine: of the plan.
        scenarios: what is replayed.
        intervals: of the makespans.
        same_messages: whether all have the protocols and links that the engine's messages have: only then can their
            order be another one.
    """
    used = engine.in_arrival_order(scenarios) if same_messages else [engine] * len(scenarios)
    kept = [i for i, one in enumerate(used) if one is engine]
    groups = [kept] * bool(kept) + [[i] for i, one in enumerate(used) if one is not engine]
    outcomes: dict[int, Outcome] = {}
    within: dict[int, tuple[int, int]] = {}
    for group in groups:
        some = [scenarios[i] for i in group]
        found = used[group[0]].replay(some)
        outcomes.update(zip(group, found, strict=True))
        within.update(zip(group, intervals(used[group[0]], some, found), strict=True))
    numbers = range(len(scenarios))
    return used, [outcomes[i] for i in numbers], [within[i] for i in numbers]
