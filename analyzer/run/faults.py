"""Faults of logpost itself: a finder, figure or optional table that fails costs itself alone.

What fails is replaced by nothing, counted with its error, and shown with the result. Memory and disks that run out are
faults of no part: the analysis says so as a whole.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import polars as pl
from polars.exceptions import PanicException

from logpost.analyzer.run.manifest import Fault
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.run.soundness import damage
from logpost.errors import InputError, printable

T = TypeVar("T")


class Faults:
    """Collects the faults of one analysis, from any thread.

    Arguments:
        known: those found before.
        reads: the finished run that the parts read: where it is damaged, no part of logpost failed.
        raises: nothing is collected: what fails raises.
    """

    def __init__(self, known: Iterable[Fault] = (), *, reads: Path | None = None, raises: bool = False) -> None:
        self._found = list(known)
        self._reads = reads
        self._raises = raises

    @property
    def found(self) -> list[Fault]:
        """In the order of the parts, whichever thread was first."""
        return sorted(self._found, key=lambda fault: (fault.part, fault.error))

    def guard(self, part: str, make: Callable[[], T], instead: T) -> T:
        """What `make` returns; `instead` where it fails.

        Arguments:
            part: of logpost that fails then: `finder late_receiver`.
            make: computes it.
            instead: what the rest of logpost continues with.

        Raises:
            InputError: the run that is read is damaged.
        """
        try:
            return make()
        except (MemoryError, OSError):
            raise
        except (Exception, PanicException) as error:
            if self._raises:
                raise
            if self._reads is not None and (damaged := damage(self._reads)):
                raise InputError(damaged) from error
            self._found.append(Fault(part=part, error=_said(error)))
            return instead

    def table(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """An optional table of a run; without rows where it fails."""
        return self.guard(f"table {name}", make, TABLES[name].empty())


def _said(error: BaseException) -> str:
    """Its kind, its first line, and the file of logpost in which it was raised."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    line = printable(next(iter(str(error).splitlines()), ""))
    return f"{type(error).__name__}{': ' if line else ''}{line} ({Path(at.filename).name}:{at.lineno})"
