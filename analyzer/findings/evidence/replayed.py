"""What calls take where code takes another time: the program replayed on its machine, with NICs that serve in turn.

The graph of the calls gives each message what it took. Where ranks start at other times, other messages meet: those of
ranks that share a NIC, which came apart because one of them was late, come at once and queue. So the gaps of a
hypothesis go through the what-if replay (`Engine`), in which NICs take messages as they come, handshakes wait for both
sides, and collective operations are messages; with the gaps as they were, that gives back the run. What a call takes
there it takes in the graph: at least that, and what it waits for comes no later.

Where the program is not replayed (a part of it, no machine that fits, clocks that contradict each other, calls that do
less themselves) or polls, which the graph sees through as the other replay does not, operations alone are played
(`met_again`). Times in ps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.met_again import met_again
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis
from logpost.analyzer.run_program import program_of
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay.columns import Int32, Int64
from logpost.replay.whatif import Engine, Scenario


def replayed(evidence: Evidence, graph: Graph, hypothesis: Hypothesis) -> Hypothesis:
    """The same hypothesis with what its calls take if they meet as it has them meet."""
    fits = graph.whole and hypothesis.work_ps is None and not graph.polls.any()
    engine = _engine(evidence) if fits else None
    if engine is None or hypothesis.gap_ps is None:
        return met_again(graph, hypothesis)
    (numbers,) = np.nonzero(graph.row_of >= 0)
    rows = graph.row_of[numbers]
    longer = np.zeros(engine.calls, dtype=np.int64)
    longer[numbers] = (hypothesis.gap_ps - graph.gap_ps)[rows]
    times = engine.times_with_code(longer)
    if times is None:
        return met_again(graph, hypothesis)
    enter, leave = graph.enter_ps.copy(), graph.leave_ps.copy()
    enter[rows], leave[rows] = (ends[numbers] for ends in times)
    call, source, message = (graph.waits[name] for name in ("call", "source", "message"))
    lag = np.maximum(0, leave[call] - np.where(message < 0, _met(graph, enter)[call], enter[source]))
    return replace(
        hypothesis,
        work_ps=np.minimum(graph.work_ps, leave - enter),
        stay_ps=leave - enter,
        most_ps=_least_of(message, lag, graph.messages.count),
        member_ps=_least_of(np.where(message < 0, call, -1), lag, graph.count),
    )


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
def _engine(evidence: Evidence) -> Engine | None:
    """The replay of the program; None: there is none."""
    run = evidence.run
    if run is None or run.manifest.machine.refused:
        return None
    locations, callpaths = (run.facts(name).select(pl.len()).collect().item() for name in ("locations", "callpaths"))
    try:
        machine = replay_parameters(load_machine(run.machine_file))
        recorded = Scenario(machine, run.manifest.machine.asynchronous_progress)
        engine = Engine(program_of(run), recorded, locations=locations, callpaths=callpaths)
        engine.graph(recorded)
    except InputError:  # the recorded order contradicts itself, or the tables do
        return None
    return engine
