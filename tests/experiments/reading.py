"""Reads numbers out of a result's tables."""

from __future__ import annotations

from logpost.experiments.framework.result import Number, Part, Result, Table


def table(result: Part | Result, title: str) -> Table:
    """The table whose title begins so."""
    [found] = [one for one in result.tables if one.title.startswith(title)]
    return found


def number(of: Table, row: object, column: str) -> float:
    """The value in the row whose first cell is `row` (a text, or the value of a Number), under a heading."""
    index = [c.heading for c in of.columns].index(column)
    [cells] = [r for r in of.rows if (r[0].value if isinstance(r[0], Number) else r[0]) == row]
    cell = cells[index]
    assert isinstance(cell, Number), f"{row}, {column}: {cell}"
    return cell.value
