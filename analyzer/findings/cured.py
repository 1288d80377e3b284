"""The program without the cause of a finding, replayed, and the program as it was.

The finding is found again in the run, because its cure (`Transformation`) is columns as long as the program, which no
table keeps. Times in ps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import findings_of
from logpost.analyzer.findings.finding import Finding
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.schema import TABLES
from logpost.errors import InputError

STRETCHES = ("code", "work", "wait")
"""Of a transformed program's path, in the order of the core's codes."""


@dataclass(frozen=True)
class Execution:
    """One execution of the program; ps."""

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
    before: Execution
    after: Execution
    part: str
    """of the program, where not all of it is replayed (`Program.part_text`); else empty"""
    calls: int
    """of that"""
    of_ps: int
    """of which the gain is a part: the length, or what of it is in the region of interest"""

    @property
    def saves(self) -> float:
        """Fraction of the time."""
        return (self.before.length_ps - self.after.length_ps) / max(1, self.of_ps)


def cured(run: Run, number: int) -> Cured:
    """The program without the cause of the run's finding of this number; the first is 0, which people call 1.

    Raises:
        InputError: there is no such finding, or this release finds another one there.
    """
    table = run.table("findings").collect()
    if not 0 <= number < table.height:
        has = f"the run's findings are 1 to {table.height}" if table.height else "the run has no finding"
        raise InputError(f"finding {number + 1}: {has}; logpost report {run.path} shows them")
    known = table.row(number, named=True)
    tables = {name: run.table(name) for name in TABLES if name != "findings"}
    evidence = Evidence(tables, run.manifest, run=run)
    found = _again(known, findings_of(evidence, faults=Faults()))  # of other findings: the run has counted them
    if found is None:
        raise InputError(
            f"finding {number + 1} ({known['kind']}) is not found again by this release of logpost; analyze the "
            "archive again"
        )
    program, change = found.replayed.program, found.replayed.proposal.change
    return Cured(
        title=known["title"],
        gain=known["gain"],
        before=_execution_of(program, Transformation()),
        after=_execution_of(program, change),
        part=program.part_text,
        calls=program.count,
        of_ps=program.length_ps,
    )


def _again(known: Mapping[str, Any], found: list[Finding]) -> Finding | None:
    """The same of those found now: gains, and so their order, may differ where more of the program is replayed."""
    same = [one for one in found if (one.kind, one.callpath) == (known["kind"], known["callpath"])]
    return next((one for one in same if list(one.ranks) == known["ranks"]), next(iter(same), None))


def _execution_of(program: Program, change: Transformation) -> Execution:
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
    return Execution(times.program_ps, inside.group_by("location").agg(pl.all().sum()).sort("location"), path)
