"""One finding, and the one size below which nothing is called a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from logpost.analyzer.schema import FINDINGS

MIN_SHARE = 0.01
"""Least share of the slowest rank's time (start-up apart) on the worst-hit rank. A cure of less than 1 % disappears in
the run-to-run variation of real programs, so a reader could not even check that it worked."""

MIN_SAMPLES = 8
"""Fewest messages, calls or instants behind a statement about a pattern: fewer are an incident."""


@dataclass(frozen=True)
class Finding:
    """A row of the findings table; the fields are its columns, but `indirect` and
    `endpoints`.

    `exposed_ps` is summed over the ranks concerned; `share` is the exposed time of the worst-hit rank over the slowest
    rank's wall time.
    """

    kind: str
    title: str
    ranks: str
    region: str
    cause_region: str
    evidence: str
    advice: str
    confidence: str
    callpath: int
    first_window: int
    last_window: int
    exposed_ps: int
    share: float
    indirect: float = 0.0
    """Fraction of the time whose cause is other waiting, which another finding explains: it ranks lower by that."""
    endpoints: Mapping[int, float] = field(default_factory=dict)
    """Location to the time lost because that one is busy with messages, where a finding knows: what two findings say of
    the same location is said once."""

    def row(self) -> dict[str, object]:
        """As a row of `schema.FINDINGS`."""
        return {name: value for name, value in vars(self).items() if name not in ("indirect", "endpoints")}


CERTAINTY = {"high": 1.0, "medium": 0.75, "low": 0.5}
"""What a confidence is worth in the order of the findings: of two about as large, first the one that is surer. Measured
waits thereby come before costs that a model says, unless these are a third larger."""


def frame(found: Iterable[Finding]) -> pl.DataFrame:
    """The findings table, worst first: by what they explain of the worst-hit rank's time, weighed by confidence."""

    def order(finding: Finding) -> tuple[float, int, str, str]:
        explained = finding.share * (1 - finding.indirect)
        certainty = CERTAINTY.get(finding.confidence.partition(":")[0], 1.0)
        return -explained * certainty, -finding.exposed_ps, finding.kind, finding.title

    rows = sorted(found, key=order)
    return pl.DataFrame([finding.row() for finding in rows], schema=FINDINGS.schema)


def worst_hit(exposed_by_location: Mapping[int, float], slowest_wall_ps: int) -> float:
    """Exposed time of the worst-hit location over the slowest location's wall time; 0 without locations."""
    return max(exposed_by_location.values(), default=0.0) / slowest_wall_ps if slowest_wall_ps > 0 else 0.0
