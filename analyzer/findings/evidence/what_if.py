"""How long the program takes under a hypothesis: other gaps, work or waits in the graph of its calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from logpost.analyzer.findings.evidence.graph import Graph, Node, Wait

GapOf = Callable[[int, Node], float]
WorkOf = Callable[[int, Node], float]
WaitsOf = Callable[[int, Node], Iterable[Wait]]


@dataclass(frozen=True)
class Outcome:
    """A pass through the graph; ps."""

    length: float
    """from the begin of the program to its last call's end"""
    waited: Mapping[tuple[int, int], float]
    """(location, call path) to the time in calls there that is no work"""


def outcome_if(
    graph: Graph, *, gap: GapOf | None = None, work: WorkOf | None = None, waits: WaitsOf | None = None
) -> Outcome:
    """What happens with these functions of a call in place of what was measured."""
    enter: dict[int, float] = {}
    leave: dict[int, float] = {}
    waited: dict[tuple[int, int], float] = defaultdict(float)
    for call, left in graph.order:
        node = graph.nodes[call]
        if not left:
            code = node.gap if gap is None else gap(call, node)
            begin = leave[node.before] if node.before >= 0 else node.enter - node.gap
            enter[call] = begin + code
            continue
        done = end = enter[call] + (node.work if work is None else work(call, node))
        for wait in node.waits if waits is None else waits(call, node):
            end = max(end, enter[wait.call] + wait.lag)
        leave[call] = end
        waited[node.location, node.callpath] += end - done
    last = max((leave[call] for call in graph.last.values()), default=graph.begin_ps)
    return Outcome(last - graph.begin_ps, waited)


@dataclass(frozen=True)
class Saving:
    """What a hypothesis saves."""

    gain: float
    """fraction of the time"""
    removes: Mapping[tuple[int, int], float]
    """(location, call path) to the waiting there that disappears; ps"""


def saving_if(
    graph: Graph, *, gap: GapOf | None = None, work: WorkOf | None = None, waits: WaitsOf | None = None
) -> Saving:
    """A hypothesis beside the run as it was."""
    if graph.length_ps <= 0:
        return Saving(0.0, {})
    before, after = graph.measured, outcome_if(graph, gap=gap, work=work, waits=waits)
    removes = {place: time - after.waited.get(place, 0.0) for place, time in before.items()}
    return Saving(
        gain=max(0.0, 1.0 - after.length / graph.length_ps),
        removes={place: time for place, time in removes.items() if time > 0},
    )
