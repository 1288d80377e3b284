"""How well each model of the LogP family explains the messages, transfers and collective operations of a run, on the
run's machine.

The same messages are split under every model that the machine has values for. What a model leaves unexplained
(residual) and what it predicts beyond the measured time (deficit) are both its error, and so is late receiver where the
receiver's processor worked for other messages: a model without the processor's queue computes no such wait. Their sum
over the envelopes is the misfit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from logpost.analyzer.explain.part_intervals import AtEnds
from logpost.analyzer.pipeline.resplit import Report, Resplit, Times, silent
from logpost.analyzer.report.collectives import parts
from logpost.analyzer.report.data import Messages, ModelFit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.parquet import frame
from logpost.analyzer.run.schema import COLLECTIVE_KINDS, IN_COLLECTIVES, PARTS, TRANSFER_PARTS
from logpost.analyzer.run.undivided import merged
from logpost.analyzer.run.wide import exact_sum, wide_sum, wide_sum_of
from logpost.errors import InputError
from logpost.machines import load_machine
from logpost.replay._native import Analysis
from logpost.replay.cost.message_models import MessageModel

ROWS = 65_536
"""Transfers that are read at a time."""


@dataclass(frozen=True)
class Interval:
    """The region of interest on every location; None: everything is of interest."""

    begin_ps: Times | None = None
    end_ps: Times | None = None


def model_fits(run: Run, report: Report = silent) -> tuple[ModelFit, ...]:
    """A fit for each model, in the order of `MessageModel`, of the messages in the run's region of interest, of its
    one-sided transfers, and without a region of interest of its collective operations; with the intervals that the
    machine's values leave each part."""
    report("rebuilding the program", 0, 0)
    split = Resplit(run)
    interest = _interest(run)
    fits = []
    has = _has(run)
    at_ends = AtEnds.of(split, load_machine(run.machine_file))
    for done, model in enumerate(MessageModel):
        report(f"splitting messages under {model.label}", done, len(MessageModel))
        again = partial(_fit, model=model, interest=interest, undivided=run.manifest.machine.undivided, has=has)
        fit = again(split)
        fits.append(fit if at_ends is None or fit.messages is None else at_ends.add(fit, again))
    return with_not_computed(fits)


def with_not_computed(fits: Sequence[ModelFit]) -> tuple[ModelFit, ...]:
    """The fits with the late receiver of each that is processor queueing under the full model, which computes it."""
    full = next((fit.messages for fit in fits if fit.model is MessageModel.full), None)
    return tuple(
        replace(fit, messages=replace(fit.messages, not_computed_ps=_not_computed(fit.messages, full)))
        if fit.messages is not None and full is not None
        else fit
        for fit in fits
    )


def _not_computed(sums: Messages, full: Messages) -> int:
    more_late, more_queueing = (
        one.parts_ps.get(part, 0) - other.parts_ps.get(part, 0)
        for part, one, other in (("late_receiver", sums, full), ("processor_queueing", full, sums))
    )
    return max(0, min(more_late, more_queueing))


@dataclass(frozen=True)
class _Has:
    """What there is in addition to messages."""

    transfers: bool
    bytes_in_collectives: int | None
    """received by their members; None: no operation is compared"""


def _has(run: Run) -> _Has:
    transfers = run.table("transfers").select(pl.len()).collect().item() > 0
    received = run.table("collectives").filter(pl.col("instance") >= 0).select(pl.len(), wide_sum("bytes_received"))
    count, moved = received.collect().row(0)
    whole = run.manifest.region_of_interest is None
    return _Has(transfers, int(moved) if count and whole else None)


def fit_of(analysis: Analysis, model: MessageModel, undivided: Sequence[str] = ()) -> ModelFit:
    """The sums over all messages of an analysis under the model; parts that the machine does not divide as one."""
    pairs = analysis.pairs()
    rows = pl.DataFrame({name: column for name, column in pairs.items() if name != "send_location"})
    sums = rows.select(wide_sum_of(pl.all())).row(0, named=True)
    return ModelFit(
        model,
        Messages(
            count=int(sums["messages"]),
            bytes=int(sums["bytes"]),
            envelope_ps=int(sums["envelope_ps"]),
            parts_ps=merged({part: int(sums[f"{part}_ps"]) for part in PARTS}, undivided),
            deficit_ps=int(sums["deficit_ps"]),
        ),
    )


def of_transfers(analysis: Analysis, undivided: Sequence[str] = ()) -> Messages:
    """The same sums over all transfers of an analysis, of which none has been read."""
    sums: Counter[str] = Counter()
    while (batch := analysis.next_transfers(ROWS)) is not None:
        sums["count"] += len(batch["bytes"])
        for name in ("bytes", "envelope_ps", "deficit_ps", *(f"{part}_ps" for part in TRANSFER_PARTS)):
            sums[name] += exact_sum(batch[name])  # type: ignore[literal-required]
    return Messages(
        count=sums["count"],
        bytes=sums["bytes"],
        envelope_ps=sums["envelope_ps"],
        parts_ps=merged({part: sums[f"{part}_ps"] for part in TRANSFER_PARTS}, undivided),
        deficit_ps=sums["deficit_ps"],
    )


def of_collectives(analysis: Analysis, moved: int, undivided: Sequence[str] = ()) -> Messages | None:
    """The same sums over the members of all collective operations that are divided; None: there are none.

    Args:
        analysis: of the whole program.
        moved: bytes that members receive.
        undivided: parts that the machine does not divide.
    """
    kinds = frame(COLLECTIVE_KINDS, analysis.collective_kinds())
    count = kinds.select(wide_sum_of(pl.col("operations").cast(pl.Int64) * pl.col("members"))).item()
    if not count:
        return None
    known = parts(frame(IN_COLLECTIVES, analysis.collective_parts()).lazy(), undivided)
    known = {part: time for part, time in known.items() if part != "not_divided"}
    return Messages(int(count), moved, sum(known.values()), known, int(kinds["deficit_ps"].sum()))


def _fit(split: Resplit, model: MessageModel, interest: Interval, undivided: Sequence[str], has: _Has) -> ModelFit:
    try:
        analysis = split.under(model, interest.begin_ps, interest.end_ps)
    except InputError as error:
        return ModelFit(model, None, str(error))
    moved = has.bytes_in_collectives
    return replace(
        fit_of(analysis, model, undivided),
        transfers=of_transfers(analysis, undivided) if has.transfers else None,
        collectives=None if moved is None else of_collectives(analysis, moved, undivided),
    )


def _interest(run: Run) -> Interval:
    if run.manifest.region_of_interest is None:
        return Interval()
    locations = run.table("locations").sort("location").select("begin_ps", "end_ps").collect()
    return Interval(locations["begin_ps"].to_numpy(), locations["end_ps"].to_numpy())
