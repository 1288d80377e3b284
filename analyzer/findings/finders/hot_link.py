"""Hot link: messages wait in the network, most of them for links that carry more than the others.

Charged is the exposed network contention, which needs a machine with a topology (docs/split.md, section 7a). Links with
more than twice the mean load of the links in use are named, the one whose messages waited longest first; without any,
the network as a whole is loaded, and its busiest link is named.

Gain: the worst-hit rank's network contention; another placement or order of sends moves it away (`gain`).
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MEDIUM, Finding, Number, worst_hit
from logpost.analyzer.findings.gain import gain_by_moving
from logpost.analyzer.run.wide import exact_sum

WAITS = ("network_contention",)
HOT = 2.0
"""Load over the mean load of the links in use from which a link is a hot one."""
MOST_NAMED = 4


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding, where ranks lose time to the network."""
    if not evidence.worth_a_look(WAITS):
        return
    links = (
        evidence.tables["links"]
        .group_by("from_vertex", "to_vertex")
        .agg(pl.col("bytes", "messages", "granted_ps").sum(), pl.col("utilisation").max())
        .with_columns(load=pl.col("bytes") / pl.col("bytes").mean())
        .sort("granted_ps", "bytes", "from_vertex", "to_vertex", descending=[True, True, False, False])
        .collect()
    )
    traffic = evidence.tables["traffic"].filter(pl.col("messages") > 0).collect()
    if links.is_empty() or traffic.is_empty():
        return
    exposed = {location: float(time) for location, time in evidence.exposed_of(WAITS).items() if time > 0}
    hot = links.filter(pl.col("load") > HOT)
    named = (hot if hot.height else links).head(MOST_NAMED if hot.height else 1)
    callpath, region = evidence.where(WAITS, exposed)
    first, last = evidence.active_windows(WAITS, list(exposed))
    confidence, certainty = evidence.confidence(
        MEDIUM if hot.height else LOW,
        "the waits are what remains of measured times, within what the model has for the links' measured loads",
    )
    granted = exact_sum(traffic["granted_ps"])
    yield Finding(
        kind="hot_link",
        named=evidence.named(exposed),
        region=region,
        cause_region="",
        evidence=(
            *(
                number
                for row in named.iter_rows(named=True)
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
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(exposed.values())),
        share=worst_hit(exposed, evidence.slowest_program_ps),
        gain=gain_by_moving(evidence, exposed),
        charges=evidence.charges(exposed, WAITS),
    )
