"""From results to the page that dashboards draws: ready text, grids and charts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from logpost.dashboards.figures.curves import printed_alone
from logpost.dashboards.report.experiments import (
    ClaimRow,
    Comparison,
    ExperimentsPage,
    PaperFigure,
    Plot,
    Section,
)
from logpost.experiments.framework import words
from logpost.experiments.framework.experiment import PAPERS
from logpost.experiments.framework.result import Figure, Number, Origin, Table
from logpost.experiments.framework.runner import Outcome
from logpost.replay.models.papers.items import ITEMS


def page_of(outcomes: Sequence[Outcome], command: str, host: Sequence[str], *, quick: bool) -> ExperimentsPage:
    """The page of what was run."""
    return ExperimentsPage(
        command=command,
        quick=quick,
        host=tuple(host),
        sections=tuple(_section(outcome) for outcome in outcomes),
    )


def _section(outcome: Outcome) -> Section:
    one, result = outcome.experiment, outcome.result
    head = Section(
        name=one.name,
        title=one.title,
        paper=one.paper,
        paper_title=PAPERS[one.paper],
        where=one.where,
        not_run=outcome.reason,
        seconds=outcome.seconds,
    )
    if result is None:
        return head
    return replace(
        head,
        summary=result.summary,
        claims_held=words.claims_text(result.claims),
        claims=tuple(
            ClaimRow(c.text, c.printed, c.reached, c.holds, words.SHORT[c.standing], c.why) for c in result.claims
        ),
        plots=tuple(
            Plot(f"{one.name}-{i}", figure.title, figure.chart, figure.note, _of_the_paper(one.paper, figure))
            for i, figure in enumerate(result.figures)
        ),
        grids=tuple(_grid(table) for table in result.tables),
        differences=tuple((difference.what, difference.reason) for difference in result.differences),
        notes=result.notes,
        runs=tuple((run.label, run.path) for run in result.runs),
    )


def _of_the_paper(paper: str, figure: Figure) -> PaperFigure | None:
    """The item that the figure's title names: `Fig. 8: EM3D`."""
    named = re.search(r"(Fig\.|Table) \d+", figure.title)
    item = next((item for item in ITEMS[paper] if named and item.where == named[0]), None)
    return None if item is None else PaperFigure(item.where, item.what, printed_alone(figure.chart))


def _grid(table: Table) -> Comparison:
    numeric = frozenset(
        i
        for i, column in enumerate(table.columns)
        if column.origin is not Origin.SETTING and any(isinstance(row[i], Number) for row in table.rows)
    )
    return Comparison(
        title=table.title,
        headings=tuple((column.heading, words.source_text(column)) for column in table.columns),
        rows=tuple(tuple(words.cell_parts(table, row, i) for i in range(len(row))) for row in table.rows),
        numeric=numeric,
        remarks=" ".join(part for part in (words.about_numbers(table), table.note) if part),
    )
