"""Hot sender: one endpoint sends so much more than the others that those who wait for it wait for its sending.

A rank that sends to everyone in turn (a hand-made broadcast or scatter) serves its receivers one after the other; the
last one waits for all the others. The receivers' exposed late sender, endpoint and network contention of that rank's
messages is charged, as for a hot receiver with the share 1 - 1/R. A rank that is late because it *computes* is not a
hot sender: its receivers' late sender is left to `late_sender_chain`, unless communication takes at least half of its
time in those windows; what waits in the queue at it counts in any case, and what spreading its sends alone saves.

Gain: of a sender that is hot over the whole run, what the same program saves with its sends shared by all ranks, or
sent along trees where their sizes allow that they are the same data (`evidence.one_to_many`): the larger of the two,
and the advice tells both. Else the worst-hit rank's charged time: others share the work of sending (`gain`).
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.attribution import attribute
from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.hot_endpoint import HotEndpoint, hot_endpoints
from logpost.analyzer.findings.evidence.one_to_many import along_trees, broadcasts_of, bursts_of, shared_by_all
from logpost.analyzer.findings.evidence.queues import QUEUES
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Saving, saving_if
from logpost.analyzer.findings.finders.hot_receiver import CERTAIN_LOAD
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.findings.gain import gain_by_sharing
from logpost.analyzer.findings.hypothesis import lost_by_location
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import exact_sum, wide_sum

WAITS_FOR_SENDER = ("late_sender", *QUEUES)
LEAST_BUSY = 0.5
"""Share of its time that a hot sender spends in sending; below, computing is the larger cause of its lateness."""
SENDING = ("send_overhead", "middleware", "endpoint_contention", "latency", "serialization", "network_contention")


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per hot sender that others wait for."""
    if not evidence.worth_a_look(evidence.maybe(WAITS_FOR_SENDER)):
        return
    for hot in hot_endpoints(evidence, "send"):
        finding = _finding(evidence, hot)
        if finding is not None:
            yield finding


def _finding(evidence: Evidence, hot: HotEndpoint) -> Finding | None:
    here = (
        program(evidence.tables["accounting"])
        .with_columns(pl.col("category").cast(pl.String))
        .filter(pl.col("window").is_in(list(hot.windows)))
    )
    own = here.filter(pl.col("location") == hot.location).group_by("category").agg(wide_sum("exposed_ps")).collect()
    sending = int(own.filter(pl.col("category").is_in(evidence.maybe(SENDING)))["exposed_ps"].sum())
    computes = sending < LEAST_BUSY * exact_sum(own["exposed_ps"])
    waits_for = evidence.maybe(QUEUES if computes else WAITS_FOR_SENDER)
    exposed = dict(
        here.filter(pl.col("category").is_in(waits_for), pl.col("location") != hot.location)
        .group_by("location")
        .agg(wide_sum("exposed_ps"))
        .collect()
        .iter_rows()
    )
    waits = attribute(evidence.pairs, waits_for, exposed, direction="send")
    waits = waits.filter(pl.col("endpoint") == hot.location)
    charged = {location: time * (1 - 1 / hot.excess) for location, _, time in waits.iter_rows()}
    saving, told = _sent_otherwise(evidence, hot) if hot.whole_run else (Saving(0.0, {}), ())
    if not evidence.matters(charged) and saving.gain < MIN_SHARE:
        return None
    callpath, region = evidence.where(waits_for, charged)
    lost = charged
    if not evidence.matters(charged):
        lost = lost_by_location(saving)
        callpath = max(saving.removes, key=lambda place: saving.removes[place])[1]
        region = evidence.region(callpath)
    _, sends_in = evidence.where(evidence.maybe(SENDING), [hot.location])
    every = dict(waits.select("location", "waiting_ps").iter_rows())
    confidence, certainty = evidence.confidence(
        HIGH if hot.excess >= CERTAIN_LOAD else MEDIUM, hot.certainty, QUEUES if computes else WAITS_FOR_SENDER
    )
    return Finding(
        kind="hot_sender",
        named=evidence.named([hot.location]),
        region=region,
        cause_region=sends_in,
        evidence=(
            Number("load_over_others", hot.excess, "x"),
            *hot.numbers,
            Number("sending", sending / max(1, exact_sum(own["exposed_ps"])), "1"),
            *evidence.rank_numbers("waiting_rank", lost),
            Number("waiting_for_it", sum(every.values()), "ps"),
            Number("beyond_an_even_load", sum(lost.values()), "ps"),
            *told,
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=hot.windows[0],
        last_window=hot.windows[-1],
        exposed_ps=round(sum(lost.values())),
        share=worst_hit(lost, evidence.slowest_program_ps),
        gain=saving.gain if hot.whole_run else gain_by_sharing(evidence, max(charged.values())),
        charges=evidence.charges(every, waits_for),
        fault={(hot.location, "handling"): 1.0},
        removes=saving.removes,
        cure=saving.cure,
    )


def _sent_otherwise(evidence: Evidence, hot: HotEndpoint) -> tuple[Saving, tuple[Number, ...]]:
    """What the better of the two cures saves, and each of them."""
    graph = graph_of(evidence)
    bursts = bursts_of(graph, hot.location)
    shared = saving_if(graph, shared_by_all(evidence, graph, bursts))
    number = Number("gain_if_shared", shared.gain, "1")
    alike = broadcasts_of(graph, bursts)
    if not alike:
        return shared, (number,)
    tree = saving_if(graph, along_trees(evidence, graph, alike))
    better = tree if tree.gain > shared.gain else shared
    return better, (number, Number("gain_as_tree", tree.gain, "1"))
