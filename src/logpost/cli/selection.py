"""`--from --to --region --phase`: the part of a program that a report, a comparison or an analysis is to be about.

Times are written with their unit (1.5s, 200ms, 10us) or as a part of the run (25%); they count from the trace's start.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from logpost.errors import InputError

if TYPE_CHECKING:
    from logpost.analyzer.pipeline.request import Request
    from logpost.analyzer.run.directory import Run
    from logpost.analyzer.run.roi import RegionOfInterest

FromOption = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Start of the region of interest: 1.5s, 200ms, or 25% of the run."),
]
ToOption = Annotated[str | None, typer.Option("--to", metavar="TIME", help="End of the region of interest.")]
RegionOption = Annotated[
    str | None,
    typer.Option("--region", metavar="NAME", help="From the first to the last call of this region, on each rank."),
]
PhaseOption = Annotated[
    int | None,
    typer.Option("--phase", metavar="LEVEL", help="From the first MPI_Pcontrol(LEVEL) to the end of its last."),
]

_PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "µs": 10**6, "ns": 10**3, "ps": 1, "min": 60 * 10**12}
_TIME = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zµ%]+)\s*")


@dataclass(frozen=True)
class Moment:
    """A point in a run: picoseconds from its start, or a fraction of its length."""

    text: str
    ps: int | None
    fraction: float | None = None

    def at(self, length_ps: int) -> int:
        """Picoseconds from the start of a run of this length."""
        return self.ps if self.ps is not None else round((self.fraction or 0.0) * length_ps)


def moment(option: str, text: str) -> Moment:
    """Read a time with a unit, or a part of the run.

    Raises:
        InputError: it is neither.
    """
    match = _TIME.fullmatch(text)
    number, unit = (float(match[1]), match[2]) if match else (math.nan, "")
    if unit == "%" and number <= 100:
        return Moment(text, None, number / 100)
    if unit in _PS:
        return Moment(text, round(number * _PS[unit]))
    raise InputError(f"{option} {text} is not a time; write {option} 1.5s, {option} 200ms or {option} 25% (of the run)")


@dataclass(frozen=True)
class Selection:
    """What the four options name."""

    begin: Moment | None
    end: Moment | None
    region: str | None
    phase: int | None

    @property
    def everything(self) -> bool:
        """Whether none of the options is given."""
        return self == Selection(None, None, None, None)

    def within(self, length_ps: int) -> RegionOfInterest:
        """The region of interest of a run of this length.

        Raises:
            InputError: it is empty.
        """
        from logpost.analyzer.run.roi import RegionOfInterest

        begin = None if self.begin is None else self.begin.at(length_ps)
        end = None if self.end is None else self.end.at(length_ps)
        if begin is not None and end is not None and begin >= end:
            assert self.begin is not None
            assert self.end is not None
            raise InputError(f"--from {self.begin.text} is not before --to {self.end.text}; swap them")
        if begin is not None and begin >= length_ps:
            assert self.begin is not None
            raise InputError(f"--from {self.begin.text} is after the end of the run, which is {length_ps / 1e12:.6g} s")
        return RegionOfInterest(begin, end, self.region, self.phase)


def selection(begin: str | None, end: str | None, region: str | None, phase: int | None) -> Selection:
    """Read the options.

    Raises:
        InputError: one of them cannot be read.
    """
    return Selection(
        None if begin is None else moment("--from", begin), None if end is None else moment("--to", end), region, phase
    )


def scoped(run: Run, chosen: Selection) -> Run:
    """The run, or its part within the region of interest, computed from its own tables.

    Raises:
        InputError: the region of interest is empty, or cannot be computed from the run.
    """
    if chosen.everything:
        return run
    from logpost.analyzer.pipeline.rescope import rescope

    return rescope(run, chosen.within(run.manifest.clock.length_ps))


def requested(request: Request, chosen: Selection) -> Request:
    """The request with the region of interest, for `analyze`, which does not know the run's length yet.

    Raises:
        InputError: a time is a part of the run.
    """
    if chosen.everything:
        return request
    for option, given in (("--from", chosen.begin), ("--to", chosen.end)):
        if given is not None and given.ps is None:
            raise InputError(
                f"{option} {given.text}: analyze does not know the run's length yet; give a time with its unit, or "
                f"analyze without it and pass {option} to report"
            )
    return replace(request, roi=chosen.within(2**62))
