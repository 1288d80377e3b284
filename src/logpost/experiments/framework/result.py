"""What an experiment hands back: plain data, from which the page, the text and the JSON are made."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from logpost.dashboards.figures.chart import Chart


class Origin(enum.Enum):
    """Where the numbers of a column come from."""

    PAPER = "printed by the paper"
    FORMULA = "formula"
    TESTBED = "simulated testbed"
    MEASURED = "measured on this machine"
    DERIVED = "derived from the other columns"
    SETTING = "setting"


@dataclass(frozen=True)
class Number:
    """A number with its unit and, where it is known, its uncertainty."""

    value: float
    unit: str = ""
    error: float | None = None
    """Half-width in the same unit."""
    also: str = ""
    """The same in another unit, ready to read: "24.3 µs"."""
    digits: int = 3
    """Significant digits to show; digits before the point are never rounded away."""


Cell: TypeAlias = "Number | str | None"
"""None: the source has no such number."""


@dataclass(frozen=True)
class Column:
    """A column of a comparison."""

    heading: str
    origin: Origin
    machine: str = ""
    """Of modelled and simulated numbers: the machine file they belong to."""


_R = TypeVar("_R")


@dataclass(frozen=True)
class Cells(Generic[_R]):
    """A column and the cell that it has of each thing that a row is about."""

    column: Column
    cell: Callable[[_R], Cell]


def setting(heading: str, cell: Callable[[_R], Cell]) -> Cells[_R]:
    """A column of what was chosen."""
    return Cells(Column(heading, Origin.SETTING), cell)


def paper(heading: str, cell: Callable[[_R], Cell]) -> Cells[_R]:
    """A column of printed numbers."""
    return Cells(Column(heading, Origin.PAPER), cell)


def formula(heading: str, machine: str, cell: Callable[[_R], Cell]) -> Cells[_R]:
    """A column of modelled numbers."""
    return Cells(Column(heading, Origin.FORMULA, machine), cell)


def testbed(heading: str, machine: str, cell: Callable[[_R], Cell]) -> Cells[_R]:
    """A column of simulated numbers."""
    return Cells(Column(heading, Origin.TESTBED, machine), cell)


def measured(heading: str, cell: Callable[[_R], Cell]) -> Cells[_R]:
    """A column of this machine's numbers."""
    return Cells(Column(heading, Origin.MEASURED), cell)


def derived(heading: str, cell: Callable[[_R], Cell], machine: str = "") -> Cells[_R]:
    """A column that follows from others."""
    return Cells(Column(heading, Origin.DERIVED, machine), cell)


@dataclass(frozen=True)
class Table:
    """Rows of what was compared, columns of where the numbers come from."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    reference: str = ""
    """Heading of the column that formulas and simulations are compared with, number by number, where units agree."""
    note: str = ""

    @classmethod
    def of(cls, title: str, rows: Iterable[_R], *columns: Cells[_R], reference: str = "", note: str = "") -> Table:
        """A row for each of `rows`."""
        cells = tuple(tuple(one.cell(row) for one in columns) for row in rows)
        return cls(title, tuple(one.column for one in columns), cells, reference, note)

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}: a row has {len(row)} cells for {len(self.columns)} columns")
        if self.reference and self.reference not in (column.heading for column in self.columns):
            raise ValueError(f"table {self.title!r} has no column {self.reference!r} to compare with")

    def deviation(self, row: tuple[Cell, ...], column: int) -> float | None:
        """How far a formula's or simulation's number is from its row's reference, as a fraction of the latter."""
        if not self.reference:
            return None
        against = next(i for i, one in enumerate(self.columns) if one.heading == self.reference)
        cell, truth = row[column], row[against]
        compared = self.columns[column].origin in (Origin.FORMULA, Origin.TESTBED, Origin.MEASURED)
        if column == against or not compared or not isinstance(cell, Number) or not isinstance(truth, Number):
            return None
        return cell.value / truth.value - 1.0 if cell.unit == truth.unit and truth.value else None


@dataclass(frozen=True)
class Figure:
    """A chart with a heading; its axes are those of the paper's figure where it has one."""

    title: str
    chart: Chart
    note: str = ""


class Standing(enum.Enum):
    """What a claim turned out to be."""

    REPRODUCED = "reproduced"
    ASSUMED = "reproduced with a stated assumption"
    BY_CONSTRUCTION = "by construction"
    CONTRADICTED = "contradicted by the paper's own text"
    FAILS = "not reproduced"
    OPEN = "cannot be judged"


NO_REASON = "no reason is known"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and what came out here."""

    text: str
    printed: str
    reached: str
    holds: bool | None
    """None: it cannot be judged here, and `reached` says why."""
    assumption: str = ""
    """What it holds under: a value or a reading that the paper does not print, with its band where it has one."""
    given: str = ""
    """Why it could not have come out otherwise: what was simulated or computed contains it."""
    contradiction: str = ""
    """Why it cannot hold: what the paper says elsewhere, quoted, and what follows from it."""
    reason: str = ""
    """Why it likely fails where it does."""

    @property
    def standing(self) -> Standing:
        """A claim that holds may do so by construction or under an assumption; one that fails against its paper."""
        if self.holds is None:
            return Standing.OPEN
        if self.holds:
            if self.given:
                return Standing.BY_CONSTRUCTION
            return Standing.ASSUMED if self.assumption else Standing.REPRODUCED
        return Standing.CONTRADICTED if self.contradiction else Standing.FAILS

    @property
    def why(self) -> str:
        """The reason of a standing that needs one."""
        reasons = {
            Standing.ASSUMED: self.assumption,
            Standing.BY_CONSTRUCTION: self.given,
            Standing.CONTRADICTED: self.contradiction,
            Standing.FAILS: self.reason or NO_REASON,
        }
        return reasons.get(self.standing, "")


@dataclass(frozen=True)
class Difference:
    """A departure from the paper and its likely reason."""

    what: str
    reason: str


@dataclass(frozen=True)
class KeptRun:
    """A run that was kept, for `logpost report`."""

    label: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one figure or table of several adds to the experiment's result; the fields are the result's."""

    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    said: str = ""
    """Its sentence of the summary."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Everything that the page says of an experiment."""

    summary: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    runs: tuple[KeptRun, ...] = ()

    @classmethod
    def of(
        cls, summary: str, *parts: Part, differences: tuple[Difference, ...] = (), notes: tuple[str, ...] = ()
    ) -> Result:
        """All parts one after the other, and what is true of the whole."""
        return cls(
            summary=summary,
            tables=tuple(table for part in parts for table in part.tables),
            figures=tuple(figure for part in parts for figure in part.figures),
            claims=tuple(claim for part in parts for claim in part.claims),
            differences=(*differences, *(one for part in parts for one in part.differences)),
            notes=(*notes, *(note for part in parts for note in part.notes)),
        )
