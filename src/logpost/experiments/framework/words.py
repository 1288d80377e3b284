"""Numbers of a result as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from logpost.experiments.framework.result import Cell, Claim, Column, Number, Origin, Standing, Table


def number_text(number: Number, *, printed: bool = False) -> str:
    """Value, unit, uncertainty; `printed` keeps the digits that the paper prints."""
    text = f"{number.value:,.12g}" if printed else _digits(number.value, number.digits)
    if number.error is not None:
        text += f" ± {_digits(number.error, 2)}"
    text += f" {number.unit}" if number.unit else ""
    return text + (f" ({number.also})" if number.also else "")


def _digits(value: float, digits: int) -> str:
    """`digits` significant digits, grouped by thousands; digits before the point stay."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -4:
        return f"{value:.{digits - 1}e}"
    text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return "0" if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def percent(fraction: float, *, signed: bool = True) -> str:
    """A change in per cent: `−65 %`, `+2.7 %`."""
    value = 100.0 * fraction
    text = f"{value:{'+' if signed else ''}.{1 if abs(value) < 9.95 else 0}f} %"
    return "±0 %" if signed and abs(value) < 0.05 else text.replace("-", "−")


def change_text(fraction: float, decimals: int = 0) -> str:
    """A change in per cent to so many decimals, for numbers within a sentence: `+31 %`, `−65 %`."""
    text = f"{100.0 * fraction:+.{decimals}f} %".replace("-", "−")
    return text if re.search("[1-9]", text) else f"±{text[1:]}"


def cell_text(table: Table, row: tuple[Cell, ...], column: int) -> str:
    """A cell, and for a compared number how far it is from the reference."""
    return ", ".join(part for part in cell_parts(table, row, column) if part)


def cell_parts(table: Table, row: tuple[Cell, ...], column: int) -> tuple[str, str]:
    """A cell's text, and the deviation of a compared number from the reference ("" for others)."""
    cell = row[column]
    if cell is None:
        return "–", ""
    if isinstance(cell, str):
        return cell, ""
    text = number_text(cell, printed=table.columns[column].origin in (Origin.PAPER, Origin.SETTING))
    deviation = table.deviation(row, column)
    return text, "" if deviation is None else percent(deviation)


_SAID = {
    Origin.PAPER: "paper",
    Origin.FORMULA: "formula",
    Origin.TESTBED: "testbed",
    Origin.MEASURED: "measured",
    Origin.DERIVED: "",
    Origin.SETTING: "",
}


def heading_text(column: Column) -> str:
    """A heading with the source of its numbers, unless it says so itself."""
    kind = _SAID[column.origin]
    label = column.heading if not kind or kind in column.heading.lower() else f"{column.heading} ({kind})"
    return f"{label} [{column.machine}]" if column.machine else label


def source_text(column: Column) -> str:
    """Where a column's numbers come from: `formula, alewife`."""
    return ", ".join(part for part in (_SAID[column.origin], column.machine) if part)


def about_numbers(table: Table) -> str:
    """What the percentages behind the numbers are."""
    return f"Percentages at a number: its deviation from “{table.reference}”." if table.reference else ""


def verdict(claim: Claim) -> str:
    """What a claim turned out to be, with the reason where it needs one."""
    return f"{claim.standing.value}: {claim.why}" if claim.why else claim.standing.value


SHORT = {
    Standing.REPRODUCED: "reproduced",
    Standing.ASSUMED: "with a stated assumption",
    Standing.BY_CONSTRUCTION: "by construction",
    Standing.CONTRADICTED: "contradicted by the paper",
    Standing.FAILS: "not reproduced",
    Standing.OPEN: "cannot be judged",
}
"""Of each standing, for counts."""


def counts(claims: Sequence[Claim]) -> list[int]:
    """How many claims have each standing, in the order of SHORT."""
    found = [claim.standing for claim in claims]
    return [found.count(standing) for standing in SHORT]


def claims_text(claims: Sequence[Claim]) -> str:
    """How many claims have each standing, without those that none has."""
    return ", ".join(f"{n} {said}" for n, said in zip(counts(claims), SHORT.values(), strict=True) if n) or "–"
