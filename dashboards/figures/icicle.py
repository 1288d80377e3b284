"""The calling-context tree as an icicle: the time of each call path, and the use of that time."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.units import count_text, percent_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, figure
from logpost.dashboards.figures.labels import plotly_text

MOST_HEIGHT, LEVEL_HEIGHT = 460, 90
"""Pixels of the picture, and of one level of calls in it, where they are few."""
ALL = "all"
"""Id of the box above several that nothing calls."""
MOST, LEAST_SHARE = 400, 1 / 2000
"""Call paths drawn, and the share of the time from which a box is wide enough to be seen."""


Rows = dict[int, tuple[int, str, float]]
"""Call path to its parent, its name and its time in ps."""


def icicle(tree: pl.DataFrame, parts: pl.DataFrame, *, roots: tuple[int, ...] = ()) -> Chart:
    """A box per call path, as wide as its time with its callees; its colour is the largest use of its time.

    Args:
        tree: columns callpath, parent, name, time_ps (inclusive), samples (0: the time is recorded), parents before
            children.
        parts: columns callpath, category, exposed_ps: of the communication calls of each call path itself.
        roots: call paths to start with; empty: those without parent.
    """
    own: dict[int, dict[str, float]] = {}
    for callpath, category, time in parts.select("callpath", "category", "exposed_ps").iter_rows():
        own.setdefault(callpath, {})[str(category)] = float(time)
    rows = {c: (p, n, float(t)) for c, p, n, t in tree.select("callpath", "parent", "name", "time_ps").iter_rows()}
    samples = dict(tree.select("callpath", "samples").iter_rows())
    below: dict[int, dict[str, float]] = {c: dict(own.get(c, {})) for c in rows}
    for callpath in sorted(rows, reverse=True):
        parent = rows[callpath][0]
        if parent in below:
            for category, time in below[callpath].items():
                below[parent][category] = below[parent].get(category, 0.0) + time
    chosen = _largest(rows, roots)
    total = _total(rows, chosen)
    ids, parents, labels, values, categories, custom = [], [], [], [], [], []
    for callpath in sorted(chosen):
        parent, name, time = rows[callpath]
        communication = below[callpath]
        compute = max(0.0, time - sum(communication.values()))
        every = sorted([("compute", compute), *communication.items()], key=lambda one: -one[1])
        ids.append(str(callpath))
        parents.append(str(parent) if parent in chosen else "")
        labels.append(plotly_text(folded(name), 50))
        values.append(int(time))
        categories.append(every[0][0])
        largest = "<br>".join(f"{palette.label(c)} {time_text(t)}" for c, t in every[:4] if t > 0)
        share = percent_text(time / total if total else 0.0)
        by = f", estimated by {count_text(samples[callpath], 'sample')}" if samples[callpath] else ""
        custom.append(f"<b>{plotly_text(folded(name), 120)}</b><br>{time_text(time)}, {share}{by}<br>{largest}")
    tops = [at for at, parent in enumerate(parents) if not parent]
    if len(tops) > 1:
        # plotly would draw an empty box above them.
        _under_all(tops, total, below, rows, chosen, (ids, parents, labels, values, categories, custom))
    fig = figure(
        _height(rows, chosen),
        meta={"pick": "path"},
        # A name that would have to shrink further cannot be read: the box says it when it is pointed at.
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    fig.add_icicle(
        ids=ids,
        parents=parents,
        labels=labels,
        values=values,
        branchvalues="total",
        customdata=custom,
        hovertemplate="%{customdata}<extra></extra>",
        meta={"categories": categories},
        marker={"line": {"width": 1}},
        leaf={"opacity": 1},
        tiling={"orientation": "v", "pad": 1},
        pathbar={"visible": False},
        textinfo="label+percent root",
        sort=False,
    )
    widest = max(chosen, key=lambda c: (rows[c][2], -c), default=None)
    if widest is None:
        return Chart(fig, "No call path has time.")
    return Chart(fig, f"{len(chosen)} call paths; most time is in {plotly_text(folded(rows[widest][1]))}.")


def _under_all(
    tops: list[int],
    total: float,
    below: dict[int, dict[str, float]],
    rows: Rows,
    chosen: set[int],
    columns: tuple[list[str], list[str], list[str], list[int], list[str], list[str]],
) -> None:
    """Add a box above those that nothing calls; a click on it selects every call path."""
    ids, parents, labels, values, categories, custom = columns
    sums: dict[str, float] = {}
    for callpath in (c for c in chosen if rows[c][0] not in chosen):
        for category, time in below[callpath].items():
            sums[category] = sums.get(category, 0.0) + time
    sums["compute"] = sums.get("compute", 0.0) + max(0.0, total - sum(sums.values()))
    for at in tops:
        parents[at] = ALL
    named = "all call paths"
    for column, value in zip((ids, parents, labels), (ALL, "", named), strict=True):
        column.append(value)
    values.append(sum(values[at] for at in tops))
    categories.append(max(sums, key=lambda category: sums[category]))
    custom.append(f"<b>{named}</b><br>{time_text(total)}")


def icicle_height(tree: pl.DataFrame, *, roots: tuple[int, ...] = ()) -> int:
    """Pixels of the picture that `icicle` draws of the tree."""
    rows = {c: (p, "", float(t)) for c, p, t in tree.select("callpath", "parent", "time_ps").iter_rows()}
    return _height(rows, _largest(rows, roots))


def _height(rows: Rows, chosen: set[int]) -> int:
    depth: dict[int, int] = {}
    for callpath in sorted(chosen):
        depth[callpath] = depth.get(rows[callpath][0], 0) + 1
    several = sum(rows[c][0] not in chosen for c in chosen) > 1
    return min(MOST_HEIGHT, 20 + LEVEL_HEIGHT * (max(depth.values(), default=1) + several))


def _total(rows: Rows, chosen: set[int]) -> float:
    return sum(rows[c][2] for c in chosen if rows[c][0] not in chosen)


def _largest(rows: Rows, roots: tuple[int, ...]) -> set[int]:
    """The call paths below the roots with most time; a child is never there without its parent."""
    within = set(roots) if roots else {c for c, (parent, _, _) in rows.items() if parent not in rows}
    for callpath in sorted(rows):
        if rows[callpath][0] in within:
            within.add(callpath)
    within &= rows.keys()
    least = LEAST_SHARE * _total(rows, within)
    there = [c for c in within if rows[c][2] > 0 and rows[c][2] >= least]
    return set(sorted(there, key=lambda c: (-rows[c][2], c))[:MOST])
