"""Explain a member's part in a collective operation: its path through the replayed messages, under every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.explain.piece import Piece, joined
from logpost.analyzer.findings.evidence.places import NOWHERE, Place, Places
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import ALGORITHMS, COLLECTIVE_PARTS
from logpost.analyzer.run.undivided import UNDIVIDED
from logpost.analyzer.words.location_names import LocationNames
from logpost.replay._native import Analysis
from logpost.replay.cost.message_models import MessageModel


@dataclass(frozen=True)
class ModelledPath:
    """What the member waited for and did under one model, once all members that the definition names had entered."""

    model: MessageModel
    algorithm: str
    stretches: tuple[Piece, ...]
    """without gap; empty where the operation is not divided"""
    end_ps: int
    """as replayed; the begin where there is nothing to do"""


@dataclass(frozen=True)
class ExplainedCollective:
    """One member of one operation."""

    operation: str
    where: str
    members: int
    place: Place
    call: int
    """that completed it"""
    enter_ps: int
    """of that call"""
    since_ps: int
    """until then it waited for those that the operation's definition names"""
    leave_ps: int
    paths: tuple[ModelledPath, ...]


def rows_of(run: Run, call: int) -> pl.DataFrame:
    """Rows of the table `collectives` that a call completes, or begins where none completed them, with their number."""
    every = run.facts("collectives").with_columns(
        number=pl.int_range(pl.len()).over("location"),
        members=pl.when(pl.col("instance") >= 0).then(pl.len().over("instance")).otherwise(0),
    )
    mine = pl.when(pl.col("complete_call") >= 0).then(pl.col("complete_call")).otherwise(pl.col("call"))
    return every.filter(mine == call).collect()


def explained_collectives(
    run: Run,
    rows: pl.DataFrame,
    analyses: Sequence[tuple[MessageModel, Analysis]],
    undivided: Sequence[str],
    names: LocationNames,
    places: Places,
) -> tuple[ExplainedCollective, ...]:
    """Each operation of `rows_of`, replayed under each model."""
    calls = run.facts("calls").filter(pl.col("call").is_in(rows["complete_call"].implode())).collect()
    enters = dict(zip(calls["call"], calls["enter_ps"], strict=True))
    hidden = (*undivided, "late_members") if "late_sender" in undivided else tuple(undivided)
    found = []
    for row in rows.iter_rows(named=True):
        blocking = row["call"] == row["complete_call"]
        enter = enters.get(row["complete_call"], row["enter_ps"])
        since = row["enter_ps"] + row["wait_ps"] if blocking else enter
        found.append(
            ExplainedCollective(
                operation=row["operation"],
                where=names[row["location"]],
                members=row["members"],
                place=places.get(row["callpath"], NOWHERE),
                call=row["complete_call"] if row["complete_call"] >= 0 else row["call"],
                enter_ps=enter,
                since_ps=since,
                leave_ps=row["leave_ps"],
                paths=tuple(
                    _path(model, analysis, row["location"], row["number"], since, hidden)
                    for model, analysis in analyses
                ),
            )
        )
    return tuple(found)


def _path(
    model: MessageModel, analysis: Analysis, location: int, number: int, since: int, undivided: Sequence[str]
) -> ModelledPath:
    steps, kind = analysis.collective_way(location, number)
    algorithm = "not_known" if kind < 0 else ALGORITHMS[int(analysis.collective_kinds()["algorithm"][kind])]
    columns = (steps[name].tolist() for name in ("part", "begin_ps", "end_ps"))
    pieces = (Piece(COLLECTIVE_PARTS[code], begin, end) for code, begin, end in zip(*columns, strict=True))
    found = joined(pieces, undivided, (UNDIVIDED, "send_overhead", "recv_overhead"))
    return ModelledPath(model, algorithm, found, found[-1].end_ps if found else since)
