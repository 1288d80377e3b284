"""Explain the one-sided transfers of a call (MPI RMA, SHMEM): the parts of each under every model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.pipeline.resplit import Report, Resplit, silent
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Layout
from logpost.analyzer.run.schema import TRANSFER_PARTS
from logpost.analyzer.run.undivided import merged
from logpost.analyzer.words.location_names import LocationNames
from logpost.errors import InputError
from logpost.replay._native import Analysis
from logpost.replay.columns import Transfers
from logpost.replay.cost.message_models import MessageModel

ROWS = 65_536
"""Transfers that are read at a time."""


@dataclass(frozen=True)
class TransferSplit:
    """One transfer's envelope under one model; the parts, in no order of time, add up to it."""

    model: MessageModel
    parts_ps: dict[str, int]
    deficit_ps: int


@dataclass(frozen=True)
class ExplainedTransfer:
    """One transfer, from the enter of the call that started it to the leave of the call that completed it."""

    kind: str
    """put, get or atomic"""
    origin: str
    target: str
    bytes: int
    begin_ps: int
    end_ps: int
    splits: tuple[TransferSplit, ...]
    layout: Layout | None = None
    """of the origin's data; None: contiguous, or not stated"""
    target_layout: Layout | None = None
    """of the target's"""


def transfers_of(run: Run, call: int) -> pl.DataFrame:
    """Rows of the table `transfers` that a call starts or completes, the longest first."""
    mine = pl.any_horizontal(pl.col(role) == call for role in ("call", "complete_call"))
    return run.table("transfers").filter(mine).sort("envelope_ps", "number", descending=[True, False]).collect()


def explain_transfers(run: Run, rows: pl.DataFrame, report: Report = silent) -> tuple[ExplainedTransfer, ...]:
    """Each of the rows of `transfers_of` under every model that the run's machine has values for.

    Raises:
        InputError: the run's tables contradict each other, or its machine cannot be used.
    """
    report("rebuilding the program", 0, 0)
    split = Resplit(run)
    splits: TransferSplits = [[] for _ in range(rows.height)]
    for done, model in enumerate(MessageModel):
        report(f"splitting transfers under {model.label}", done, len(MessageModel))
        try:
            analysis = split.under(model)
        except InputError:
            continue  # The machine lacks what this model needs; `full` takes what there is.
        add_splits(splits, rows, model, analysis, run.manifest.machine.undivided)
    return explained_transfers(run, rows, splits)


TransferSplits = list[list[TransferSplit]]
"""By transfer, then by model."""


def add_splits(
    splits: TransferSplits, rows: pl.DataFrame, model: MessageModel, analysis: Analysis, undivided: Sequence[str]
) -> None:
    """Adds the split of each of the rows of `transfers_of` under one model."""
    wanted = list(rows.select("location", "number").iter_rows())
    for mine, (parts, deficit) in zip(splits, _parts(analysis, wanted), strict=True):
        mine.append(TransferSplit(model, merged(parts, undivided), deficit))


def explained_transfers(run: Run, rows: pl.DataFrame, splits: TransferSplits) -> tuple[ExplainedTransfer, ...]:
    """The rows of `transfers_of` with their splits."""
    names = LocationNames(run.facts("locations").collect())
    layouts = run.manifest.layouts
    return tuple(
        ExplainedTransfer(
            kind=row["kind"],
            origin=names[row["location"]],
            target=names.get(row["target"]),
            bytes=row["bytes"],
            begin_ps=row["start_ps"],
            end_ps=row["complete_leave_ps"],
            splits=tuple(mine),
            layout=layouts[row["layout"]] if row["layout"] >= 0 else None,
            target_layout=layouts[row["target_layout"]] if row["target_layout"] >= 0 else None,
        )
        for row, mine in zip(rows.iter_rows(named=True), splits, strict=True)
    )


def _parts(analysis: Analysis, wanted: Sequence[tuple[int, int]]) -> list[tuple[dict[str, int], int]]:
    """Parts and deficit of each wanted transfer, a location and its number there."""
    found: dict[tuple[int, int], tuple[dict[str, int], int]] = {}
    while len(found) < len(wanted) and (batch := analysis.next_transfers(ROWS)) is not None:
        for at in wanted:
            if (row := _row(batch, at)) is not None:
                columns = {part: int(batch[f"{part}_ps"][row]) for part in TRANSFER_PARTS}  # type: ignore[literal-required]
                found[at] = columns, int(batch["deficit_ps"][row])
    return [found[at] for at in wanted]


def _row(batch: Transfers, at: tuple[int, int]) -> int | None:
    here = np.flatnonzero((batch["location"] == at[0]) & (batch["number"] == at[1]))
    return int(here[0]) if here.size else None
