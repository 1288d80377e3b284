"""What a cure saves at both ends of the machine's intervals.

A cure that takes queues away, or bounds what a message or an operation takes, leaves what the machine says that these
take at least. With a value of that off by e, so much more or less is left. Where the latency is only bounded, the graph
of the calls holds rendezvous whose requests and answers take nothing; at the other end they take as long as they can.
Times in ps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import LONGER, Graph
from logpost.analyzer.findings.evidence.machine_values import longest_latency_ps, unit_ps
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.queues import within_nodes
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis
from logpost.analyzer.run.manifest import MachineValue
from logpost.replay.columns import Int64

Floats = npt.NDArray[np.float64]
ONCE = ("L", "o_s", "o_r")
"""What each message takes once."""
BY_BYTE = "G"
WITHIN = ("same_socket", "same_node")
"""Locality classes within a node; the largest error counts."""
NO_BOUND = np.iinfo(np.int64).max


def with_messages_off(evidence: Evidence, cure: Cure) -> Iterator[Cure]:
    """The cure where every value of the machine is at its low, and at its high end; none where it takes nothing from
    the machine, or all of that is exact."""
    if cure.at_least is not None:
        yield Cure(cure.graph, cure.at_least)
    graph = cure.graph
    if graph.whole and graph.messages.rendezvous.any() and not evidence.divides("latency"):
        yield Cure(_slow_graph(evidence), cure.hypothesis)
    if not cure.hypothesis.takes_parts:
        return
    for sign in (-1, 1):
        by = _off(evidence, graph, sign)
        relative = _relative(evidence, sign)
        if by.any() or relative:
            yield Cure(graph, _moved(cure, sign * by, 1.0 + sign * relative))


@once
def _slow_graph(evidence: Evidence) -> Graph:
    """The whole program with the longest latency that there may be."""
    longest = min(longest_latency_ps(evidence.manifest.machine), float(evidence.slowest_program_ps))
    return Graph(evidence, LONGER, longest)


def _moved(cure: Cure, by: Int64, factor: float) -> Hypothesis:
    """The hypothesis where messages take so much more without their cause, and operations so many times as much."""
    known, graph = cure.hypothesis, cure.graph
    columns: dict[str, Any] = {}
    if known.less_ps is not None:
        columns["less_ps"] = np.where(known.less_ps > 0, np.maximum(0, known.less_ps - by), known.less_ps)
    if known.most_ps is not None:
        columns["most_ps"] = np.where(known.most_ps < NO_BOUND, np.maximum(0, known.most_ps + by), NO_BOUND)
    if known.lag_ps is not None:
        columns["lag_ps"] = np.maximum(0, known.lag_ps + by)
    if known.member_ps is not None:
        members = known.member_ps.copy()
        members[members < NO_BOUND] = np.rint(members[members < NO_BOUND] * factor)
        columns["member_ps"] = members
        if known.work_ps is not None:
            less = known.work_ps < graph.work_ps
            work = np.minimum(graph.work_ps, np.rint(known.work_ps * factor).astype(np.int64))
            columns["work_ps"] = np.where(less, work, known.work_ps)
    return replace(known, **columns)


def _off(evidence: Evidence, graph: Graph, sign: int) -> Int64:
    """By message of the graph: by how much it may take less (sign -1), or more (1)."""
    messages = graph.messages
    within = within_nodes(evidence, messages)
    off: Floats = np.zeros(messages.count)
    for localities, here in ((WITHIN, within), (("other_node",), ~within)):
        size = messages.bytes[here].astype(np.float64)
        off[here] = np.max([_of_class(evidence, locality, size, sign) for locality in localities], axis=0)
    return np.rint(off).astype(np.int64)


def _of_class(evidence: Evidence, locality: str, size: Floats, sign: int) -> Floats:
    off = np.zeros(len(size))
    for parameter in (*ONCE, BY_BYTE):
        errors = _errors(evidence, locality, parameter, sign)
        if errors:
            ranges = np.array(list(errors))
            at = np.minimum(np.searchsorted(ranges, size), len(ranges) - 1)
            off += np.array(list(errors.values()))[at] * (size if parameter == BY_BYTE else 1.0)
    return off


def _errors(evidence: Evidence, locality: str, parameter: str, sign: int) -> Mapping[float, float]:
    """Largest size of a range, ascending, to what a value may be off there; ps, or ps per byte."""
    values = [
        value
        for value in evidence.manifest.machine.values
        if (value.locality, value.parameter) == (locality, parameter) and unit_ps(value)
    ]
    upper = {np.inf if value.up_to_bytes is None else float(value.up_to_bytes): _error(value, sign) for value in values}
    return dict(sorted(upper.items()))


def _error(value: MachineValue, sign: int) -> float:
    end = value.high if sign > 0 else value.low
    error = abs(end - value.value) if end is not None else value.uncertainty or 0.0
    return error * unit_ps(value)


def _relative(evidence: Evidence, sign: int) -> float:
    """Of what a message takes between the ranks that are farthest apart: by how much of that it may be off."""
    locality = "other_node" if evidence.manifest.hosts.nodes > 1 else "same_node"
    took = sum(
        value.value * unit_ps(value)
        for value in evidence.manifest.machine.values
        if value.locality == locality and value.parameter in ONCE and value.up_to_bytes is None
    )
    return float(_of_class(evidence, locality, np.zeros(1), sign)[0] / took) if took > 0 else 0.0
