"""Time in calls that is not explained, where it is more than a tenth of the time at a call path: what no part of the
model explains; what an estimated machine does not divide; and calls that no model describes, with the tracer's flushes
of its buffer.

It is stated behind all cures, with what to measure to know more, and what the trace hints at: ranks that outnumber
cores, strided data whose packing the machine file lacks, receives that search many messages that wait to be received,
one-sided transfers, whose values are those of messages, ranks at a distance of which the machine has no values.
What removes it is known only once it is explained. Replayed is the most that this could save: in the graph the
messages of all such calls take what the machine says, and calls that wait for none last so much less. At the other end
of the gain none of it can be removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, by_callpath, column, offered
from logpost.analyzer.findings.cures.program import Program, Rows, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MUCH, UNEXPLAINED, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.wide import exact_sum
from logpost.machines.calibration.while_recording import NAME as MEASURED
from logpost.replay.columns import Int64

KINDS = (UNEXPLAINED,)
FLUSH = "(trace buffer flush)"
"""The reader's name of the region in which the tracer writes its buffer."""
DISTANCES = {"one node": ("same_socket", "same_node"), "different nodes": ("other_node",)}
"""Of ranks, and their locality classes; an archive may not say which ranks of a node share a socket."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each kind of time that is not explained."""
    kinds = {"not_divided": evidence.undivided, "mpi_other": ("mpi_other",), "": ("residual",)}
    if evidence.manifest.machine.contradicts_trace:
        del kinds[""]  # its residual is what values leave that are not this machine's
    for kind, categories in kinds.items():
        known = kind == "not_divided" or evidence.divides(*categories)
        if categories and known and evidence.worth_a_look(categories):
            yield from offered(evidence, partial(propose, evidence, kind, categories), of_messages=False)


def propose(evidence: Evidence, kind: str, categories: tuple[str, ...], program: Program) -> Iterator[Proposal]:
    """Nothing of these categories at the places with much of it; what the tracer does is apart."""
    recorded = ~program.is_kind("not_recorded")
    residual, length = program.spent_ps(*categories) * recorded, program.leave_ps - program.enter_ps
    of_place = {
        callpath: calls
        for callpath, calls in by_callpath(program, np.flatnonzero(program.inside)).items()
        if exact_sum(residual[calls]) > MUCH * exact_sum(length[calls])
    }
    flushes = {path: calls for path, calls in of_place.items() if evidence.region(path) == FLUSH}
    others = {path: calls for path, calls in of_place.items() if path not in flushes}
    for places in (flushes, others):
        if places:
            yield _without(evidence, program, kind, places, residual)


def _without(
    evidence: Evidence, program: Program, kind: str, of_place: Mapping[int, Rows], residual: Int64
) -> Proposal:
    """Nothing of a residual at these places."""
    messages, length = program.messages, program.leave_ps - program.enter_ps
    calls = np.concatenate([*of_place.values()])
    alone = calls[program.own_ps[calls] == length[calls]]
    lasts = column(program.count)
    lasts[alone] = (length - residual)[alone]
    here = np.isin(messages.send_call, calls) | np.isin(messages.received_call, calls)
    unexplained = exact_sum(residual[calls])
    worst = max(of_place, key=lambda path: exact_sum(residual[of_place[path]]))
    polls = kind == "mpi_other" and program.is_kind("test", "probe")[of_place[worst]].all()
    return Proposal(
        kind=UNEXPLAINED,
        callpath=worst,
        callpaths=frozenset(of_place),
        at_fault=frozenset(program.location[calls[residual[calls] > 0]].tolist()),
        change=Transformation(lasts_ps=lasts, as_modelled=here.astype(np.uint8)),
        other_ends=(Transformation(),),
        numbers=(
            Number("share", unexplained / exact_sum(length[calls]), "1"),
            Sum("unexplained", unexplained, "ps"),
            *([Sum(kind, unexplained, "ps")] if kind else []),
            *([Number("polls", 1, "count")] if polls else []),
            *([Number("flushes", 1, "count")] if evidence.region(worst) == FLUSH else []),
            *([] if kind == "mpi_other" else _hints(evidence)),
            *([] if kind else _unexpected(program, calls, residual)),
            *([] if kind else _of_machine(evidence, program, calls, residual)),
        ),
        confidence=LOW,
        certainty="what the machine's values leave is measured; whether it can be removed is not known",
    )


def _unexpected(program: Program, calls: Rows, residual: Int64) -> Iterator[Number]:
    """How many messages have been sent to a rank before it posts the receive of one, and are received later, where a
    time for each of them halves how far the times deviate: the library searches them."""
    messages = program.messages
    got = np.flatnonzero(np.isin(messages.received_call, calls))
    post = program.enter_ps[messages.post_call]
    sent, received = program.leave_ps[messages.send_call], program.leave_ps[messages.received_call]
    waiting = np.zeros(len(got), dtype=np.int64)
    for location in np.unique(program.receiver[got]).tolist():
        all_of, here = program.receiver == location, program.receiver[got] == location
        before = [np.sort(times[all_of]) for times in (sent, received)]
        of_sent, of_received = (np.searchsorted(times, post[got[here]], side="right") for times in before)
        waiting[here] = of_sent - of_received
    got, waiting = got[waiting > 0], waiting[waiting > 0]
    if not len(got):
        return
    time = residual[messages.received_call[got]].astype(np.float64)
    each = float(np.median(time / waiting))
    # Absolute deviations: a rank without a core for a moment decides nothing.
    if np.abs(time - each * waiting).sum() < (1 - MAINLY) * np.abs(time - np.median(time)).sum():
        yield Number("unexpected", float(waiting.mean()), "count")
        yield Number("time_of_each", each, "ps")


def _of_machine(evidence: Evidence, program: Program, calls: Rows, residual: Int64) -> Iterator[Number]:
    """Where the machine is measured: how, and what of these calls its values are not of."""
    machine = evidence.manifest.machine
    if machine.origin == "estimated":
        return
    measured = machine.origin == "recorded" and machine.name == MEASURED
    yield Number("measured_while_recording" if measured else "stated_machine", 1, "count")
    ends = {"messages": ("send_call", "recv_call"), "transfers": ("call", "complete_call")}
    found = {}
    for name, columns in ends.items():
        here = pl.any_horizontal(pl.col(column).is_in(calls.tolist()) for column in columns)
        found[name] = evidence.tables[name].filter(here).select(*columns, pl.col("locality").cast(pl.String)).collect()
    transferring = np.unique(found["transfers"].select(ends["transfers"]).to_numpy())
    most = exact_sum(residual[np.intersect1d(calls, transferring)]) > MAINLY * exact_sum(residual[calls])
    if most and not program.measures_transfers:
        yield Number("one_sided", found["transfers"].height, "count")
    stated = {value.locality for value in machine.values}
    for distance, localities in DISTANCES.items():
        count = sum(int(table["locality"].is_in(localities).sum()) for table in found.values())
        if count and not stated.intersection(localities):
            yield Number(f"between[{distance}]", count, "count")


def _hints(evidence: Evidence) -> Iterator[Number]:
    """What the trace shows of what the machine's values lack."""
    if evidence.scheduled():
        yield Number("ranks_without_core", 1, "count")
    strided = evidence.tables["messages"].select((pl.col("layout") >= 0).sum()).collect().item()
    if strided and not any(evidence.exposed_of(("middleware",)).values()):
        yield Number("strided_messages", strided, "count")
