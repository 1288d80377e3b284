"""Critical path and delay costs of a report."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from logpost.analyzer.findings.evidence.places import NOWHERE, Places
from logpost.analyzer.report import causes
from logpost.analyzer.report.data import CodePlace, CriticalPath, Delay, Delays, OnPath, PathOnRank, Share
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.undivided import UNDIVIDED
from logpost.analyzer.run.wide import exact_sum
from logpost.analyzer.words.categories import WAITING
from logpost.analyzer.words.location_names import LocationNames, named_text

PLACES = 12
"""Number of places listed, so that the report can be read within a minute."""
LEAST = 0.001
"""Share of the path, or of the waits, below which a place is not listed."""


def critical_path(run: Run, places: Places) -> CriticalPath | None:
    """The critical path of the program; None where the run has none."""
    path = run.table("critical_path")
    whole = path.select((pl.col("end_ps") - pl.col("begin_ps")).sum()).collect().item()
    if not whole:
        return None
    locations = run.table("locations").collect()
    names = LocationNames(locations)
    by_rank = causes.path_by_rank(run)
    length = exact_sum(by_rank["on_path_ps"])
    return CriticalPath(
        program_ps=length,
        whole_ps=int(whole),
        changes=_changes(path, locations),
        categories_ps=causes.path_by_category(run),
        ranks=tuple(
            PathOnRank(one.text, one.rank, one.thread, time, _share(time, length))
            for location, time in by_rank.iter_rows()
            for one in names.several([location])
        ),
        places=tuple(
            OnPath(_place(places, callpath, place), time, _share(time, length), imbalance)
            for callpath, place, time, imbalance, _ in causes.path_by_place(run).head(PLACES).iter_rows()
            if time >= LEAST * length
        ),
    )


def delays(run: Run, places: Places, breakdown: Sequence[Share]) -> Delays | None:
    """What makes ranks wait; None where no rank waits, or the run does not say."""
    waits, unexplained = causes.waits_ps(run)
    if not waits:
        return None
    names = LocationNames(run.table("locations").collect())
    rows = causes.delaying_places(run).head(PLACES)
    return Delays(
        waits_ps=waits,
        split_waits_ps=sum(share.exposed_ps for share in breakdown if share.category in WAITING),
        split_undivided_ps=sum(share.exposed_ps for share in breakdown if share.category == UNDIVIDED),
        unexplained_ps=unexplained,
        places=tuple(
            Delay(
                _place(places, callpath, place),
                tuple(sorted({one.rank for one in names.several(locations) if one.rank is not None})),
                named_text(names.several(locations)),
                short_term,
                long_term,
                _share(short_term + long_term, waits),
            )
            for callpath, place, short_term, long_term, locations in rows.iter_rows()
            if short_term + long_term >= LEAST * waits
        ),
    )


def _place(places: Places, callpath: int, place: str) -> CodePlace:
    at = places.get(callpath, NOWHERE)
    line = at.line if at.is_site else 0
    return CodePlace(at.path, at.region, at.file, line, at.source, place == causes.COMPUTATION)


def _share(time: int, whole: int) -> float:
    return time / whole if whole else 0.0


def _changes(path: pl.LazyFrame, locations: pl.DataFrame) -> int:
    """Stretches that begin in the program by a wait of their location."""
    bounds = locations.lazy().select("location", "begin_ps", "end_ps")
    rows = (
        path.filter(pl.col("call") >= 0)
        .select("location", at_ps="begin_ps")
        .join(bounds, on="location")
        .filter(pl.col("at_ps") >= pl.col("begin_ps"), pl.col("at_ps") < pl.col("end_ps"))
    )
    return int(rows.select(pl.len()).collect().item())
