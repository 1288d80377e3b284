"""Computes a report's data from the small tables of a run."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.efficiencies import efficiencies
from logpost.analyzer.findings.evidence import WAITING
from logpost.analyzer.reporting.conclusion import conclude
from logpost.analyzer.reporting.data import (
    FoundHere,
    HostFacts,
    Largest,
    Messages,
    Place,
    RankTime,
    Report,
    Share,
    WaitState,
)
from logpost.analyzer.reporting.units import count_text, percent_text
from logpost.analyzer.run import Run
from logpost.analyzer.schema import CATEGORIES, PARTS, WAIT_STATES

PLACES = 12
"""Call paths listed; the report is read within a minute."""


def build(run: Run) -> Report:
    """The report of a run; reads every small table once and none of the large ones."""
    manifest = run.manifest
    exposed = run.table("accounting").with_columns(pl.col("category").cast(pl.String))
    by_rank = exposed.group_by("location", "category").agg(pl.col("exposed_ps").sum()).collect()
    ranks = _rank_times(run, by_rank)
    total = sum(rank.wall_ps for rank in ranks)
    breakdown = _breakdown(by_rank, total)
    found = _findings(run)
    start_up = _start_up(run) / total if total else 0.0
    return Report(
        run=str(run.path),
        source=manifest.source.anchor,
        tool_version=manifest.tool_version,
        wall_ps=manifest.clock.length_ps,
        ranks=manifest.ranks,
        start_up_share=start_up,
        events=manifest.events,
        communication_events=manifest.communication_events,
        paradigms=tuple(manifest.paradigms),
        hosts=HostFacts(
            nodes=manifest.hosts.nodes,
            ranks_per_node=tuple(manifest.hosts.ranks_per_node),
            cores_per_node=tuple(manifest.hosts.cores_per_node),
            oversubscribed=manifest.hosts.oversubscribed,
        ),
        warnings=_warnings(run),
        conclusion=conclude(
            breakdown, _largest(run, breakdown), start_up, found, oversubscribed=manifest.hosts.oversubscribed is True
        ),
        findings=found,
        breakdown=breakdown,
        rank_times=ranks,
        efficiencies=efficiencies([rank.compute_ps for rank in ranks], _runtime(run)),
        wait_states=_wait_states(run),
        places=_places(run, total),
        messages=_messages(run),
        machine=manifest.machine,
        quality=tuple(manifest.quality),
        limits=_limits(run),
    )


def _runtime(run: Run) -> int:
    rows = (
        run.table("locations").filter("accounted").select(pl.col("last_ps").max() - pl.col("first_ps").min()).collect()
    )
    return int(rows.item() or 0)


def _rank_times(run: Run, by_rank: pl.DataFrame) -> tuple[RankTime, ...]:
    wide = by_rank.group_by("location").agg(
        compute=pl.col("exposed_ps").filter(pl.col("category") == "compute").sum(),
        waiting=pl.col("exposed_ps").filter(pl.col("category").is_in(WAITING)).sum(),
        communication=pl.col("exposed_ps").filter(pl.col("category") != "compute").sum(),
    )
    rows = (
        run.table("locations")
        .filter("accounted")
        .join(wide.lazy(), on="location", how="left")
        .sort("location")
        .select(
            "location",
            "name",
            "rank",
            "host",
            "wall_ps",
            pl.col("compute", "waiting", "communication").fill_null(0),
        )
        .collect()
    )
    return tuple(RankTime(*row) for row in rows.iter_rows())


def _breakdown(by_rank: pl.DataFrame, total: int) -> tuple[Share, ...]:
    sums = dict(by_rank.group_by("category").agg(pl.col("exposed_ps").sum()).iter_rows())
    return tuple(
        Share(category, int(sums.get(category, 0)), int(sums.get(category, 0)) / total if total else 0.0)
        for category in CATEGORIES
    )


def _start_up(run: Run) -> int:
    """Exposed time of MPI_Init, MPI_Finalize and their like; ps."""
    inside = run.table("callpaths").join(run.table("regions").filter(pl.col("kind") == "init_finalize"), on="region")
    rows = run.table("exposure").join(inside, on="callpath", how="semi").select(pl.col("exposed_ps").sum()).collect()
    return int(rows.item() or 0)


def _largest(run: Run, breakdown: tuple[Share, ...]) -> Largest:
    worst = max(breakdown[1:], key=lambda share: share.exposed_ps)
    names = run.table("callpaths").join(run.table("regions").select("region", "name"), on="region", how="left")
    rows = (
        run.table("exposure")
        .filter(pl.col("category").cast(pl.String) == worst.category)
        .join(names.select("callpath", "name"), on="callpath")
        .group_by("name")
        .agg(pl.col("exposed_ps").sum())
        .sort("exposed_ps", descending=True)
        .collect()
    )
    return Largest(worst.category, worst.share, "" if rows.is_empty() else rows["name"][0] or "")


def _findings(run: Run) -> tuple[FoundHere, ...]:
    width, length = run.manifest.windows.width_ps, run.manifest.clock.length_ps
    paths = dict(run.table("callpaths").select("callpath", "path").collect().iter_rows())
    rows = run.table("findings").with_columns(pl.col("kind").cast(pl.String)).collect()
    return tuple(
        FoundHere(
            path=paths.get(row["callpath"], ""),
            begin_ps=max(0, row["first_window"] * width),
            end_ps=min(length, (row["last_window"] + 1) * width),
            **{name: row[name] for name in row if name != "callpath"},
        )
        for row in rows.iter_rows(named=True)
    )


def _wait_states(run: Run) -> tuple[WaitState, ...]:
    rows = (
        run.table("wait_states")
        .group_by(pl.col("pattern").cast(pl.String))
        .agg(pl.col("wait_ticks").sum(), pl.col("count").sum())
        .collect()
    )
    known = {name: (int(wait), int(count)) for name, wait, count in rows.iter_rows()}
    rate = run.manifest.clock.ticks_per_second
    found = []
    for name in WAIT_STATES:
        ticks, count = known.get(name, (0, 0))
        found.append(WaitState(name, ticks / rate, count))
    return tuple(found)


def _places(run: Run, total: int) -> tuple[Place, ...]:
    """The call paths with the most exposed communication time."""
    exposure = run.table("exposure").with_columns(pl.col("category").cast(pl.String))
    # `calls` belongs to (location, callpath) and is repeated in each of its category rows.
    calls = (
        exposure.group_by("location", "callpath")
        .agg(pl.col("calls").max())
        .group_by("callpath")
        .agg(pl.col("calls").sum())
    )
    names = run.table("callpaths").join(run.table("regions").select("region", "name"), on="region", how="left")
    rows = (
        exposure.group_by("callpath", "category")
        .agg(pl.col("exposed_ps").sum())
        .sort("exposed_ps", descending=True)
        .group_by("callpath", maintain_order=True)
        .agg(
            exposed=pl.col("exposed_ps").sum(),
            waiting=pl.col("exposed_ps").filter(pl.col("category").is_in(WAITING)).sum(),
            largest=pl.col("category").first(),
            largest_ps=pl.col("exposed_ps").first(),
        )
        .join(calls, on="callpath")
        .join(names.select("callpath", "path", "name"), on="callpath", how="left")
        .filter(pl.col("exposed") > 0)
        .sort("exposed", "callpath", descending=[True, False])
        .head(PLACES)
        .collect()
    )
    return tuple(
        Place(
            path=row["path"] or "",
            region=row["name"] or "",
            calls=int(row["calls"]),
            exposed_ps=int(row["exposed"]),
            share=int(row["exposed"]) / total if total else 0.0,
            waiting_ps=int(row["waiting"]),
            largest=row["largest"],
            largest_ps=int(row["largest_ps"]),
        )
        for row in rows.iter_rows(named=True)
    )


def _messages(run: Run) -> Messages:
    sums = run.table("pairs").select(pl.exclude("send_location", "recv_location").sum()).collect()
    row = {name: int(value or 0) for name, value in sums.row(0, named=True).items()} if sums.height else {}
    return Messages(
        count=row.get("messages", 0),
        bytes=row.get("bytes", 0),
        envelope_ps=row.get("envelope_ps", 0),
        parts_ps={part: row.get(f"{part}_ps", 0) for part in PARTS},
        deficit_ps=row.get("deficit_ps", 0),
    )


def _warnings(run: Run) -> tuple[str, ...]:
    manifest, found = run.manifest, []
    hosts = manifest.hosts
    if hosts.oversubscribed is True:
        crowded = [
            f"{count_text(ranks, 'rank')} on {count_text(cores, 'core')}"
            for ranks, cores in zip(hosts.ranks_per_node, hosts.cores_per_node, strict=False)
            if 0 < cores < ranks
        ]
        where = f" ({crowded[0]}{' on one node' if len(hosts.ranks_per_node) > 1 else ''})" if crowded else ""
        found.append(
            f"Ranks outnumber cores{where}: every wait below contains the time in which the awaited rank had no core. "
            "Compare shares between runs on this machine, but do not expect these times on a machine with enough cores."
        )
    lost = [count for count in manifest.quality if count.severity == "data_loss" and count.count > 0]
    if lost:
        found.append(
            f"The trace is incomplete: {'; '.join(f'{count.name} ({count.count:,})' for count in lost)}. "
            "Sums below leave out what is missing."
        )
    if manifest.machine.deficit_share > 0.2:
        found.append(
            f"The machine's parameters want {percent_text(manifest.machine.deficit_share)} more message time than was "
            "measured: they are too slow for this machine, and the modelled parts below are upper bounds."
        )
    return tuple(found)


def _limits(run: Run) -> tuple[str, ...]:
    """The manifest's notes and what follows from how the analysis works."""
    own = list(run.manifest.notes)
    if not any("network contention" in note.lower() for note in own):
        own.append(
            "Network contention is not separated yet and reads 0: where it occurs, it is inside endpoint contention "
            "or residual."
        )
    if run.manifest.hosts.oversubscribed is None:
        own.append("The trace does not say how many cores a node has: ranks may have shared cores.")
    own.append("Findings may show the same waiting from two sides; their times do not add up.")
    return tuple(dict.fromkeys(own))
