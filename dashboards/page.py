"""What the report page of a run says: charts, tables and sentences, computed once and drawn elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.manifest import Manifest
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
    title: str
    run_path: str
    facts: list[tuple[str, str, str]]
    """Label, value, remark."""
    banner: str
    conclusion: str
    findings: list[dict[str, Any]]
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
    locations = run.table("locations").collect()
    on = rows(locations, caps.rows)
    ranks = rows(locations, max(1, locations.height))
    over = columns(manifest.windows, caps.columns)
    cube = time_cube(run.table("accounting"), on, over)
    each = time_cube(run.table("accounting"), ranks, columns(manifest.windows, 1))[:, 0, :]
    total = dict(zip(CATEGORIES, each.sum(axis=0).tolist(), strict=True))
    names = location_names(locations)
    charts: dict[str, Chart] = {}
    grids: dict[str, Grid] = {}
    notes: dict[str, list[str]] = {
        "breakdown": [on.note],
        "timeline": [on.note, over.note],
        "load": [on.note, over.note],
    }
    if any(total.values()):
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
    waits = (
        run.table("wait_states")
        .group_by("pattern")
        .agg(pl.col("wait_ticks", "count").sum())
        .with_columns((pl.col("wait_ticks") * (1e12 / manifest.clock.ticks_per_second)).alias("wait_ps"))
        .collect()
    )
    if waits.filter(pl.col("wait_ps") > 0).height:
        charts["wait_states"] = wait_states(waits)
        grids["wait_states"] = _waits_grid(waits)
    paths = _top_callpaths(run)
    if paths.height:
        charts["callpaths"] = callpaths(paths)
        grids["callpaths"] = _callpaths_grid(paths)
    grids |= _machine_grids(manifest)
    findings = run.table("findings").head(MOST_FINDINGS).collect().to_dicts()
    return Page(
        manifest=manifest,
        title=_title(manifest),
        run_path=str(run.path),
        facts=_facts(run, locations, total, pairs),
        banner=_banner(manifest),
        conclusion=_conclusion(manifest, total, findings),
        findings=findings,
        findings_left_out=run.table("findings").select(pl.len()).collect().item() - len(findings),
        charts=charts,
        grids=grids,
        notes={name: [line for line in lines if line] for name, lines in notes.items()},
        present=[category for category in palette.INKS if total[category] > 0],
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


def _facts(
    run: Run, locations: pl.DataFrame, total: dict[str, float], pairs: pl.DataFrame
) -> list[tuple[str, str, str]]:
    manifest = run.manifest
    accounted = locations.filter("accounted")
    slowest = int(accounted["wall_ps"].max() or 0)  # type: ignore[arg-type]
    everything = sum(total.values())
    nodes = manifest.hosts.nodes
    sent = int(pairs["bytes"].sum())
    return [
        ("Wall time", time_text(slowest), "slowest rank"),
        ("Ranks", grouped(manifest.ranks), f"on {nodes} node{'' if nodes == 1 else 's'}"),
        ("Messages", grouped(manifest.messages), f"{bytes_text(sent)} in all"),
        (
            "Outside compute",
            percent_text(1 - total["compute"] / everything) if everything else "–",
            "of all ranks' time",
        ),
        ("Unexplained", percent_text(manifest.machine.residual_share), "residual, of message time"),
    ]


def _banner(manifest: Manifest) -> str:
    hosts = manifest.hosts
    if not hosts.oversubscribed:
        return ""
    worst = max(
        (pair for pair in zip(hosts.ranks_per_node, hosts.cores_per_node, strict=False) if pair[1] > 0),
        key=lambda pair: pair[0] / pair[1],
        default=None,
    )
    how = f" ({worst[0]} ranks on {worst[1]} cores on the fullest node)" if worst else ""
    return (
        f"Ranks outnumber cores{how}. Every wait below also contains time in which a rank stood ready "
        "but had no core; compare shares, and do not read single waits as the network's."
    )


def _conclusion(manifest: Manifest, total: dict[str, float], findings: list[dict[str, Any]]) -> str:
    everything = sum(total.values())
    if not everything:
        return "The trace holds no time of any rank, so there is nothing to explain."
    outside = {category: t for category, t in total.items() if category != "compute" and t > 0}
    if not outside:
        return "All of the ranks' time is compute: the trace holds no communication."
    worst = max(outside, key=lambda category: outside[category])
    said = (
        f"{percent_text(1 - total['compute'] / everything)} of the ranks' time is not compute; the largest part of it "
        f"is {palette.label(worst)} with {time_text(outside[worst])}, {percent_text(outside[worst] / everything)} of "
        "all time."
    )
    return said + (f" Look first at: {findings[0]['title']}." if findings else " No hotspot stands out.")


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


def _waits_grid(waits: pl.DataFrame) -> Grid:
    body = [
        (NAMES[pattern], time_text(wait), grouped(count))
        for pattern, wait, count in waits.filter(pl.col("wait_ps") > 0)
        .sort("wait_ps", descending=True)
        .select("pattern", "wait_ps", "count")
        .iter_rows()
    ]
    return Grid(("wait state", "time over all ranks", "occurrences"), body, frozenset({1, 2}))


def _top_callpaths(run: Run) -> pl.DataFrame:
    """callpath, label, category, exposed_ps, calls of the callpaths with the most exposed communication time."""
    exposed = run.table("exposure").filter(pl.col("category") != "compute")
    top = (
        exposed.group_by("callpath")
        .agg(pl.col("exposed_ps").sum().alias("all_ps"))
        .filter(pl.col("all_ps") > 0)
        .sort("all_ps", "callpath", descending=[True, False])
        .head(MOST_CALLPATHS)
    )
    calls = (
        exposed.group_by("callpath", "location")
        .agg(pl.col("calls").max())
        .group_by("callpath")
        .agg(pl.col("calls").sum())
    )
    return (
        exposed.join(top, on="callpath")
        .group_by("callpath", "category")
        .agg(pl.col("exposed_ps").sum())
        .join(calls, on="callpath")
        .join(run.table("callpaths").select("callpath", pl.col("path").alias("label")), on="callpath", how="left")
        .with_columns(pl.col("label").fill_null("(unknown)"))
        .sort("callpath", "category")
        .collect()
    )


def _callpaths_grid(paths: pl.DataFrame) -> Grid:
    largest = pl.col("exposed_ps").arg_max()
    table = (
        paths.group_by("callpath", "label", "calls")
        .agg(pl.col("exposed_ps").sum().alias("all_ps"), pl.col("category", "exposed_ps").get(largest))
        .sort("all_ps", "callpath", descending=[True, False])
    )
    body = [
        (
            r["label"],
            grouped(r["calls"]),
            time_text(r["all_ps"]),
            f"{palette.label(r['category'])}, {percent_text(r['exposed_ps'] / r['all_ps'])}",
        )
        for r in table.iter_rows(named=True)
    ]
    return Grid(("callpath", "calls", "exposed time over all ranks", "largest part"), body, frozenset({1, 2}))


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
