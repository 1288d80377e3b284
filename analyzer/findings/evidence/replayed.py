"""What calls take where code takes another time: the program replayed on its machine, with NICs that serve in turn.

The graph of the calls gives each message what it took. Where ranks start at other times, other messages meet: those of
ranks that share a NIC, which came apart because one of them was late, come at once and queue. So the gaps of a
hypothesis go through the what-if replay (`Engine`), in which NICs take messages as they come, handshakes wait for both
sides, and collective operations are messages; with the gaps as they were, that gives back the run. What a call takes
there it takes in the graph: at least that, and what it waits for comes no later. A call that is over there before
something that the graph has it wait for (the last member of a reduction, of which an inner one needs few; a handshake
that another call answered) waits for nobody.

An estimated machine may only bound what a byte takes, and state that all of a message's time is latency, which queues
for nothing. The other end of what it may be, all of the shortest message's time for its bytes, is replayed as well.

Calls that take what comes first (Waitany) take something else then, and what a rank does with it comes in that order.
The graph keeps the recorded one; so what the program saves with another order is read off the replay itself.

Where the program is not replayed (a part of it, no machine that fits, clocks that contradict each other), or polls, as
the graph sees through and the other replay does not, operations alone are played (`met_again`). So they are where the
latency is only bounded: messages that take so long would be waited for where nobody did, while the graph has what these
took. Times in ps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.machine_values import states_anything
from logpost.analyzer.findings.evidence.met_again import met_again
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis, Saving, saving_if
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.replayable import Replayable
from logpost.errors import InputError
from logpost.replay.columns import Int32, Int64
from logpost.replay.graph import Engine, Scenario


def saving_replayed(evidence: Evidence, graph: Graph, hypothesis: Hypothesis) -> Saving:
    """A hypothesis of other gaps beside the run as it was."""
    return saving_of(cure_replayed(evidence, graph, hypothesis))


def saving_of(cure: Cure) -> Saving:
    """A cure beside the run as it was: of the length that it has."""
    saving = saving_if(cure.graph, cure.hypothesis)
    if saving.cure is None:
        return saving
    cure = replace(cure, length_ps=saving.cure.length_ps if cure.length_ps is None else cure.length_ps)
    return replace(saving, gain=cure.gain(), cure=cure)


def is_replayable(evidence: Evidence, graph: Graph) -> bool:
    """Whether another replay of the program than the graph's says what its calls take."""
    return graph.whole and not graph.polls.any() and evidence.divides("latency")


def cure_replayed(evidence: Evidence, graph: Graph, hypothesis: Hypothesis) -> Cure:
    """The program with other gaps; its length is told where its calls come in another order."""
    replays = _replays(evidence) if is_replayable(evidence, graph) else ()
    found = [one for engine in replays if (one := _through(engine, graph, hypothesis)) is not None]
    if not found:
        return Cure(graph, met_again(graph, hypothesis))
    first, *others = found
    return replace(first, at_least=others[0].hypothesis if others else None)


def _through(engine: Engine, graph: Graph, hypothesis: Hypothesis) -> Cure | None:
    """The same hypothesis with what its calls take if they meet as it has them meet."""
    assert hypothesis.gap_ps is not None
    (numbers,) = np.nonzero(graph.row_of >= 0)
    rows = graph.row_of[numbers]
    longer = np.zeros(engine.calls, dtype=np.int64)
    longer[numbers] = (hypothesis.gap_ps - graph.gap_ps)[rows]
    times = engine.times_with_code(longer)
    if times is None:
        return None
    enter, leave = graph.enter_ps.copy(), graph.leave_ps.copy()
    enter[rows], leave[rows] = (ends[numbers] for ends in times)
    return followed(graph, hypothesis, enter, leave)


def followed(graph: Graph, hypothesis: Hypothesis, enter: Int64, leave: Int64) -> Cure:
    """The same hypothesis with what its calls take where these are their enters and leaves; its length is told where
    they then come in another order than in the graph."""
    call, source, message = (graph.waits[name] for name in ("call", "source", "message"))
    awaited = np.where(message < 0, _met(graph, enter)[call], enter[source])
    lag = np.maximum(0, leave[call] - awaited)
    freed = np.zeros(graph.count, dtype=np.bool_) if hypothesis.freed is None else hypothesis.freed.copy()
    freed[call[awaited > leave[call]]] = True  # it was over before: inner members of a tree, who asks in another call
    cured = replace(
        hypothesis,
        calibrated=True,
        freed=freed,
        work_ps=np.minimum(graph.work_ps if hypothesis.work_ps is None else hypothesis.work_ps, leave - enter),
        stay_ps=leave - enter,
        most_ps=_least_of(message, lag, graph.messages.count),
        member_ps=_least_of(np.where(message < 0, call, -1), lag, graph.count),
    )
    in_order = bool((np.diff(enter) >= 0)[graph.follows[1:]].all())
    return Cure(graph, cured, length_ps=None if in_order else int(leave.max()) - graph.begin_ps)


def _met(graph: Graph, enter_ps: Int64) -> Int64:
    """By call: when the last member of its operation enters."""
    found: Int64 = enter_ps.copy()
    members = graph.members["call"]
    of = np.unique(graph.members["instance"], return_inverse=True)[1]
    last = np.zeros(int(of.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, of, enter_ps[members])
    found[members] = last[of]
    return found


def _least_of(of: Int32, lag: Int64, count: int) -> Int64:
    """The shortest lag of each."""
    found: Int64 = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(found, of[of >= 0], lag[of >= 0])
    return found


@once
def _replays(evidence: Evidence) -> tuple[Engine, ...]:
    """Replays of the program: on its machine, and at the other end of what a byte takes, where that is only bounded;
    none where there is no machine."""
    return _engines(evidence.run) if evidence.run is not None else ()


def engine_of(run: Run) -> Engine | None:
    """A replay of a run's program on its machine; None: there is no machine, or the program is not replayed."""
    return next(iter(_engines(run, bounds=False)), None)


def _engines(run: Run, *, bounds: bool = True) -> tuple[Engine, ...]:
    if run.manifest.machine.refused or not states_anything(run.manifest.machine):
        return ()
    try:
        replayable = Replayable(run)
        ends = (replayable.recorded, *(_slowest(run, replayable.recorded) if bounds else ()))
        found = tuple(replayable.engine(one) for one in ends)
        for engine in found:
            engine.graph(engine.recorded)
    except InputError:  # the recorded order contradicts itself, or the tables do
        return ()
    return found


def _slowest(run: Run, recorded: Scenario) -> tuple[Scenario, ...]:
    """The machine on which all of the shortest messages' time was for their bytes, if that alone bounds it."""
    bounds = {
        value.locality: value.high
        for value in run.manifest.machine.values
        if value.parameter == "G" and value.bound_only and value.high
    }
    machine = recorded.machine
    for locality, high in bounds.items():
        machine = machine.with_value("G", high, (locality,)).with_value("L", 0.0, (locality,))
    return (replace(recorded, machine=machine),) if bounds else ()
