"""Hot links: messages wait in the network, most of them for links that carry more than the others.

Cure: another placement of the ranks, or another order of their sends, with which no message waits in the network. In
the graph each message between nodes is there so much earlier as it waited for links, which needs a machine with a
topology (docs/split.md, section 7a). Links with more than twice the mean load of the links in use are named, the one
whose messages waited longest first; without any, the network as a whole is loaded, and its busiest link is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.spread_load import EXCESS
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MEDIUM, Finding, Number
from logpost.analyzer.run.wide import exact_sum

KIND = "hot_link"
WAITS = ("network_contention",)
MOST_NAMED = 4
"""Links: as many as a line of the report has room for."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    return offered(evidence, partial(propose, evidence)) if evidence.worth_a_look(WAITS) else ()


def propose(evidence: Evidence, program: Program) -> Iterator[Proposal]:
    """No message waits in the network."""
    links = (
        evidence.tables["links"]
        .group_by("from_vertex", "to_vertex")
        .agg(pl.col("bytes", "messages", "granted_ps").sum(), pl.col("utilisation").max())
        .with_columns(load=pl.col("bytes") / pl.col("bytes").mean())
        .sort("granted_ps", "bytes", "from_vertex", "to_vertex", descending=[True, True, False, False])
        .collect()
    )
    traffic = evidence.tables["traffic"].filter(pl.col("messages") > 0).collect()
    waited = program.measured(*WAITS)
    if links.is_empty() or traffic.is_empty() or not waited.any():
        return
    exposed = {location: float(time) for location, time in evidence.exposed_of(WAITS).items() if time > 0}
    hot = links.filter(pl.col("load") > EXCESS)
    granted = exact_sum(traffic["granted_ps"])
    yield Proposal(
        kind=KIND,
        callpath=evidence.where(WAITS, exposed)[0],
        at_fault=frozenset(exposed),
        change=Transformation(more_latency_ps=-waited),
        numbers=(
            *(
                number
                for row in (hot if hot.height else links).head(MOST_NAMED if hot.height else 1).iter_rows(named=True)
                for number in (
                    Number("from_node", row["from_vertex"], "count"),
                    Number("to_node", row["to_vertex"], "count"),
                    Number("load_over_mean", row["load"], "x"),
                    Number("offered_load_at_most", row["utilisation"], "x"),
                    Number("waited_over_it", row["granted_ps"] / max(1, granted), "1"),
                )
            ),
            Number("hot_links", hot.height, "count"),
            Number("links_in_use", links.height, "count"),
            *evidence.exposed_numbers(exposed),
        ),
        confidence=MEDIUM if hot.height else LOW,
        certainty="the waits are what remains of measured times, within what the model has for the links' measured "
        "loads",
    )
