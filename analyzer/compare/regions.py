"""Regions of two runs side by side: exposed time of communication calls, own time of user regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.compare.change import Change
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.wide import wide_sum


@dataclass(frozen=True)
class RegionChange:
    """A region in both runs: exposed communication time of its calls, or its own time if it is a user region."""

    region: str
    kind: str
    """"communication" or "compute"."""
    time: Change
    count: Change
    """calls or visits"""
    was: str = ""
    """its name in A where that is another"""


def times_of(regions: Iterable[RegionChange]) -> dict[str, Change]:
    """Region name (of either run) to its time, of communication and own time together where a name has both."""
    found: dict[str, Change] = {}
    former: dict[str, str] = {}
    for change in regions:
        known = found.get(change.region, Change(change.region, 0, 0))
        found[change.region] = Change(
            change.region,
            (known.before or 0) + (change.time.before or 0),
            (known.after or 0) + (change.time.after or 0),
        )
        if change.was:
            former.setdefault(change.was, change.region)
    return {was: found[region] for was, region in former.items()} | found


def _by_region(run: Run) -> dict[tuple[str, str], tuple[int, int]]:
    """(kind, region name) to (time in ps, calls or visits)."""
    named = (
        run.table("callpaths")
        .join(run.table("regions").select("region", "name", "kind"), on="region", how="left")
        .select("callpath", "name", "kind")
    )
    calls = (
        program(run.table("exposure"))
        .group_by("location", "callpath")
        .agg(wide_sum("exposed_ps"), pl.col("calls").max())
    )
    communication = (
        calls.join(named, on="callpath").group_by("name").agg(wide_sum("exposed_ps"), pl.col("calls").sum()).collect()
    )
    compute = (
        program_profile(run.table)
        .lazy()
        .join(named, on="callpath")
        .group_by("name")
        .agg(wide_sum("exclusive_ps"), pl.col("visits").sum())
        .collect()
    )
    found = {("communication", name or ""): (int(t), int(n)) for name, t, n in communication.iter_rows()}
    return found | {("compute", name or ""): (int(t), int(n)) for name, t, n in compute.iter_rows()}


def changes_by_region(before: Run, after: Run, renames: Mapping[str, str]) -> list[RegionChange]:
    """Every region of either run, the largest change first; `renames`: A's names to those of B."""
    old, b = _by_region(before), _by_region(after)
    former = {new: name for name, new in renames.items()}
    a = {(kind, renames.get(region, region)): figures for (kind, region), figures in old.items()}
    changes = []
    for kind, region in {**a, **b}:
        (t0, n0), (t1, n1) = a.get((kind, region), (0, 0)), b.get((kind, region), (0, 0))
        was = former.get(region, "")
        changes.append(RegionChange(region, kind, Change(region, t0, t1), Change(region, n0, n1), was))
    changes.sort(key=lambda c: (-abs(c.time.difference or 0), c.kind, c.region))
    return changes
