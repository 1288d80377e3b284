"""The program without the cause of a finding: replayed in the graph of its calls, beside the program as it was.

The finding is found again in the run, because what its cause is to the replay (`Hypothesis`) is columns as long as the
program, which no table keeps. A finding whose gain is a bound has no such columns: then the calls that it charges wait
for nobody, which is the most that a cure can do there, unless that saves more than the bound. Times in ps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.graph import Graph, graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis
from logpost.analyzer.findings.find import findings_of
from logpost.analyzer.findings.finding import Finding
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.schema import TABLES
from logpost.errors import InputError
from logpost.replay._native import on_path


@dataclass(frozen=True)
class Course:
    """One course of the program; ps."""

    length_ps: int
    """from its begin to the end of its last call"""
    by_location: pl.DataFrame
    """location, code_ps (between calls), work_ps (what calls do themselves), wait_ps"""
    path: pl.DataFrame
    """the critical path: location, what (`code`, `work`, `wait`: a message, or members that meet), begin_ps, end_ps"""


@dataclass(frozen=True)
class Cured:
    """A finding with the program as it was and without its cause."""

    title: str
    gain: float
    """as the finding states it"""
    before: Course
    after: Course
    replayed: bool
    """False: nothing but the waits that it charges is removed"""
    whole: bool
    """False: of the program's first part"""
    calls: int
    """of that"""
    of_ps: int | None = None
    """of which the gain is a part; None: of the length"""

    @property
    def saves(self) -> float:
        """Fraction of the length, or of what of it is in the region of interest."""
        of_ps = self.before.length_ps if self.of_ps is None else self.of_ps
        return (self.before.length_ps - self.after.length_ps) / max(1, of_ps)


def cured(run: Run, number: int) -> Cured:
    """The program without the cause of the run's finding of this number.

    Raises:
        InputError: there is no such finding, this release finds another one there, or nothing of it can be replayed.
    """
    table = run.table("findings").collect()
    if not 0 <= number < table.height:
        raise InputError(f"the run has no finding {number}")
    known = table.row(number, named=True)
    tables = {name: run.table(name) for name in TABLES if name != "findings"}
    evidence = Evidence(tables, run.manifest, run=run)
    found = _again(known, findings_of(evidence, faults=Faults()))  # of other findings: the run has counted them
    if found is None:
        raise InputError(
            f"finding {number} ({known['kind']}) is not found again by this release of logpost; analyze the archive "
            "again"
        )
    if found.replayed is not None:
        program, change = found.replayed.program, found.replayed.proposal.change
        return Cured(
            title=known["title"],
            gain=known["gain"],
            before=_course_of(program, Transformation()),
            after=_course_of(program, change),
            replayed=True,
            whole=program.whole,
            calls=program.count,
            of_ps=program.length_ps,
        )
    cure = found.cure
    graph = cure.graph if cure is not None else graph_of(evidence)
    removed = cure.hypothesis if cure is not None else _without_its_waits(graph, found)
    answer = Cured(
        title=known["title"],
        gain=known["gain"],
        before=_course(graph, Hypothesis()),
        after=_course(graph, removed),
        replayed=cure is not None,
        whole=graph.whole,
        calls=graph.count,
    )
    if cure is None and answer.saves > known["gain"]:
        raise InputError(f"{known['kind']}: its cure keeps part of these waits, and how much of them is not replayed")
    return answer


def _again(known: Mapping[str, Any], found: list[Finding]) -> Finding | None:
    """The same of those found now: gains, and so their order, may differ where more of the program is replayed."""
    same = [one for one in found if (one.kind, one.callpath) == (known["kind"], known["callpath"])]
    return next((one for one in same if list(one.ranks) == known["ranks"]), next(iter(same), None))


def _without_its_waits(graph: Graph, finding: Finding) -> Hypothesis:
    places, of_call = graph.places
    charged = np.array([place in finding.charges for place in places], dtype=np.bool_)
    freed = charged[of_call] if len(places) else np.zeros(0, dtype=np.bool_)
    if not freed.any():
        raise InputError(f"{finding.kind}: its gain is a bound on sums of times; no wait of single calls is behind it")
    return Hypothesis(freed=freed)


def _course(graph: Graph, hypothesis: Hypothesis) -> Course:
    times = graph.native.replay(hypothesis.columns(), list(hypothesis.dropped), with_path=True)
    enter, leave, waited = (times[name] for name in ("enter_ps", "leave_ps", "waited_ps"))
    gaps = graph.gap_ps if hypothesis.gap_ps is None else hypothesis.gap_ps
    calls = pl.DataFrame(
        {"location": graph.location, "code_ps": gaps, "work_ps": leave - enter - waited, "wait_ps": waited}
    )
    names = on_path()
    path = pl.DataFrame(
        {
            "location": graph.location[times["path_call"]],
            "what": [names[code] for code in times["path_what"].tolist()],
            "begin_ps": times["path_begin_ps"],
            "end_ps": times["path_end_ps"],
        },
        schema_overrides={"what": pl.String},
    )
    by_location = calls.group_by("location").agg(pl.all().sum()).sort("location")
    return Course(times["length_ps"], by_location, path)


STRETCHES = ("code", "work", "wait")
"""Of a transformed program's path, in the order of the core's codes."""


def _course_of(program: Program, change: Transformation) -> Course:
    times = program.replay(change, with_path=True)
    assert times is not None  # it was replayed when it was found
    length = times.leave_ps - times.enter_ps
    own = np.minimum(program.own_ps, length)
    code = program.gap_ps if change.code_ps is None else program.gap_ps + change.code_ps
    calls = pl.DataFrame({"location": program.location, "code_ps": code, "work_ps": own, "wait_ps": length - own})
    path = pl.DataFrame(
        {
            "location": program.location[times.path_call],
            "what": np.array(STRETCHES)[times.path_what].tolist(),
            "begin_ps": times.path_begin_ps,
            "end_ps": times.path_end_ps,
        },
        schema_overrides={"what": pl.String},
    )
    inside = calls.filter(program.inside)
    return Course(times.program_ps, inside.group_by("location").agg(pl.all().sum()).sort("location"), path)
