"""Hot receiver: one endpoint gets more than the others, or all senders turn to the same endpoint at once.

Two patterns, told apart because their cures differ:

* **Load.** In some windows an endpoint serves more than twice what the other endpoints serve on average
  (`hot_endpoint`): the decomposition sends it too much.
* **Crowding.** The endpoints get alike in total, but at any instant the senders crowd at one of them, which moves from
  rank to rank (`collisions`): the order of communication is to blame. EM3D's original communication phase is the
  classic case (LoGPC, section 5.3).

Both are findings only if ranks lose time by it: exposed endpoint and network contention, late receiver and processor
queueing of the messages to those endpoints. Of that time the share 1 - 1/R is charged to the hot spot, R being how many
times over the expected load or crowding is: the rest would be there with an even load or an independent order too.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.attribution import attribute
from logpost.analyzer.findings.collisions import Crowding, crowding
from logpost.analyzer.findings.evidence import WAITS_AT_RECEIVER, Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES, Finding, worst_hit
from logpost.analyzer.findings.hot_endpoint import HotEndpoint, hot_endpoints
from logpost.analyzer.reporting.units import percent_text, time_text

LEAST_CROWDING = 1.5
"""Half as many meetings again as senders that ignore each other have. A random order lies at 1 by construction, and
four ranks in lockstep, each with three receivers, reach no more than 3: the threshold must lie well between these
two."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """Findings of both patterns."""
    if not evidence.worth_a_look(WAITS_AT_RECEIVER):
        return
    measured = crowding(evidence.tables["messages"], evidence.pairs)
    crowded = {} if measured is None else _crowded_receivers(measured)
    if measured is not None and crowded:
        finding = _crowded(evidence, measured, crowded)
        if finding is not None:
            yield finding
    for hot in hot_endpoints(evidence, "recv"):
        # Crowding that lasts for whole windows is load in these windows; it is one finding, and order its cure.
        if hot.location in crowded and not hot.whole_run:
            continue
        finding = _loaded(evidence, hot)
        if finding is not None:
            yield finding


def _crowded_receivers(measured: Crowding) -> dict[int, float]:
    """Receiver to its crowding, of those above the threshold, if the crowding as a whole is so beyond doubt."""
    if measured.judged < MIN_SAMPLES or measured.ratio - 2 * measured.standard_error < LEAST_CROWDING:
        return {}
    return {location: ratio for location, ratio in measured.by_receiver().items() if ratio >= LEAST_CROWDING}


def _charge(
    evidence: Evidence, endpoints: dict[int, float], windows: tuple[int, ...] | None
) -> tuple[dict[int, float], dict[int, float], float]:
    """Location to the time charged to these endpoints (endpoint to R), endpoint to it, and all waiting at them; ps."""
    exposed = (
        evidence.exposed_of(WAITS_AT_RECEIVER)
        if windows is None
        else _exposed_within(evidence, WAITS_AT_RECEIVER, windows)
    )
    rows = attribute(evidence.pairs, WAITS_AT_RECEIVER, exposed, direction="recv")
    charged: dict[int, float] = {}
    at_endpoint: dict[int, float] = {}
    waiting = 0.0
    for location, endpoint, time in rows.iter_rows():
        if endpoint in endpoints:
            excess = time * (1 - 1 / endpoints[endpoint])
            charged[location] = charged.get(location, 0.0) + excess
            at_endpoint[endpoint] = at_endpoint.get(endpoint, 0.0) + excess
            waiting += time
    return charged, at_endpoint, waiting


def _exposed_within(evidence: Evidence, categories: Iterable[str], windows: tuple[int, ...]) -> dict[int, int]:
    rows = (
        evidence.tables["accounting"]
        .filter(pl.col("category").cast(pl.String).is_in(list(categories)), pl.col("window").is_in(list(windows)))
        .group_by("location")
        .agg(pl.col("exposed_ps").sum())
        .collect()
    )
    return dict(rows.iter_rows())


def _loaded(evidence: Evidence, hot: HotEndpoint) -> Finding | None:
    charged, _, waiting = _charge(evidence, {hot.location: hot.excess}, hot.windows)
    share = worst_hit(charged, evidence.slowest_wall_ps)
    if not evidence.matters(charged):
        return None
    callpath, region = evidence.where(WAITS_AT_RECEIVER, charged)
    rank = evidence.ranks_noun([hot.location])
    return Finding(
        kind="hot_receiver",
        title=f"{rank} is a hot receiver: {hot.excess:.1f} × the load of the other receivers"
        + (f", waited for in {region}" if region else ""),
        ranks=evidence.ranks_text([hot.location]),
        region=region,
        cause_region="",
        evidence=f"{hot.text}; ranks wait {time_text(waiting)} for it there, {time_text(sum(charged.values()))} of it"
        " beyond what an even load would cost",
        advice="Spread what is sent to this rank: another decomposition, a tree or a collective instead of all ranks "
        "sending to one, or several ranks that share its role.",
        confidence=evidence.confidence("high" if hot.excess >= 3 else "medium", hot.certainty),
        callpath=callpath,
        first_window=hot.windows[0],
        last_window=hot.windows[-1],
        exposed_ps=round(sum(charged.values())),
        share=share,
        endpoints={hot.location: sum(charged.values())},
    )


def _crowded(evidence: Evidence, measured: Crowding, hot: dict[int, float]) -> Finding | None:
    error = measured.standard_error
    charged, at_endpoint, waiting = _charge(evidence, hot, None)
    share = worst_hit(charged, evidence.slowest_wall_ps)
    if not evidence.matters(charged):
        return None
    callpath, region = evidence.where(WAITS_AT_RECEIVER, charged)
    first, last = evidence.active_windows(WAITS_AT_RECEIVER, charged)
    several = len(hot) > 1
    worst = max(at_endpoint, key=lambda location: at_endpoint[location])
    title = f"{evidence.ranks_noun(hot)} {'are hot receivers in turn' if several else 'is a hot receiver in bursts'}: "
    waits = {part: sum(evidence.exposed_of([part]).values()) for part in WAITS_AT_RECEIVER}
    kinds = ", ".join(
        f"{part.replace('_', ' ')} {time_text(time)}"
        for part, time in sorted(waits.items(), key=lambda item: -item[1])
        if time > 0
    )
    return Finding(
        kind="hot_receiver",
        title=title + "all senders hit the same one at once" + (f"; they stall in {region}" if region else ""),
        ranks=evidence.ranks_text(hot),
        region=region,
        cause_region="",
        evidence=f"a message meets {measured.ratio:.2f} ± {error:.2f} times as many messages of other senders at its "
        f"receiver as with independent orders ({measured.judged:,} messages judged); ranks wait {time_text(waiting)} "
        f"for these receivers, {time_text(sum(charged.values()))} of it beyond an independent order; most at "
        f"{evidence.ranks_noun([worst])} ({percent_text(at_endpoint[worst] / sum(charged.values()))}); "
        f"over the run: {kinds}",
        advice="Let each rank visit its destinations in another order: start behind its own rank (staggered) "
        "or shuffle "
        "them, so that at any time every receiver has about one sender.",
        confidence=evidence.confidence(
            "high" if measured.ratio - 2 * error >= 2 * LEAST_CROWDING - 1 else "medium",
            "measured send times; the waits are shared over receivers in proportion to the messages' own waits",
        ),
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(charged.values())),
        share=share,
        endpoints=at_endpoint,
    )
