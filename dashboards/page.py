"""What the report page of a run says: charts, tables and sentences, computed once and drawn elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.manifest import Manifest
from logpost.analyzer.reporting.build import build as build_report
from logpost.analyzer.reporting.data import FoundHere, Report
from logpost.analyzer.reporting.units import bytes_text, percent_text, time_text
from logpost.analyzer.run import Run
from logpost.analyzer.schema import CATEGORIES
from logpost.dashboards import palette
from logpost.dashboards.figures.breakdown import breakdown
from logpost.dashboards.figures.callpaths import callpaths
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.load import load
from logpost.dashboards.figures.matrix import matrix
from logpost.dashboards.figures.timeline import timeline
from logpost.dashboards.figures.wait_states import NAMES, wait_states
from logpost.dashboards.grid import Columns, Rows, columns, rows, time_cube
from logpost.dashboards.text import grouped, significant

MOST_FINDINGS = 50
MOST_TABLE_ROWS = 20
MOST_CALLPATHS = 12


@dataclass(frozen=True)
class Caps:
    """The most rows and columns of a figure; a page that would pass the limit is made again, coarser."""

    rows: int = 200
    matrix: int = 128
    columns: int = 160

    def scaled(self, factor: float) -> Caps:
        """Caps times `factor` in each direction, never below 8."""
        return Caps(*(max(8, int(factor * cap)) for cap in (self.rows, self.matrix, self.columns)))


@dataclass(frozen=True)
class Grid:
    """A table of ready text: headings with units, rows, and which columns are numbers."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numeric: frozenset[int] = frozenset()
    left_out: str = ""
    """What the table does not show, in words."""


@dataclass(frozen=True)
class Page:
    """Everything the template needs."""

    manifest: Manifest
    report: Report
    title: str
    facts: list[tuple[str, str, str]]
    """Label, value, remark."""
    findings: Sequence[FoundHere]
    findings_left_out: int
    charts: dict[str, Chart]
    grids: dict[str, Grid]
    notes: dict[str, list[str]]
    present: list[str]
    """Categories with time, in the order of stacking."""
    model_error: str


def build(run: Run, caps: Caps) -> Page:
    """Compute the page of a run.

    Args:
        run: a finished run.
        caps: how much detail the figures may hold.
    """
    manifest = run.manifest
    report = build_report(run)
    locations = run.table("locations").collect()
    on = rows(locations, caps.rows)
    ranks = rows(locations, max(1, locations.height))
    over = columns(manifest.windows, caps.columns)
    cube = time_cube(run.table("accounting"), on, over)
    each = time_cube(run.table("accounting"), ranks, columns(manifest.windows, 1))[:, 0, :]
    names = location_names(locations)
    charts: dict[str, Chart] = {}
    grids: dict[str, Grid] = {}
    notes: dict[str, list[str]] = {
        "breakdown": [on.note],
        "timeline": [on.note, over.note],
        "load": [on.note, over.note],
    }
    if each.any():
        charts["breakdown"] = breakdown(each, ranks, on)
        charts["timeline"] = timeline(cube, on, over)
        grids["breakdown"] = _breakdown_grid(cube.sum(axis=1), on)
        grids["timeline"] = _timeline_grid(cube, over)
    pairs = run.table("pairs").collect()
    if pairs.height:
        coarse = rows(locations, caps.matrix)
        charts["matrix"] = matrix(pairs, coarse)
        grids["matrix"] = _pairs_grid(pairs, names)
        notes["matrix"] = [coarse.note]
    if run.table("load").head(1).collect().height:
        charts["load"] = load(run.table("load"), on, over)
        grids["load"] = _load_grid(run, names)
    waits = [state for state in report.wait_states if state.wait_ps > 0]
    if waits:
        charts["wait_states"] = wait_states(waits)
        grids["wait_states"] = Grid(
            ("wait state", "time over all ranks", "occurrences"),
            [(NAMES[w.name], time_text(w.wait_ps), grouped(w.count)) for w in waits],
            frozenset({1, 2}),
        )
    paths = _top_callpaths(run)
    if paths.height:
        charts["callpaths"] = callpaths(paths)
        grids["callpaths"] = _callpaths_grid(report)
    grids |= _machine_grids(manifest)
    return Page(
        manifest=manifest,
        report=report,
        title=_title(manifest),
        facts=_facts(report),
        findings=report.findings[:MOST_FINDINGS],
        findings_left_out=max(0, len(report.findings) - MOST_FINDINGS),
        charts=charts,
        grids=grids | {"efficiencies": _efficiencies_grid(report)},
        notes={name: [line for line in lines if line] for name, lines in notes.items()},
        present=[c for c in palette.INKS if each[:, CATEGORIES.index(c)].any()],
        model_error=_model_error(manifest),
    )


def location_names(locations: pl.DataFrame) -> dict[int, str]:
    """Location → what people call it: its rank where that names it, else its name in the archive."""
    shared = set(locations.filter(pl.col("rank").is_duplicated())["rank"])
    return {
        location: f"rank {rank}" if rank >= 0 and rank not in shared else name
        for location, rank, name in locations.select("location", "rank", "name").iter_rows()
    }


def _title(manifest: Manifest) -> str:
    parts = [part for part in manifest.source.anchor.replace("\\", "/").split("/") if part]
    return parts[-2] if len(parts) > 1 and parts[-1].endswith(".otf2") else (parts[-1] if parts else "run")


def _facts(report: Report) -> list[tuple[str, str, str]]:
    nodes = report.hosts.nodes
    compute = next((share.share for share in report.breakdown if share.category == "compute"), 0.0)
    some = any(share.exposed_ps for share in report.breakdown)
    known = {e.name: e.value for e in report.efficiencies}
    balance, communication = (known.get(name) for name in ("load_balance", "communication_efficiency"))
    return [
        ("Wall time", time_text(report.slowest_wall_ps), "slowest rank"),
        ("Ranks", grouped(report.ranks), f"on {nodes} node{'' if nodes == 1 else 's'}"),
        ("Messages", grouped(report.messages.count), f"{bytes_text(report.messages.bytes)} in all"),
        ("Outside compute", percent_text(1 - compute) if some else "–", "of all ranks' time"),
        (
            "Parallel efficiency",
            _fraction(known.get("parallel_efficiency")),
            f"balance {_fraction(balance)} × communication {_fraction(communication)}",
        ),
        ("Unexplained", percent_text(report.machine.residual_share), "residual, of message time"),
    ]


def _fraction(value: float | None) -> str:
    return "–" if value is None else percent_text(value)


def _model_error(manifest: Manifest) -> str:
    machine = manifest.machine
    known = machine.label if machine.name in machine.label else f"{machine.name} ({machine.label})"
    return (
        f"Machine {known}: {percent_text(machine.residual_share)} of message time stays "
        f"unexplained, and the model wants {percent_text(machine.deficit_share)} more than was measured."
    )


def _breakdown_grid(by_row: np.ndarray, on: Rows) -> Grid:
    shown = [category for category in palette.INKS if by_row[:, CATEGORIES.index(category)].any()]
    mean = by_row / np.maximum(on.sizes, 1)[:, None]
    body = [
        (name, time_text(mean[i].sum()), *(time_text(mean[i, CATEGORIES.index(c)]) for c in shown))
        for i, name in enumerate(on.names)
    ]
    head = (on.what, "wall time", *map(palette.label, shown))
    return Grid(head, body, frozenset(range(1, len(head))))


def _timeline_grid(cube: np.ndarray, over: Columns) -> Grid:
    body = []
    step = max(1, -(-over.count // MOST_TABLE_ROWS))
    for start in range(0, over.count, step):
        part = cube[:, start : start + step].sum(axis=(0, 1))
        if not part.sum():
            continue
        worst = 1 + int(part[1:].argmax())
        said = (
            (palette.label(CATEGORIES[worst]), percent_text(part[worst] / part.sum()))
            if part[worst]
            else ("–", "0.0 %")
        )
        end = min(start + step, over.count)
        begin, until = time_text(start * over.width_ps), time_text(end * over.width_ps)
        body.append((f"{begin} – {until}", percent_text(1 - part[0] / part.sum()), *said))
    return Grid(("time", "outside compute", "largest part", "its share"), body, frozenset({1, 3}))


def _pairs_grid(pairs: pl.DataFrame, names: dict[int, str]) -> Grid:
    top = pairs.sort("bytes", "messages", descending=True).head(MOST_TABLE_ROWS)
    body = [
        (
            names.get(p["send_location"], "?"),
            names.get(p["recv_location"], "?"),
            grouped(p["messages"]),
            bytes_text(p["bytes"]),
            time_text(p["envelope_ps"]),
            time_text(p["endpoint_contention_ps"] + p["network_contention_ps"]),
            time_text(p["late_sender_ps"] + p["late_receiver_ps"]),
            time_text(p["residual_ps"]),
        )
        for p in top.iter_rows(named=True)
    ]
    head = ("sender", "receiver", "messages", "bytes", "message time", "contention", "waiting", "residual")
    return Grid(head, body, frozenset(range(2, 8)), _rest(pairs.height, "pairs", "bytes"))


def _load_grid(run: Run, names: dict[int, str]) -> Grid:
    width = run.manifest.windows.width_ps
    hottest = pl.col("bytes").arg_max()
    all_rows = (
        run.table("load")
        .filter(pl.col("direction") == "recv")
        .group_by("location")
        .agg(
            pl.col("bytes", "messages", "queued_ps").sum().name.prefix("all_"),
            pl.col("window").get(hottest),
            pl.col("bytes", "peers", "busy_ps").get(hottest),
        )
        .sort("all_queued_ps", "all_bytes", "location", descending=[True, True, False])
        .collect()
    )
    body = [
        (
            names.get(r["location"], "?"),
            bytes_text(r["all_bytes"]),
            grouped(r["all_messages"]),
            time_text(r["all_queued_ps"]),
            time_text(r["window"] * width),
            bytes_text(r["bytes"]),
            grouped(r["peers"]),
            percent_text(r["busy_ps"] / width if width else 0.0),
        )
        for r in all_rows.head(MOST_TABLE_ROWS).iter_rows(named=True)
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


def _efficiencies_grid(report: Report) -> Grid:
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
        (head.get(e.name, e.name), _fraction(e.value), e.reason or meaning.get(e.name, "")) for e in report.efficiencies
    ]
    return Grid(("efficiency", "value", "meaning"), body, frozenset({1}))


def _top_callpaths(run: Run) -> pl.DataFrame:
    """callpath, label, category, exposed_ps of the callpaths with the most exposed communication time."""
    exposed = run.table("exposure").filter(pl.col("category") != "compute")
    top = (
        exposed.group_by("callpath")
        .agg(pl.col("exposed_ps").sum().alias("all_ps"))
        .filter(pl.col("all_ps") > 0)
        .sort("all_ps", "callpath", descending=[True, False])
        .head(MOST_CALLPATHS)
    )
    return (
        exposed.join(top, on="callpath")
        .group_by("callpath", "category")
        .agg(pl.col("exposed_ps").sum())
        .join(run.table("callpaths").select("callpath", pl.col("path").alias("label")), on="callpath", how="left")
        .with_columns(pl.col("label").fill_null("(unknown)"))
        .sort("callpath", "category")
        .collect()
    )


def _callpaths_grid(report: Report) -> Grid:
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


def _machine_grids(manifest: Manifest) -> dict[str, Grid]:
    values = [
        (
            v.locality.replace("_", " "),
            v.parameter.replace("_", " ") if v.parameter == "eager_limit" else v.parameter,
            "all" if v.up_to_bytes is None else f"up to {bytes_text(v.up_to_bytes)}",
            f"{significant(v.value, 4)} {v.unit}",
            "not stated" if v.uncertainty is None else f"± {significant(v.uncertainty, 2)} {v.unit}",
            v.source,
        )
        for v in manifest.machine.values
    ]
    quality = [
        (q.severity.replace("_", " "), q.name.replace("_", " "), grouped(q.count), q.blame, q.sentence)
        for q in sorted(manifest.quality, key=lambda q: ("data_loss", "error", "info").index(q.severity))
    ]
    hosts = manifest.hosts
    shown = list(_hosts(hosts.ranks_per_node, hosts.cores_per_node))
    return {
        "machine": Grid(
            ("between", "parameter", "message size", "value", "uncertainty", "source"), values, frozenset({3, 4})
        ),
        "quality": Grid(("severity", "counter", "count", "lies with", "meaning"), quality, frozenset({2})),
        "hosts": Grid(("nodes", "ranks on each", "cores on each"), shown, frozenset({0, 1, 2})),
    }


def _hosts(ranks: list[int], cores: list[int]) -> Iterable[tuple[str, str, str]]:
    """Equal nodes share a row."""
    pairs = [(r, cores[i] if i < len(cores) else 0) for i, r in enumerate(ranks)]
    for r, c in sorted(set(pairs), reverse=True)[:MOST_TABLE_ROWS]:
        yield grouped(pairs.count((r, c))), grouped(r), grouped(c) if c else "not stated"


def _rest(height: int, what: str, by: str) -> str:
    more = height - MOST_TABLE_ROWS
    return f"The {MOST_TABLE_ROWS} {what} with the most {by}; {more:,} more are not listed." if more > 0 else ""
