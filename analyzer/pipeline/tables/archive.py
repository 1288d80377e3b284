"""The definition tables of a run, built from the native reader's trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.pipeline.recording.overwritten import number_of
from logpost.analyzer.run import schema
from logpost.analyzer.run.manifest import Hosts
from logpost.analyzer.run.parquet import frame
from logpost.replay._native import Analysis, call_kinds

REGION_KINDS = tuple(call_kinds())
LOCATION_KINDS = {0: "unknown", 1: "cpu", 2: "gpu", 3: "metric"}
"""Names by OTF2_LocationType."""


def definition_frames(trace: Trace, analysis: Analysis, sockets: npt.NDArray[np.int32]) -> dict[str, pl.DataFrame]:
    """locations, regions, callpaths and communicators."""
    return {
        "locations": _locations(trace, analysis, sockets),
        "regions": _regions(trace),
        "callpaths": _callpaths(trace),
        "communicators": _communicators(trace),
    }


def _locations(trace: Trace, analysis: Analysis, sockets: npt.NDArray[np.int32]) -> pl.DataFrame:
    columns = trace.locations()
    interest = analysis.interest()
    accounted = set(analysis.accounted())
    hosts_of = trace.nodes()["name"]
    n = len(columns["ref"])
    groups = {}
    for i, (group, rank) in enumerate(zip(columns["group"], columns["rank"], strict=True)):
        if rank >= 0:
            groups[int(group)] = f"rank {rank}"
        else:
            groups.setdefault(int(group), columns["name"][i])
    return pl.DataFrame(
        {
            "location": np.arange(n, dtype=np.int32),
            "rank": columns["rank"],
            "node": columns["node"],
            "socket": sockets,
            "process": columns["process"],
            "name": columns["name"],
            "group": [groups[int(group)] for group in columns["group"]],
            "host": [hosts_of[node] if node >= 0 else "" for node in columns["node"]],
            "kind": [LOCATION_KINDS.get(int(kind), "other") for kind in columns["type"]],
            "core": columns["core"],
            "ref": columns["ref"],
            "accounted": [i in accounted for i in range(n)],
            "first_ps": columns["first_ps"],
            "last_ps": columns["last_ps"],
            "wall_ps": columns["last_ps"] - columns["first_ps"],
            "begin_ps": interest["begin_ps"],
            "end_ps": interest["end_ps"],
            "events": columns["events"],
            "communication_events": columns["communication_events"],
        },
        schema=schema.LOCATIONS.schema,
    )


def _regions(trace: Trace) -> pl.DataFrame:
    columns = trace.regions()
    return pl.DataFrame(
        {
            "region": np.arange(len(columns["name"]), dtype=np.int32),
            "line": columns["line"],
            "name": columns["name"],
            "file": columns["file"],
            "kind": [REGION_KINDS[kind] for kind in columns["kind"]],
        },
        schema=schema.REGIONS.schema,
    )


def _callpaths(trace: Trace) -> pl.DataFrame:
    columns = trace.callpaths()
    names = trace.regions()["name"]
    paths: list[str] = []
    depths: list[int] = []
    for parent, region in zip(columns["parent"], columns["region"], strict=True):
        name = names[region] if region >= 0 else "(unknown)"
        paths.append(name if parent < 0 else f"{paths[parent]} / {name}")
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return pl.DataFrame(
        {
            "callpath": np.arange(len(paths), dtype=np.int32),
            "parent": columns["parent"],
            "region": columns["region"],
            "depth": depths,
            "line": columns.get("line", np.zeros(len(paths), dtype=np.int32)),
            "path": paths,
            "file": columns.get("file", [""] * len(paths)),
        },
        schema=schema.CALLPATHS.schema,
    )


def _communicators(trace: Trace) -> pl.DataFrame:
    columns = trace.communicators()
    return pl.DataFrame(
        {"comm": np.arange(len(columns["ref"]), dtype=np.int32), **columns},
        schema_overrides=dict(schema.COMMUNICATORS.schema),
    ).select(schema.COMMUNICATORS.schema.names())


def profile_frames(trace: Trace) -> dict[str, pl.DataFrame]:
    """profile and region_spans."""
    columns = trace.profile()
    regions = trace.callpaths()["region"]
    spans = (
        pl.DataFrame(
            {
                "region": regions[columns["callpath"]],
                "location": columns["location"],
                "first_enter_ps": columns["first_enter_ps"],
                "last_leave_ps": columns["last_leave_ps"],
            }
        )
        .filter(pl.col("region") >= 0)
        .group_by("region", "location")
        .agg(pl.col("first_enter_ps").min(), pl.col("last_leave_ps").max())
        .sort("region", "location")
    )
    return {"profile": frame(schema.PROFILE, columns), "region_spans": spans}


def detail_levels(trace: Trace, calls: pl.LazyFrame) -> pl.DataFrame:
    """The calls that set the level of detail; `calls` are the rows of the run's table."""
    columns = trace.detail_levels()
    levels = pl.DataFrame({name: columns[name] for name in ("location", "call", "level")})
    if levels.is_empty():
        return schema.DETAIL_LEVELS.empty()
    entered = (
        calls.select("location", "enter_ps")
        .filter(pl.col("location").is_in(levels["location"].unique().implode()))
        .with_columns(call=pl.int_range(pl.len(), dtype=pl.Int32).over("location"))
    )
    found = levels.lazy().join(entered, on=["location", "call"]).sort("location", "call").collect()
    return found.select(schema.DETAIL_LEVELS.schema.names())


def samples(trace: Trace) -> pl.DataFrame:
    """The code that locations were in between calls."""
    return frame(schema.SAMPLES, trace.samples())


def file_calls(trace: Trace) -> pl.DataFrame:
    """The calls that reach files, between communication calls."""
    return frame(schema.FILE_CALLS, trace.file_calls())


def any_source(trace: Trace) -> pl.DataFrame:
    """The receives whose sender the program left open."""
    return frame(schema.ANY_SOURCE, trace.any_source())


def places_of_locations(trace: Trace) -> pl.DataFrame:
    """What the archive says of where its locations ran."""
    columns = trace.locations()
    return pl.DataFrame({name: columns[name] for name in ("rank", "node", "socket", "core")})


def cores_of_nodes(trace: Trace) -> dict[int, int]:
    """Cores by node, where the archive states them."""
    return {node: int(cores) for node, cores in enumerate(trace.nodes()["cores"]) if cores > 0}


def hosts(trace: Trace) -> Hosts:
    """Where the ranks ran, and whether they outnumber the cores."""
    locations = trace.locations()
    nodes = trace.nodes()
    ranks = Counter(
        int(node) for node, rank in zip(locations["node"], locations["rank"], strict=True) if rank >= 0 and node >= 0
    )
    order = sorted(ranks)
    cores = [int(nodes["cores"][node]) for node in order]
    per_node = [ranks[node] for node in order]
    known = [(r, c) for r, c in zip(per_node, cores, strict=True) if c > 0]
    return Hosts(
        nodes=len(order),
        ranks_per_node=per_node,
        cores_per_node=cores,
        oversubscribed=any(r > c for r, c in known) if known else None,
        without_core=_without_core(dict(trace.properties())),
    )


def _without_core(properties: Mapping[str, str]) -> float | None:
    of = number_of(properties, "RUN_QUEUE_OF_NS")
    return number_of(properties, "RUN_QUEUE_NS") / of if of else None


def user_regions(trace: Trace) -> list[str]:
    """Names of the regions of the program itself."""
    regions = trace.regions()
    return [name for name, kind in zip(regions["name"], regions["kind"], strict=True) if REGION_KINDS[kind] == "user"]


def paradigms(trace: Trace) -> list[str]:
    """Communication paradigms of the trace, by the names of its regions: the paradigm field is not to be trusted."""
    regions = trace.regions()
    communicating = [
        name.lower()
        for name, kind in zip(regions["name"], regions["kind"], strict=True)
        if REGION_KINDS[kind] != "user"
    ]
    shmem = any("shmem" in name for name in communicating)
    mpi = any("shmem" not in name for name in communicating)
    return [name for name, seen in (("MPI", mpi), ("SHMEM", shmem)) if seen]
