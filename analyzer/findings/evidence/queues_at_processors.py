"""Where ranks wait for processors that do something else: the costliest places, and for whom they wait there."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.unattended import unattended
from logpost.analyzer.run.wide import wide_sum

PLACES = 8
"""Most places looked at, the costliest ones. More of one kind would only draw attention from them."""


@dataclass(frozen=True)
class ProcessorQueues:
    """`exposure`: rows of the category, see `Evidence.costly_places`; `waits`: rows of `unattended` at `places`."""

    exposure: pl.DataFrame
    places: list[int]
    waits: pl.DataFrame

    def by_processor(self) -> pl.DataFrame:
        """Rows (location, endpoint, waiting_ps): exposed time of a location that it waits for the processor of another,
        or its own. Of many calls the longest ones are looked at, and stand for the others of their location."""
        asked = self.exposure.filter(pl.col("callpath").is_in(self.places))
        every = asked.group_by("location").agg(every=wide_sum("exposed_ps").cast(pl.Float64))
        seen = self.waits.group_by(location="waiter", endpoint="location").agg(time=pl.col("exposed_ps").sum())
        share = pl.col("time") / pl.col("time").sum().over("location")
        return (
            seen.join(every, on="location")
            .select("location", "endpoint", waiting_ps=share * pl.col("every"))
            .sort("location", "endpoint")
        )


@once
def queues_at_processors(evidence: Evidence) -> ProcessorQueues | None:
    """Of a run; None where the time is not known, or no rank loses much."""
    if not evidence.divides("processor_queueing") or not evidence.worth_a_look(["processor_queueing"]):
        return None
    exposure, every = evidence.costly_places("processor_queueing")
    places = every[:PLACES]
    return ProcessorQueues(exposure, places, unattended(evidence, places)) if places else None
