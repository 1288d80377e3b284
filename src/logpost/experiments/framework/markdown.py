"""experiments.md: every experiment as text tables, for readers and for the documentation's page."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.experiments.framework import words
from logpost.experiments.framework.experiment import PAPERS
from logpost.experiments.framework.result import Column, Number, Origin, Table
from logpost.experiments.framework.runner import Outcome
from logpost.replay.models.papers.items import items_table

_HEAD = """# The papers' experiments

<!-- Written by `{command}`; do not edit. -->

Each section repeats an experiment of a paper and compares three things: what the paper prints, what the
paper's formulas give, and what the papers' program does on the simulated machine (or, where it says so, on this one).
A value that the paper does not print is derived from one that is printed, or varied over a band; the claims that depend
on it name it as their assumption. `experiments.html`, which the same command writes, has the figures. The formulas
alone, number by number: [papers.md](papers.md).

A claim of a paper is one of:

- *reproduced*;
- *reproduced with a stated assumption*: it holds under a value or a reading that the paper does not print;
- *by construction*: what was simulated or computed already contains it;
- *contradicted by the paper's own text*: it fails, and other sentences, numbers or formulas of the same paper say that
  it must;
- *not reproduced*, with the likely reason;
- or it *cannot be judged* on the machine that ran it.

Written by `{command}` with:

{host}
"""


def markdown(outcomes: Sequence[Outcome], command: str, host: Sequence[str]) -> str:
    """The whole page."""
    parts = [_HEAD.format(command=command, host="\n".join(f"- {line}" for line in host))]
    parts += [
        _row(["experiment", "paper", *words.SHORT.values()]),
        "|---|---|" + "---:|" * len(words.SHORT),
        *(_line(outcome) for outcome in outcomes),
        *_total(outcomes),
        "",
    ]
    return "\n".join(parts) + "\n" + "\n".join(_section(outcome) for outcome in outcomes) + _coverage(outcomes)


def _line(outcome: Outcome) -> str:
    one = outcome.experiment
    claims = () if outcome.result is None else outcome.result.claims
    counts = ["not run"] * len(words.SHORT) if outcome.result is None else map(str, words.counts(claims))
    return _row([f"[{one.name}](#{one.name})", f"{one.paper} {one.where}", *counts])


def _coverage(outcomes: Sequence[Outcome]) -> str:
    """What of the papers of these experiments is repeated where, and what is not."""
    lines = ["", "## What the papers show", ""]
    for paper in (key for key in PAPERS if any(outcome.experiment.paper == key for outcome in outcomes)):
        lines += [f"### {paper}", "", *items_table(paper), ""]
    return "\n".join(lines)


def _total(outcomes: Sequence[Outcome]) -> list[str]:
    """The sum, where there is more than one experiment."""
    run = [outcome.result for outcome in outcomes if outcome.result is not None]
    if len(run) < 2:
        return []
    return [_row(["all", "", *map(str, words.counts([claim for result in run for claim in result.claims]))])]


def _section(outcome: Outcome) -> str:
    one = outcome.experiment
    lines = [f"## {one.name}", "", f"**{one.title}.** {PAPERS[one.paper]}: {one.where}.", ""]
    result = outcome.result
    if result is None:
        return "\n".join([*lines, f"Not run here: {outcome.reason}", ""])
    lines += [result.summary, ""]
    if result.claims:
        lines += ["| what the paper says | printed | reached | status |", "|---|---|---|---|"]
        lines += [_row([c.text, c.printed, c.reached, words.verdict(c)]) for c in result.claims] + [""]
    for table in result.tables:
        lines += _table(table)
    if result.figures:
        lines += ["Figures (in experiments.html):", ""]
        lines += [f"- {figure.title}. {figure.chart.summary}" for figure in result.figures] + [""]
    if result.differences:
        lines += ["What differs from the paper, and why:", ""]
        lines += [f"- {difference.what} *Likely reason:* {difference.reason}" for difference in result.differences]
        lines += [""]
    if result.notes:
        lines += ["Notes:", "", *(f"- {note}" for note in result.notes), ""]
    return "\n".join(lines)


def _table(table: Table) -> list[str]:
    lines = [f"### {table.title}", ""]
    lines += [_row([words.heading_text(column) for column in table.columns])]
    lines += ["|" + "|".join(_alignment(table, i, column) for i, column in enumerate(table.columns)) + "|"]
    lines += [_row([words.cell_text(table, row, i) for i in range(len(table.columns))]) for row in table.rows]
    remarks = " ".join(part for part in (words.about_numbers(table), table.note) if part)
    return [*lines, "", *([remarks, ""] if remarks else [])]


def _alignment(table: Table, index: int, column: Column) -> str:
    numbers = any(isinstance(row[index], Number) for row in table.rows)
    return "---:" if numbers and column.origin is not Origin.SETTING else "---"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
