"""Which code makes the ranks of a finding wait, by the delay costs, and its share of the critical path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding, Number
from logpost.analyzer.findings.wording.facts import HEAVY
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import exact_sum, wide_sum

COMPUTATION = "computation"


class RootCauses:
    """The delay costs and the profile of the critical path of a run, read once.

    Arguments:
        evidence: of the run; without these tables nothing is added to any finding.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.costs = (
            evidence.tables["delay_costs"]
            .filter(pl.col("location") >= 0)
            .select(
                "location",
                "callpath",
                "wait_callpath",
                pl.col("place").cast(pl.String),
                costs_ps=pl.col("short_term_ps") + pl.col("long_term_ps"),
            )
            .collect()
        )
        # Of these the path knows what follows them, not themselves.
        self.user_regions = set(evidence.callpaths.filter(pl.col("kind") == "user")["callpath"])
        compute = pl.col("category") == "compute"
        self.on_path = (
            program(evidence.tables["path_profile"])
            .group_by(
                "location",
                "callpath",
                place=pl.when(compute).then(pl.lit(COMPUTATION)).otherwise(pl.lit("calls")),
            )
            .agg(wide_sum("on_path_ps"))
            .filter(pl.col("on_path_ps") > 0)
            .collect()
        )

    def of(self, found: Iterable[Finding]) -> list[Finding]:
        """The findings with the places that delay the waiting ranks, as evidence, and the share of the path there."""
        return [self._with_causes(finding) for finding in found]

    def _with_causes(self, finding: Finding) -> Finding:
        causes = self._causes(finding)
        length = exact_sum(self.on_path["on_path_ps"])
        if causes.is_empty():
            # No rank is waited for: only the finding's own calls can be part of the path.
            places = pl.DataFrame({"callpath": [finding.callpath], "place": ["calls"]}, schema_overrides=_KEY)
        else:
            places = causes.select("callpath", "place")
        on_path = int(self.on_path.join(places.cast(dict(_KEY)), on=["callpath", "place"])["on_path_ps"].sum())  # type: ignore[arg-type]
        numbers = tuple(
            Number(f"delayed_by[{self._named(callpath, place)}]", share, "1")
            for callpath, place, share in causes.iter_rows()
        )
        known = finding.callpath >= 0 and (not causes.is_empty() or finding.callpath not in self.user_regions)
        share = on_path / length if length and known else None
        return replace(finding, evidence=(*finding.evidence, *numbers), path_share=share)

    def _causes(self, finding: Finding) -> pl.DataFrame:
        """(callpath, place, share) of the costs of the waits that the finding explains, the largest first."""
        waits = {callpath for _, callpath in finding.removes}
        rows = self.costs.filter(pl.col("wait_callpath").is_in(list(waits)))
        at_fault = finding.replayed.proposal.at_fault
        if at_fault:
            rows = rows.filter(pl.col("location").is_in(list(at_fault)))
        return (
            rows.group_by("callpath", "place", maintain_order=True)
            .agg(wide_sum("costs_ps"))
            .with_columns(share=pl.col("costs_ps") / wide_sum("costs_ps"))
            .filter(pl.col("share") >= HEAVY * pl.col("share").max())
            .sort("share", "callpath", descending=[True, False])
            .select("callpath", "place", "share")
        )

    def _named(self, callpath: int, place: str) -> str:
        at = self.evidence.places.get(callpath)
        path = self.evidence.path(callpath)
        if not path or at is None:
            return "computation after the last call"
        source = f" at {at.source}" if at.is_site else ""
        return f"computation before {path}{source}" if place == COMPUTATION else f"{path}{source}"


_KEY = pl.Schema({"callpath": pl.Int32(), "place": pl.String()})
