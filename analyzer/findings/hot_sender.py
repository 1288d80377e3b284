"""Hot sender: one endpoint sends so much more than the others that those who wait for it wait for its sending.

A rank that sends to everyone in turn (a hand-made broadcast or scatter) serves its receivers one after the other; the
last one waits for all the others. The receivers' exposed late sender, endpoint and network contention of that rank's
messages is charged, as for a hot receiver with the share 1 - 1/R. A rank that is late because it *computes* is not a
hot sender: it is left to `late_sender_chain`, unless communication takes at least half of its time in those windows.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.attribution import attribute
from logpost.analyzer.findings.evidence import Evidence
from logpost.analyzer.findings.finding import Finding, worst_hit
from logpost.analyzer.findings.hot_endpoint import HotEndpoint, hot_endpoints
from logpost.analyzer.reporting.units import percent_text, time_text

WAITS_FOR_SENDER = ("late_sender", "endpoint_contention", "network_contention")
LEAST_BUSY = 0.5
"""Share of its time that a hot sender spends in sending; below, computing is the larger cause of its lateness."""
SENDING = ("send_overhead", "middleware", "endpoint_contention", "latency", "serialization", "network_contention")


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per hot sender that others wait for."""
    if not evidence.worth_a_look(WAITS_FOR_SENDER):
        return
    for hot in hot_endpoints(evidence, "send"):
        finding = _finding(evidence, hot)
        if finding is not None:
            yield finding


def _finding(evidence: Evidence, hot: HotEndpoint) -> Finding | None:
    here = (
        evidence.tables["accounting"]
        .with_columns(pl.col("category").cast(pl.String))
        .filter(pl.col("window").is_in(list(hot.windows)))
    )
    own = here.filter(pl.col("location") == hot.location).group_by("category").agg(pl.col("exposed_ps").sum()).collect()
    sending = int(own.filter(pl.col("category").is_in(SENDING))["exposed_ps"].sum())
    if sending < LEAST_BUSY * int(own["exposed_ps"].sum()):
        return None
    exposed = dict(
        here.filter(pl.col("category").is_in(WAITS_FOR_SENDER), pl.col("location") != hot.location)
        .group_by("location")
        .agg(pl.col("exposed_ps").sum())
        .collect()
        .iter_rows()
    )
    waits = attribute(evidence.pairs, WAITS_FOR_SENDER, exposed, direction="send")
    waits = waits.filter(pl.col("endpoint") == hot.location)
    charged = {location: time * (1 - 1 / hot.excess) for location, _, time in waits.iter_rows()}
    share = worst_hit(charged, evidence.slowest_wall_ps)
    if not evidence.matters(charged):
        return None
    callpath, region = evidence.where(WAITS_FOR_SENDER, charged)
    _, sends_in = evidence.where(SENDING, [hot.location])
    busy = sending / max(1, int(own["exposed_ps"].sum()))
    return Finding(
        kind="hot_sender",
        title=f"{evidence.ranks_noun([hot.location])} is a hot sender: {hot.excess:.1f} × the load of the other senders"
        + (f"; {evidence.ranks_noun(charged)} wait in {region}" if region else ""),
        ranks=evidence.ranks_text([hot.location]),
        region=region,
        cause_region=sends_in,
        evidence=f"{hot.text}; it spends {percent_text(busy)} of these windows sending; the others wait "
        f"{time_text(float(waits['waiting_ps'].sum()))} for it",
        advice="Let others help to distribute: a collective (Bcast, Scatter) or a tree instead of one rank "
        "sending to all "
        "in turn, or nonblocking sends with the most urgent receiver first.",
        confidence=evidence.confidence("high" if hot.excess >= 3 else "medium", hot.certainty),
        callpath=callpath,
        first_window=hot.windows[0],
        last_window=hot.windows[-1],
        exposed_ps=round(sum(charged.values())),
        share=share,
        endpoints={hot.location: sum(charged.values())},
    )
