"""How well each model of the LogP family explains the messages of a run, on the run's machine.

The same messages are split under every model that the machine has values for. What a model leaves unexplained
(residual) and what it predicts beyond the measured time (deficit) are both its error; their sum over the envelopes is
the misfit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.pipeline.resplit import Report, Resplit, Times, silent
from logpost.analyzer.report.data import Messages, ModelFit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.undivided import merged
from logpost.analyzer.run.wide import wide_sum_of
from logpost.errors import InputError
from logpost.replay._native import Analysis
from logpost.replay.cost.message_models import MessageModel


@dataclass(frozen=True)
class Interval:
    """The region of interest on every location; None: everything is of interest."""

    begin_ps: Times | None = None
    end_ps: Times | None = None


def model_fits(run: Run, report: Report = silent) -> tuple[ModelFit, ...]:
    """A fit for each model, in the order of `MessageModel`, of the messages in the run's region of interest."""
    report("rebuilding the program", 0, 0)
    split = Resplit(run)
    interest = _interest(run)
    fits = []
    undivided = run.manifest.machine.undivided
    for done, model in enumerate(MessageModel):
        report(f"splitting messages under {model.label}", done, len(MessageModel))
        fits.append(_fit(split, model, interest, undivided))
    return tuple(fits)


def fit_of(analysis: Analysis, model: MessageModel, undivided: Sequence[str] = ()) -> ModelFit:
    """The sums over all messages of an analysis under the model; parts that the machine does not divide as one."""
    pairs = analysis.pairs()
    parts = pl.DataFrame({name: column for name, column in pairs.items() if name != "send_location"})
    sums = parts.select(wide_sum_of(pl.all())).row(0, named=True)
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


def _fit(split: Resplit, model: MessageModel, interest: Interval, undivided: Sequence[str]) -> ModelFit:
    try:
        analysis = split.under(model, interest.begin_ps, interest.end_ps)
    except InputError as error:
        return ModelFit(model, None, str(error))
    return fit_of(analysis, model, undivided)


def _interest(run: Run) -> Interval:
    if run.manifest.region_of_interest is None:
        return Interval()
    locations = run.table("locations").sort("location").select("begin_ps", "end_ps").collect()
    return Interval(locations["begin_ps"].to_numpy(), locations["end_ps"].to_numpy())
