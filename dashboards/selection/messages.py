"""Messages of a selection in classes of size and of time: what figures of distributions are drawn from."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.wide import wide_sum
from logpost.dashboards.selection.selected_run import SelectedRun

WAITS = (
    "late_sender",
    "late_receiver",
    "lock_wait",
    "endpoint_contention",
    "network_contention",
    "processor_queueing",
)
"""Parts of a message that are no transport."""
PER_OCTAVE = 2
"""Classes of size in a factor of two, where measured and modelled times are compared."""


def sizes_and_envelopes(scoped: SelectedRun) -> pl.LazyFrame:
    """bytes and envelope_ps of the selection's messages; of its one-sided transfers, where the run has no message."""
    rows = scoped.messages() if scoped.run.manifest.messages else scoped.transfers()
    return rows.select("bytes", "envelope_ps")


def by_size(scoped: SelectedRun) -> pl.DataFrame:
    """power (of two; -1: empty), messages, bytes and envelope_ps, by power without gaps left out."""
    size = pl.col("bytes").cast(pl.Float64)
    power = pl.when(pl.col("bytes") > 0).then(size.log(2).floor()).otherwise(-1).cast(pl.Int32)
    return (
        sizes_and_envelopes(scoped)
        .group_by(power=power)
        .agg(messages=pl.len(), bytes=pl.col("bytes").sum(), envelope_ps=wide_sum("envelope_ps"))
        .sort("power")
        .collect()
    )


def by_time(scoped: SelectedRun) -> pl.DataFrame:
    """third (of log10 of the envelope in ps), messages and envelope_ps."""
    third = (pl.col("envelope_ps").clip(1).cast(pl.Float64).log10() * 3).floor().cast(pl.Int32)
    return (
        sizes_and_envelopes(scoped)
        .group_by(third=third)
        .agg(messages=pl.len(), envelope_ps=wide_sum("envelope_ps"))
        .sort("third")
        .collect()
    )


def measured_and_modelled(scoped: SelectedRun) -> pl.DataFrame:
    """By class of size: bytes (mean), messages, low_ps, middle_ps, high_ps (quartiles of the time without waits) and
    modelled_ps (median of what the model explains of it, and what it predicts beyond)."""
    waits = pl.sum_horizontal(f"{part}_ps" for part in WAITS if part in PARTS)
    measured = pl.col("envelope_ps") - waits
    modelled = measured - pl.col("residual_ps") + pl.col("deficit_ps")
    step = (pl.col("bytes").clip(1).cast(pl.Float64).log(2) * PER_OCTAVE).round().cast(pl.Int32)
    return (
        scoped.messages()
        .select("bytes", step=step, measured=measured, modelled=modelled)
        .group_by("step")
        .agg(
            bytes=pl.col("bytes").mean(),
            messages=pl.len(),
            low_ps=pl.col("measured").quantile(0.25),
            middle_ps=pl.col("measured").median(),
            high_ps=pl.col("measured").quantile(0.75),
            modelled_ps=pl.col("modelled").median(),
        )
        .sort("bytes")
        .collect()
    )
