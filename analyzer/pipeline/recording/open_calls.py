"""The calls that never ended, as the run has them, and what they say of the recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.pipeline.recording.ended_early import OpenCall, sentences
from logpost.analyzer.run import schema
from logpost.analyzer.words.location_names import LocationNames

SO_FAR_PROPERTY = "LOGPOST::SO_FAR"
"""A property of an archive that was made while its program ran (`record --dump-signal`, `--hang`)."""


def open_calls(trace: Trace) -> pl.DataFrame:
    """The calls that never ended."""
    rows = trace.open_calls()
    return pl.DataFrame(rows, schema=schema.OPEN_CALLS.schema, orient="row") if rows else schema.OPEN_CALLS.empty()


def ended_early(trace: Trace, frames: Mapping[str, pl.DataFrame]) -> list[str]:
    """What is to be said of a recording that ended early; nothing of one that did not.

    Args:
        trace: of the archive.
        frames: its tables `open_calls`, `locations`, `callpaths`, `regions`.
    """
    if frames["open_calls"].is_empty():
        return []
    locations = LocationNames(frames["locations"])
    names = dict(frames["regions"].select("region", "name").iter_rows())
    paths = {row["callpath"]: row for row in frames["callpaths"].iter_rows(named=True)}
    calls = []
    for location, callpath, waits_for in frames["open_calls"].iter_rows():
        path = paths[callpath]
        place = f"{Path(path['file']).name}:{path['line']}" if path["file"] and path["line"] else ""
        named = locations.one(location)
        if named.rank is not None:
            calls.append(OpenCall(named.rank, names[path["region"]], place, waits_for, named.thread))
    communicators = trace.communicators()
    members = {
        int(ref): [rank for location in group if location >= 0 and (rank := locations.rank(location)) is not None]
        for ref, group in zip(communicators["ref"], communicators["members"], strict=True)
    }
    so_far = SO_FAR_PROPERTY in dict(trace.properties())
    return sentences(calls, locations.ranks, members, so_far=so_far)
