"""The tables of the page: ready text, every number with its unit, for reading without the charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.render.report.machine import is_stated, value_and_error
from logpost.analyzer.report.data import ModelFit, Report
from logpost.analyzer.report.models import fits_of, misfit_text, parts_present, share_text
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Manifest
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.location_names import LocationNames
from logpost.analyzer.words.units import bytes_text, percent_text, span_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.labels import grouped

MOST_ROWS = 20
SHORT = 16
"""Letters up to which a cell's text stays on one line."""


@dataclass(frozen=True)
class Grid:
    """A table of ready text: headings with units, rows, and which columns are numbers."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numeric: frozenset[int] = frozenset()
    left_out: str = ""
    """What the table does not show, in words."""


def fraction(value: float | None) -> str:
    return "–" if value is None else percent_text(value)


def breakdown_grid(by_row: np.ndarray, on: Rows) -> Grid:
    shown = [category for category in palette.INKS if by_row[:, SHOWN.index(category)].any()]
    mean = by_row / np.maximum(on.sizes, 1)[:, None]
    body = [
        (name, time_text(mean[i].sum()), *(time_text(mean[i, SHOWN.index(c)]) for c in shown))
        for i, name in enumerate(on.names)
    ]
    head = (on.what, "program time", *map(palette.label, shown))
    return Grid(head, body, frozenset(range(1, len(head))))


def timeline_grid(cube: np.ndarray, over: Columns) -> Grid:
    body = []
    step = max(1, -(-over.count // MOST_ROWS))
    for start in range(0, over.count, step):
        part = cube[:, start : start + step].sum(axis=(0, 1))
        if not part.sum():
            continue
        worst = 1 + int(part[1:].argmax())
        said = (palette.label(SHOWN[worst]), percent_text(part[worst] / part.sum())) if part[worst] else ("–", "0.0 %")
        end = min(start + step, over.count)
        span = span_text(*(over.begin_ps + edge * over.width_ps for edge in (start, end)))
        body.append((span, percent_text(1 - part[0] / part.sum()), *said))
    return Grid(("time", "outside compute", "largest part", "its share"), body, frozenset({1, 3}))


def pairs_grid(pairs: pl.DataFrame, names: LocationNames, undivided: Sequence[str] = ()) -> Grid:
    def together(row: dict[str, Any], *parts: str) -> str:
        return "–" if set(parts) & set(undivided) else time_text(sum(row[f"{part}_ps"] for part in parts))

    top = pairs.sort("bytes", "messages", descending=True).head(MOST_ROWS)
    body = [
        (
            names.get(p["send_location"]),
            names.get(p["recv_location"]),
            grouped(p["messages"]),
            bytes_text(p["bytes"]),
            time_text(p["envelope_ps"]),
            together(p, "endpoint_contention", "network_contention"),
            together(p, "late_sender", "late_receiver"),
            together(p, "residual"),
        )
        for p in top.iter_rows(named=True)
    ]
    head = ("sender", "receiver", "messages", "bytes", "message time", "contention", "waiting", "residual")
    return Grid(head, body, frozenset(range(2, 8)), _rest(pairs.height, "pairs", "bytes"))


def load_grid(run: Run, names: LocationNames) -> Grid:
    width = run.manifest.windows.width_ps
    hottest = pl.col("bytes").arg_max()
    all_rows = (
        run.table("load")
        .filter(pl.col("direction") == "recv")
        .group_by("location")
        .agg(
            wide_sum("bytes", "messages", "queued_ps").name.prefix("all_"),
            pl.col("window").get(hottest),
            pl.col("bytes", "peers", "busy_ps").get(hottest),
        )
        .sort("all_queued_ps", "all_bytes", "location", descending=[True, True, False])
        .collect()
    )
    body = [
        (
            names.get(r["location"]),
            bytes_text(r["all_bytes"]),
            grouped(r["all_messages"]),
            time_text(r["all_queued_ps"]),
            time_text(r["window"] * width),
            bytes_text(r["bytes"]),
            grouped(r["peers"]),
            percent_text(r["busy_ps"] / width if width else 0.0),
        )
        for r in all_rows.head(MOST_ROWS).iter_rows(named=True)
    ]
    head = (
        "receiver",
        "bytes",
        "messages",
        "queued for it (modelled)",
        "peak window at",
        "bytes then",
        "senders then",
        "busy then (modelled)",
    )
    return Grid(head, body, frozenset(range(1, 8)), _rest(all_rows.height, "receivers", "queueing"))


def sens_grid(report: Report) -> Grid:
    """The time of all ranks in SENS's four parts."""
    body = [
        (part.title, "not divided", "–")
        if part.exposed_ps is None
        else (part.title, time_text(part.exposed_ps), percent_text(part.share))
        for part in report.sens
    ]
    return Grid(("part", "time over all ranks", "share"), body, frozenset({1, 2}))


def efficiencies_grid(report: Report) -> Grid:
    head = {
        "parallel_efficiency": "parallel efficiency",
        "load_balance": "load balance",
        "communication_efficiency": "communication efficiency",
        "serialization": "serialization",
        "transfer": "transfer",
    }
    meaning = {
        "parallel_efficiency": "compute time of the mean rank over the run's time; load balance × communication",
        "load_balance": "compute time of the mean rank over that of the busiest",
        "communication_efficiency": "compute time of the busiest rank over the run's time; serialization × transfer",
        "serialization": "what dependencies alone would leave of it",
        "transfer": "what moving the data costs",
    }
    body = [
        (head.get(e.name, e.name), fraction(e.value), e.reason or meaning.get(e.name, "")) for e in report.efficiencies
    ]
    return Grid(("efficiency", "value", "meaning"), body, frozenset({1}))


def models_grid(fits: Sequence[ModelFit], kind: str = "messages") -> Grid:
    """Of one of the kinds that the models are compared on."""
    shown = fits_of(fits, kind)
    parts = [part for part in parts_present(shown) if part != "residual"]
    body = [
        (
            model.label,
            misfit_text(sums),
            share_text(sums, "residual", ", ") if sums.residual_known else "–",
            share_text(sums, "deficit", ", "),
            *(share_text(sums, part, ", ") for part in parts),
        )
        for model, sums in shown
    ]
    head = ("model", "misfit", "residual", "deficit", *map(palette.label, parts))
    return Grid(head, body, frozenset(range(1, len(head))))


def callpaths_grid(report: Report) -> Grid:
    body = [
        (
            place.path,
            grouped(place.calls),
            time_text(place.exposed_ps),
            percent_text(place.share),
            time_text(place.waiting_ps),
            f"{palette.label(place.largest)}, {percent_text(place.largest_ps / place.exposed_ps)}",
        )
        for place in report.places
    ]
    head = ("callpath", "calls", "exposed time over all ranks", "of all time", "waiting in it", "largest part")
    return Grid(head, body, frozenset({1, 2, 3, 4}))


def machine_grids(manifest: Manifest) -> dict[str, Grid]:
    values = [
        (
            v.locality.replace("_", " "),
            v.parameter.replace("_per_byte", " per byte").replace("eager_limit", "eager limit"),
            "all" if v.up_to_bytes is None else f"up to {bytes_text(v.up_to_bytes)}",
            *value_and_error(v),
            v.source,
        )
        for v in filter(is_stated, manifest.machine.values)
    ]
    sentences = any(len(error) > SHORT for *_, error, _ in values)
    quality = [
        (q.severity.replace("_", " "), q.name.replace("_", " "), grouped(q.count), q.blame, q.sentence)
        for q in sorted(manifest.quality, key=lambda q: ("data_loss", "error", "info").index(q.severity))
    ]
    hosts = manifest.hosts
    shown = list(_hosts(hosts.ranks_per_node, hosts.cores_per_node))
    return {
        "machine": Grid(
            ("between", "parameter", "message size", "value", "uncertainty", "source"),
            values,
            frozenset({3} if sentences else {3, 4}),
        ),
        "quality": Grid(("severity", "counter", "count", "origin", "meaning"), quality, frozenset({2})),
        "hosts": Grid(("nodes", "ranks on each", "cores on each"), shown, frozenset({0, 1, 2})),
    }


def _hosts(ranks: list[int], cores: list[int]) -> Iterable[tuple[str, str, str]]:
    """Equal nodes share a row."""
    pairs = [(r, cores[i] if i < len(cores) else 0) for i, r in enumerate(ranks)]
    for r, c in sorted(set(pairs), reverse=True)[:MOST_ROWS]:
        yield grouped(pairs.count((r, c))), grouped(r), grouped(c) if c else "not stated"


def _rest(height: int, what: str, by: str) -> str:
    more = height - MOST_ROWS
    return f"The {MOST_ROWS} {what} with the most {by}; {more:,} more are not listed." if more > 0 else ""
