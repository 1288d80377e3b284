"""Packing by hand: user regions that the user named as such (`analyze --pack REGEX`).

The time of such a region, outside of communication calls, is work that a strided datatype would leave to the
middleware. To the accounts it is compute, because they know calls only; the profile knows its time. It counts as
middleware where
the two are shown apart: in the report, and in SENS's message overhead, to which gathering and scattering belong.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.pipeline.pack_pattern import compiled
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.wide import exact_sum, wide_sum


@dataclass(frozen=True)
class Packing:
    """The time of packing regions, without communication calls in them."""

    pattern: str
    regions: tuple[str, ...]
    """that match and were entered; the costliest first"""
    exposed_ps: int
    """over all ranks"""
    share: float
    """of their compute time"""


def packing(run: Run, compute_ps: int) -> Packing | None:
    """The time of packing; None where no regions were named, or the profile holds more than what the run is about.

    Arguments:
        run: a finished run.
        compute_ps: of all its ranks.
    """
    if run.manifest.pack is None or run.manifest.region_of_interest is not None:
        return None
    wanted = compiled(run.manifest.pack)
    regions = run.table("regions").select("region", "name", "kind")
    paths = run.table("callpaths").select("callpath", "parent", "region").join(regions, on="region").collect()
    below: dict[int, str] = {}
    for callpath, parent, name, kind in (
        paths.sort("callpath").select("callpath", "parent", "name", "kind").iter_rows()
    ):  # parents are before children
        if kind == "user" and wanted.search(name):
            below.setdefault(callpath, below.get(parent, name))
        elif kind == "user" and parent in below:
            below[callpath] = below[parent]
    inside = pl.DataFrame({"callpath": list(below), "name": list(below.values())}, schema=_BELOW)
    times = (
        program_profile(run.table)
        .lazy()
        .join(inside.lazy(), on="callpath")
        .group_by("name")
        .agg(wide_sum("exclusive_ps"))
        .sort("exclusive_ps", "name", descending=[True, False])
        .collect()
    )
    total = min(compute_ps, exact_sum(times["exclusive_ps"]))
    return Packing(run.manifest.pack, tuple(times["name"]), total, total / compute_ps if compute_ps > 0 else 0.0)


_BELOW = pl.Schema({"callpath": pl.Int32(), "name": pl.String()})
