"""The name of code between communication calls: of a file, a recorded region, by samples, or by the calls around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.cures.stretches import Stretch
from logpost.analyzer.findings.evidence.between import before_text, between_text
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding, Number
from logpost.replay.columns import Int64

NO_NAME = (Number("code_without_name", 1, "count"),)
"""Neither a recorded region nor samples name it."""


@dataclass(frozen=True)
class Code:
    """What some code is called."""

    name: str
    callpath: int = -1
    """of a recorded user region, or of the longest calls on files; -1: it is none"""
    samples: tuple[Number, ...] = ()
    """that name it, or how little of it has a processor; of code without a name, that it has none"""
    in_file: bool = False
    """It mostly waits for a file, and its name is the call with the file's."""


def code_of(evidence: Evidence, program: Program, place: Stretch, *, by_visit: bool = False) -> Code:
    """The file that the slowest rank reaches there for most of the time, else the longest user region; where that
    communicates itself, or none was recorded, the function that most samples of it are in; where these do not say,
    between which calls it is: those of most of the time, or, of what is stated of visits, of all of them."""
    slowest = int(np.argmax(place.totals))
    if file := _in_files(evidence, program, place.locations[slowest], place.calls[slowest]):
        return file
    region = evidence.delaying_region(place.locations[slowest], place.callpath)
    region = region or evidence.region(evidence.parent(place.callpath))
    paths = evidence.callpaths_of(region) if region else []
    if paths and not any(evidence.calls_communication(path) for path in paths):
        return Code(region, paths[0])
    behind = place.follows_paths(program, slowest).tolist()
    of_one = len(behind) == 1 or not by_visit
    text = between_text(evidence, (behind[0], place.callpath)) if of_one else before_text(evidence, place.callpath)
    otherwise = f"{region}, {text}" if region else f"code {text}"
    return _sampled(evidence, program, place.locations[slowest], place.calls[slowest], otherwise)


def with_code(evidence: Evidence, found: Finding) -> Finding:
    """The finding with the code that most delays the rank that loses most at its place."""
    here = {location: time for (location, callpath), time in found.removes.items() if callpath == found.callpath}
    worst = max(here, key=lambda location: here[location], default=-1)
    return replace(found, cause_region=evidence.delaying_region(worst, found.callpath))


def code_before(evidence: Evidence, program: Program, location: int, callpath: int) -> Code:
    """The file that a location reaches for most of the time before its calls of a path, else the user region that most
    delays it there, else the function that most samples of that code are in, else `code before MPI_Send`."""
    (calls,) = np.nonzero((program.location == location) & (program.callpath == callpath))
    if file := _in_files(evidence, program, location, calls):
        return file
    if region := evidence.delaying_region(location, callpath):
        return Code(region)
    name = evidence.region(callpath)
    return _sampled(evidence, program, location, calls, f"code before {name}" if name else "")


def _in_files(evidence: Evidence, program: Program, location: int, calls: Int64) -> Code | None:
    ends = program.enter_ps[calls]
    found = evidence.in_files(program.file_calls, location, ends - program.gap_ps[calls], ends)
    return Code(found.name, found.callpath, in_file=True) if found is not None else None


def _sampled(evidence: Evidence, program: Program, location: int, calls: Int64, otherwise: str) -> Code:
    """By samples, which may also say that it mostly has no processor."""
    ends = program.enter_ps[calls]
    begins = ends - program.gap_ps[calls]
    found = evidence.sampled(program.samples, location, begins, ends)
    idle = evidence.on_processor(program.samples, location, begins, ends)
    if idle or found is None:
        return Code(otherwise, samples=idle or NO_NAME)
    return Code(found.text, samples=found.numbers)
