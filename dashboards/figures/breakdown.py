"""Where each rank's time went: stacked bars by category, or by the four parts of SENS that the categories belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.analyzer.report.sens_view import NOT_ASSIGNED, PARTS, TITLES
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, View, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.labels import time_unit

MOST_WORST = 40
"""Number of bars in the view of the ranks that compute the smallest share of their time."""


@dataclass(frozen=True)
class Stacked:
    """What one colour of the bars stands for."""

    title: str
    ink: str
    """The category whose colour it has."""
    categories: tuple[str, ...]

    @property
    def columns(self) -> list[int]:
        """The positions of its categories in `SHOWN`."""
        return [SHOWN.index(category) for category in self.categories]


BY_CATEGORY = tuple(Stacked(palette.label(category), category, (category,)) for category in palette.INKS)
_INK_OF = {
    "compute": "compute", "message_overhead": "send_overhead", "network_wait": "latency",
    "synchronization": "late_sender", NOT_ASSIGNED: "mpi_other",
}  # fmt: skip
_OF_PART = {name: tuple(c for c in SHOWN if c in categories) for name, categories in PARTS.items()}
_OF_PART[NOT_ASSIGNED] = tuple(c for c in SHOWN if not any(c in some for some in PARTS.values()))
BY_PART = tuple(Stacked(TITLES[name], _INK_OF[name], categories) for name, categories in _OF_PART.items())
"""SENS's four parts in its order of stacking, and what belongs to none of them."""
PARTS_IN_CATEGORIES = tuple(
    Stacked(palette.label(category), category, (category,))
    for part in BY_PART
    for category in sorted(part.categories, key=list(palette.INKS).index)
)
"""The categories in the order of the parts that they belong to."""


def present(each: np.ndarray, stacks: Sequence[Stacked] = BY_CATEGORY) -> list[Stacked]:
    """Those of the stacks that have time.

    Args:
        each: shape (ranks, categories), in ps.
        stacks: in their order.
    """
    return [stack for stack in stacks if each[:, stack.columns].any()]


def breakdown(
    each: np.ndarray, ranks: Rows, on: Rows, alike: Rows | None = None, stacks: Sequence[Stacked] = BY_CATEGORY
) -> Chart:
    """Stacked horizontal bars in two or three views: groups of ranks that behave alike, where they are given; in the
    order of ranks, folded into blocks where they are many; and single ranks, those with the most time outside compute
    first. The bar of a group or a block is the mean of its ranks.

    Args:
        each: shape (ranks, categories), in ps.
        ranks: one row per rank.
        on: the rows in the order of ranks.
        alike: the rows of the first view, if any.
        stacks: what the bars consist of, in the order of stacking.
    """
    worst = lowest_compute(each)
    factor, unit = time_unit(float(each.sum(axis=1).max(initial=0.0)))
    shown = present(each, stacks)

    def view(label: str, times: np.ndarray, labels: list[str], titles: list[str], title: str) -> View:
        layout: dict[str, Any] = {
            "height": 80 + row_height(len(labels)),
            "bargap": 0.28 if len(labels) <= 64 else 0.0,
            "yaxis": row_axis(labels, title),
        }
        return View(label, tuple(_bars(times, stack, titles, factor) for stack in shown), layout)

    folded = [("By behaviour", alike)] if alike is not None else []
    folded.append(("By rank", on))
    views = [view(label, _means(each, one), list(one.labels), list(one.titles), one.axis) for label, one in folded]
    if ranks.count > 1:
        name = "Lowest compute first" if ranks.count <= MOST_WORST else f"The {MOST_WORST} with the lowest compute"
        chosen = [list(np.array(texts, dtype=object)[worst]) for texts in (ranks.labels, ranks.titles)]
        views.append(view(name, each[worst], chosen[0], chosen[1], ranks.what))
    fig = figure(barmode="stack", xaxis=axis(f"time ({unit})"), **views[0].layout)
    for stack, bars in zip(shown, views[0].traces, strict=True):
        trace = category_trace(stack.ink) | {"name": stack.title}
        fig.add_bar(orientation="h", hovertemplate="%{customdata}<extra></extra>", **trace, **bars)
    total = np.array([each[:, stack.columns].sum() for stack in shown])
    top = [i for i in np.argsort(-total, kind="stable")[:3] if total[i] > 0]
    said = ", ".join(f"{shown[i].title} {percent_text(total[i] / total.sum())}" for i in top)
    count = folded[0][1].count
    return Chart(fig, f"Time by category for {count} rows. Over all: {said or 'no time'}.", tuple(views))


def lowest_compute(each: np.ndarray) -> np.ndarray:
    """Which ranks the last view shows, in its order."""
    found: np.ndarray = np.argsort(-(each.sum(axis=1) - each[:, 0]), kind="stable")[:MOST_WORST]
    return found


def _means(each: np.ndarray, on: Rows) -> np.ndarray:
    mean = np.zeros((on.count, len(SHOWN)))
    np.add.at(mean, on.of["row"].to_numpy(), each)
    mean /= np.maximum(on.sizes, 1)[:, None]
    return mean


def _bars(times: np.ndarray, stack: Stacked, titles: list[str], factor: float) -> dict[str, Any]:
    part = times[:, stack.columns].sum(axis=1).tolist()
    wall = times.sum(axis=1).tolist()
    return {
        "y": list(range(len(titles))),
        "x": [float(f"{p / factor:.6g}") for p in part],
        "customdata": [
            f"{title}<br><b>{stack.title}</b> {time_text(p)} · {percent_text(p / w if w else 0.0)} of {time_text(w)}"
            for title, p, w in zip(titles, part, wall, strict=True)
        ],
    }
