"""docs/papers.md: every printed number of the papers next to logpost's, written by `logpost models --papers FILE`."""

from __future__ import annotations

from logpost.replay.models.papers import PAPERS, Claim, Paper
from logpost.replay.models.papers.items import items_table

_HEAD = """# The papers' numbers and logpost's

<!-- Written by `logpost models --papers docs/papers.md`; a test compares this file with what that command writes. -->

Each row is a number that a paper prints, and what logpost's models give for it under the assumption named. "yes" means
that logpost's number rounds to the printed one, to its last printed digit (or keeps within a printed bound). "no": the
printed number does not follow from the printed formulas and parameters under that assumption; logpost shows what the
formula gives. "fit": it follows only with a parameter that is not printed and was chosen for it. "not printed": it
follows from the paper, which does not print it. The equations: `logpost models NAME`; to redo a row: `logpost predict
NAME`.

"""


def page() -> str:
    """The whole page as Markdown."""
    return _HEAD + "\n".join(_section(paper) for paper in PAPERS)


def _section(paper: Paper) -> str:
    lines = [f"## {paper.key}: {paper.title}", ""]
    if paper.claims:
        lines += [
            "| where | what | printed | logpost | difference | reproduces | assumption |",
            "|---|---|---:|---:|---:|---|---|",
            *(_row(claim) for claim in paper.claims),
            "",
        ]
    if paper.redo:
        lines += ["To redo rows:", "", "```sh"]
        lines += [line for command, what in paper.redo for line in (f"# {what}", command)] + ["```", ""]
    if paper.not_computed:
        lines += ["Not computed:", "", *(f"- {text}" for text in paper.not_computed), ""]
    if paper.contradictions:
        lines += ["Where the text contradicts itself, its tables or the other papers (numbers as cited above):", ""]
        lines += [f"- ({number}) {text}" for number, text in paper.contradictions] + [""]
    lines += ["Figures, tables and headlines, and the experiment of `logpost experiments` that repeats each:", ""]
    return "\n".join([*lines, *items_table(paper.key), ""])


def _row(claim: Claim) -> str:
    value = claim.value()
    unit = f" {claim.unit}" if claim.unit else ""
    printed = "—" if claim.printed is None else f"{'≤ ' if claim.at_most else ''}{claim.printed}{unit}"
    cells = (
        claim.where,
        claim.what,
        printed,
        f"{_digits(value)}{unit}",
        "" if claim.at_most or claim.printed is None else _difference(value, claim.number),
        _verdict(claim),
        claim.assumption,
    )
    return "| " + " | ".join(cells) + " |"


def _verdict(claim: Claim) -> str:
    if claim.printed is None:
        return "not printed"
    if claim.fitted:
        return "fit"
    return "yes" if claim.holds() else "no"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.5g}"


def _difference(value: float, printed: float) -> str:
    """Relative difference in percent; exact agreement is 0."""
    share = 100.0 * (value / printed - 1.0)
    return "0" if abs(share) < 5e-10 else f"{share:+.2g} %"
