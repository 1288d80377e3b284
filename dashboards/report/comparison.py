"""Content of the comparison page: B against A by category, place and finding."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.two_runs import Comparison, compare
from logpost.analyzer.render.compare.text import measured_without
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.units import change_text, sentence_text, time_text
from logpost.analyzer.words.wait_states import WAIT_STATE_NAMES
from logpost.dashboards.figures import comparison as figures
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.folding import columns, program_span, rows, time_cube
from logpost.dashboards.figures.labels import grouped, significant
from logpost.dashboards.figures.timeline import timeline
from logpost.dashboards.report.findings import FindingRow, finding_rows, size_of
from logpost.dashboards.report.page import Caps, model_error, title_of
from logpost.dashboards.report.tables import Grid, fraction


@dataclass(frozen=True)
class ComparisonPage:
    """Everything the template needs."""

    comparison: Comparison
    pairs: dict[str, list[tuple[FindingRow, FindingRow | None]]]
    """Findings that are gone, new and in both; the second of a pair is B's where both runs have it."""
    titles: tuple[str, str]
    facts: list[tuple[str, str, str]]
    verdict: str
    charts: dict[str, Chart]
    grids: dict[str, Grid]
    notes: dict[str, list[str]]
    present: list[str]
    model_errors: tuple[str, str]

    @property
    def measured_without(self) -> str:
        """What the findings that are gone were predicted to save, and what the program saves; empty: none is gone."""
        return f"{sentence_text(measured_without(self.comparison))}." if self.comparison.gone else ""


def build_comparison(a: Run, b: Run, caps: Caps) -> ComparisonPage:
    """Compute the page of two runs, A before and B after."""
    found = compare(a, b)
    charts: dict[str, Chart] = {}
    notes: dict[str, list[str]] = {}
    if any(c.before or c.after for c in found.categories):
        charts["totals"] = figures.totals(found.categories)
    if any(c.difference for c in found.categories):
        charts["changes"] = figures.changes(found.categories)
    present = set()
    sides = []
    for side, run in (("a", a), ("b", b)):
        locations = run.table("locations").collect()
        over = columns(run.manifest.windows, caps.columns, program_span(locations))
        sides.append((side, run, rows(locations, caps.rows), over))
    longest = max(over.length_ps for _, _, _, over in sides)
    for side, run, on, over in sides:
        cube = time_cube(run.shown("accounting"), on, over)
        if cube.any():
            charts[f"timeline_{side}"] = timeline(cube, on, over, longest)
            present |= {c for i, c in enumerate(SHOWN) if cube[:, :, i].any()}
        notes[side] = [note for note in (on.note, over.note) if note]
    drawn = [name for name in charts if name.startswith("timeline_")]
    # Readers compare the two by eye: next to each other, both show the same view first.
    first = max((charts[name].first for name in drawn), default=0)
    charts |= {name: replace(charts[name], first=first) for name in drawn}
    return ComparisonPage(
        comparison=found,
        pairs=_pairs(found),
        titles=(title_of(a.manifest), title_of(b.manifest)),
        facts=_facts(found),
        verdict=_verdict(found),
        charts=charts,
        grids=_grids(found),
        notes=notes,
        present=[c for c in palette.INKS if c in present],
        model_errors=(model_error(found.a), model_error(found.b)),
    )


def _pairs(found: Comparison) -> dict[str, list[tuple[FindingRow, FindingRow | None]]]:
    """Findings that are gone, new and in both, with bars of one scale."""
    every = (*found.gone, *found.appeared, *(one for pair in found.stayed for one in pair))
    full = max(map(size_of, every), default=0.0)
    stayed = sorted(found.stayed, key=lambda pair: -max(map(size_of, pair)))
    return {
        "gone": [(row, None) for row in finding_rows(found.gone, largest=full)],
        "new": [(row, None) for row in finding_rows(found.appeared, largest=full)],
        "stayed": [(finding_rows([a], largest=full)[0], finding_rows([b], largest=full)[0]) for a, b in stayed],
    }


def signed(difference: float) -> str:
    """A change of a time with its sign; a true minus, so that it reads as one."""
    return time_text(0) if not difference else f"{'+' if difference > 0 else '−'}{time_text(abs(difference))}"


def relative(change: Change) -> str:
    """(B − A) / A as per cent with its sign, as a factor where B is many times A, "new" where A has none."""
    share = change.relative
    if share is None:
        return "–"
    if math.isinf(share):
        return "new"
    if share >= FACTOR_FROM:
        return f"× {significant(1 + share)}"
    return change_text(share)


FACTOR_FROM = 9.0
"""From this growth on a factor reads better than per cent: × 10 instead of +900 %."""


def _verdict(found: Comparison) -> str:
    wall = found.wall
    if not wall.before or wall.difference is None:
        return "One of the runs has no length, so the two cannot be compared."
    how = "as long as" if not wall.difference else ("longer than" if wall.difference > 0 else "shorter than")
    said = f"B runs {'' if not wall.difference else time_text(abs(wall.difference)) + ' '}{how} A"
    said += f" ({relative(wall)})." if wall.difference else "."
    shown = max(found.categories, key=lambda c: abs(c.difference or 0))
    if shown.difference:
        said += f" The largest change is {palette.label(shown.name)} with {signed(shown.difference)} over all ranks."
    if found.gone:
        said += f" Gone: {found.gone[0].title}."
    if found.appeared:
        said += f" New: {found.appeared[0].title}."
    return said


MOST_TIMES = 4
"""Of the facts' times: with the efficiency, a row of a narrow window."""


def _facts(found: Comparison) -> list[tuple[str, str, str]]:
    """The length and groups of categories; where the machine does not divide a group, the categories that change
    most."""

    def fact(label: str, change: Change) -> tuple[str, str, str]:
        sides = f"{time_text(change.before or 0)} → {time_text(change.after or 0)}"
        return (label, signed(change.difference or 0), f"{sides}, {relative(change)}" if change.difference else sides)

    groups = [(name, found.quantity(name)) for name in ("communication", "waiting", "contention")]
    lost = sorted(found.categories[1:], key=lambda change: -abs(change.difference or 0))
    times = [("Program", found.wall)]
    times += [(name.capitalize(), one) for name, one in groups if one is not None and one.difference is not None]
    times += [(sentence_text(palette.label(one.name)), one) for one in lost if one.difference]
    efficiency = found.quantity("parallel_efficiency")
    known = efficiency is not None and efficiency.before is not None and efficiency.after is not None
    return [
        *(fact(name, one) for name, one in times[:MOST_TIMES]),
        (
            "Parallel efficiency",
            fraction(efficiency.after if efficiency else None),
            f"from {fraction(efficiency.before)}" if efficiency and known else "",
        ),
    ]


def _grids(found: Comparison) -> dict[str, Grid]:
    def times(changes: tuple[Change, ...], names: dict[str, str]) -> list[tuple[str, ...]]:
        return [
            (
                names.get(c.name, palette.label(c.name)),
                time_text(c.before or 0),
                time_text(c.after or 0),
                signed(c.difference or 0),
                relative(c),
            )
            for c in changes
            if c.before or c.after
        ]

    head = ("A", "B", "B − A", "change")
    numbers = frozenset({1, 2, 3, 4})
    regions = [
        (
            folded(r.region),
            r.kind,
            time_text(r.time.before or 0),
            time_text(r.time.after or 0),
            signed(r.time.difference or 0),
            relative(r.time),
            f"{grouped(r.count.before or 0)} → {grouped(r.count.after or 0)}",
        )
        for r in found.regions
        if r.time.before or r.time.after
    ]
    efficiencies = [(e.name.replace("_", " "), fraction(e.before), fraction(e.after)) for e in found.efficiencies]
    return {
        "categories": Grid(("category", *head), times((*found.categories, *found.groups), {}), numbers),
        "wait_states": Grid(("wait state", *head), times(found.wait_states, WAIT_STATE_NAMES), numbers),
        "regions": Grid(("region", "time is", *head, "calls"), regions, frozenset({2, 3, 4, 5, 6})),
        "efficiencies": Grid(("efficiency", "A", "B"), efficiencies, frozenset({1, 2})),
    }
