"""What recording adds to a call, as rows of one table for all collectors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

BAR_NS = 40.0
"""A call may cost so much more."""
STACKS = (16, 1, 0)
"""Callers kept of each call: as by default, the direct one, none. The bar holds for each."""
MPIS = {"Open MPI": ("mpicc.openmpi", "mpirun.openmpi"), "MPICH": ("mpicc.mpich", "mpirun.mpich")}


@dataclass(frozen=True)
class Row:
    """The time of some calls together, ns, without recording and with it."""

    collector: str
    what: str
    without_ns: float
    with_ns: float
    calls: int = 1
    """Records: a region's begin and end are two."""
    note: str = ""

    @property
    def per_call_ns(self) -> float:
        """What recording adds to one call."""
        return (self.with_ns - self.without_ns) / self.calls

    @property
    def missed(self) -> bool:
        """A call costs more than it may."""
        return self.per_call_ns > BAR_NS


def header() -> str:
    """The table's first line."""
    return f"{'collector':18} {'what':44} {'without':>10} {'with':>10} {'per call':>10}   bar {BAR_NS:.0f} ns"


def line(row: Row) -> str:
    """A line of the table."""
    verdict = "MISSED" if row.missed else "ok"
    figures = f"{row.without_ns:7.1f} ns {row.with_ns:7.1f} ns {row.per_call_ns:7.1f} ns"
    return f"{row.collector:18} {row.what:44} {figures}   {verdict}{row.note}"


def show(rows: Iterable[Row]) -> int:
    """Print each row of the table as it is measured; how many miss the bar, 1 where there is none."""
    print(header())
    missed, shown = 0, 0
    for row in rows:
        print(line(row), flush=True)
        shown += 1
        missed += row.missed
    return missed if shown else 1


def environment() -> dict[str, str]:
    """Open MPI may run as root."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def recording(folder: Path, *options: str) -> list[str]:
    """The words before a command that is recorded."""
    words = [sys.executable, "-m", "logpost.cli.app", "record", "--quiet", "--calibrate", "none", "-o", str(folder)]
    return [*words, *options, "--"]
