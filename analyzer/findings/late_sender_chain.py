"""Late-sender chains: who is waited for, what it does meanwhile, and where the chain of waiting begins.

A late-sender wait of receiver r for sender s is the interval from r's entering the receive to s's entering the send.
What s does in exactly that interval is known: it is outside communication (it computes: the *cause*), inside a call in
which it waits itself (the wait is *indirect*, its cause lies further up), or inside a call that works. This is the
essence of Scalasca's delay analysis, measured at the moment of waiting.

With f_s(compute), f_s(indirect) the fractions of the intervals in which others wait for s, and T(s, q) the share of q
in s's own late-sender waits, waiting W is passed up the chain until nothing is left:

    W_0(s) = exposed late-sender wait of all receivers for s
    caused(s) += W_k(s) f_s(compute)
    W_{k+1}(q) = sum_s W_k(s) f_s(indirect) T(s, q)

Late-sender parts of messages that overlap in one Waitall count once on the receiver: each is scaled by the receiver's
exposed late-sender time over the sum of its messages' parts. All in picoseconds. The intervals are those of the
`LARGEST` longest waits; how much of the whole they cover is said in the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence import WAITING, Evidence
from logpost.analyzer.findings.finding import MIN_SHARE, Finding, worst_hit
from logpost.analyzer.reporting.units import count_text, percent_text, time_text

LARGEST = 20_000
"""Waits that are followed to their cause; the longest ones, which hold most of the time."""
MOST_SENDERS = 64
"""Late senders whose calls are read: those that cause the most waiting."""
STEPS = 64
"""Longest chain; waiting that is still indirect then runs in a circle."""
REPORTED = 3
"""Causes reported; the next ones are smaller than a third of the first or are the first again in other words."""

Sums = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Meanwhile:
    """What a late sender does while others wait for it, as fractions that add up to 1 with `working`."""

    computing: float
    waiting: float
    place: tuple[str, int, str]
    """Where it computes: region, call path of the send, and how that is known."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per causing region, of those that cost the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["late_sender"], MIN_SHARE):
        return
    waits = _waits(evidence)
    if waits.is_empty():
        return
    largest = (
        evidence.tables["messages"]
        .filter(pl.col("late_sender_ps") > 0, pl.col("send_location") != pl.col("recv_location"))
        .select("send_location", "recv_location", "send_callpath", "recv_callpath", "late_sender_ps", "send_enter_ps")
        .top_k(LARGEST, by="late_sender_ps")
        .collect()
    )
    senders = (
        waits.group_by("sender").agg(pl.col("wait").sum()).sort("wait", descending=True)["sender"].head(MOST_SENDERS)
    )
    meanwhile = _meanwhile(evidence, largest, senders.to_list())
    covered = int(largest["late_sender_ps"].sum()) / max(1, int(evidence.pairs["late_sender_ps"].sum()))
    yield from _findings(evidence, waits, meanwhile, largest, min(1.0, covered))


def _waits(evidence: Evidence) -> pl.DataFrame:
    """(receiver, sender, wait): exposed late-sender time, shared over senders as the messages' parts are; ps."""
    exposed = evidence.exposed_of(["late_sender"])
    times = pl.DataFrame(
        {"receiver": list(exposed), "exposed": [float(time) for time in exposed.values()]},
        schema={"receiver": pl.Int32, "exposed": pl.Float64},
    )
    return (
        evidence.pairs.filter(pl.col("late_sender_ps") > 0)
        .select(
            receiver=pl.col("recv_location"),
            sender=pl.col("send_location"),
            part=pl.col("late_sender_ps").cast(pl.Float64),
        )
        .join(times, on="receiver")
        .select("receiver", "sender", wait=pl.col("part") / pl.col("part").sum().over("receiver") * pl.col("exposed"))
        .filter(pl.col("wait") > 0)
        .sort("receiver", "sender")
    )


def _meanwhile(evidence: Evidence, largest: pl.DataFrame, senders: list[int]) -> dict[int, Meanwhile]:
    """Late sender to what it does while others wait for it."""
    calls = (
        evidence.tables["calls"]
        .filter(pl.col("location").is_in(senders))
        .select(
            "location",
            "enter_ps",
            "leave_ps",
            "callpath",
            waiting=pl.sum_horizontal([pl.col(f"{category}_ps") for category in WAITING]),
        )
        .sort("location", "enter_ps")
        .collect()
        .partition_by("location", as_dict=True)
    )
    found: dict[int, Meanwhile] = {}
    for key, intervals in largest.partition_by("send_location", as_dict=True).items():
        sender = int(key[0])
        if (sender,) in calls:
            found[sender] = _of_sender(evidence, sender, intervals, calls[(sender,)])
    return found


def _of_sender(evidence: Evidence, sender: int, intervals: pl.DataFrame, calls: pl.DataFrame) -> Meanwhile:
    end = intervals["send_enter_ps"].to_numpy()
    begin = end - intervals["late_sender_ps"].to_numpy()
    enter, leave = calls["enter_ps"].to_numpy(), calls["leave_ps"].to_numpy()
    length = np.maximum(leave - enter, 1)
    density = calls["waiting"].to_numpy() / length
    first = np.searchsorted(leave, begin, side="right")
    past = np.searchsorted(enter, end, side="left")
    inside = _overlaps(np.ones(len(enter)), enter, leave, first, past, begin, end)
    waiting = _overlaps(density, enter, leave, first, past, begin, end)
    computing = (end - begin) - inside
    total = max(1, int((end - begin).sum()))

    per_place: dict[int, float] = {}
    for callpath, time in zip(intervals["send_callpath"].to_list(), computing.tolist(), strict=True):
        per_place[callpath] = per_place.get(callpath, 0.0) + time
    callpath = max(per_place, key=lambda place: per_place[place])
    region = evidence.delaying_region(sender, callpath)
    how = "user regions of the profile"
    if not region:
        here = (intervals["send_callpath"].to_numpy() == callpath) & (past > 0)
        longest = int(np.argmax(np.where(here, computing, -1)))
        before = int(past[longest]) - 1
        after = evidence.region(int(callpath))
        if 0 <= before < len(enter):
            region = f"code between {evidence.region(int(calls['callpath'][before]))} and {after}"
        else:
            region = evidence.code_before(int(callpath))
        how = "the calls around it, since no user region was recorded"
    return Meanwhile(float(computing.sum()) / total, float(waiting.sum()) / total, (region, int(callpath), how))


def _overlaps(
    density: Sums,
    enter: npt.NDArray[np.int64],
    leave: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    past: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
) -> Sums:
    """Integral of `density` of the calls first..past-1 (successive, not overlapping) over [begin, end], per
    interval."""
    running = np.concatenate([[0.0], np.cumsum(density * (leave - enter))])
    some = past > first
    whole = running[np.maximum(past, first)] - running[first]
    head, tail = np.minimum(first, len(enter) - 1), np.maximum(past - 1, 0)
    cut_head = np.where(some, np.maximum(0, begin - enter[head]) * density[head], 0.0)
    cut_tail = np.where(some, np.maximum(0, leave[tail] - end) * density[tail], 0.0)
    return np.maximum(np.asarray(whole - cut_head - cut_tail, dtype=np.float64), 0.0)


def _findings(
    evidence: Evidence, waits: pl.DataFrame, meanwhile: dict[int, Meanwhile], largest: pl.DataFrame, covered: float
) -> Iterable[Finding]:
    index = {location: i for i, location in enumerate(sorted(set(waits["sender"]) | set(waits["receiver"])))}
    locations = list(index)
    size = len(locations)
    # Row: the worst-hit receivers one by one, then all others together; column: for whom the waiting stands at the
    # moment.
    order = waits.group_by("receiver").agg(pl.col("wait").sum()).sort("wait", descending=True)["receiver"].to_list()
    row = {receiver: min(i, MOST_SENDERS) for i, receiver in enumerate(order)}
    standing = np.zeros((min(len(order), MOST_SENDERS + 1), size))
    upstream: dict[int, list[tuple[int, float]]] = {}
    for receiver, sender, wait in waits.iter_rows():
        standing[row[receiver], index[sender]] += wait
        upstream.setdefault(index[receiver], []).append((index[sender], wait))
    computing = np.array([meanwhile[loc].computing if loc in meanwhile else 0.0 for loc in locations])
    indirect = np.array([meanwhile[loc].waiting if loc in meanwhile else 0.0 for loc in locations])
    direct = standing.copy()
    caused = np.zeros_like(standing)
    for _ in range(STEPS):
        caused += standing * computing
        passing = standing * indirect
        if passing.sum() < 1e-3 * caused.sum() or passing.sum() == 0:
            break
        standing = np.zeros_like(standing)
        for at in np.flatnonzero(passing.sum(axis=0)):
            above = upstream.get(int(at), [])
            every = sum(wait for _, wait in above)
            for sender_index, wait in above:
                standing[:, sender_index] += passing[:, at] * (wait / every)

    places: dict[str, list[int]] = {}
    for i, location in enumerate(locations):
        if location in meanwhile and caused[:, i].sum() > 0:
            places.setdefault(meanwhile[location].place[0], []).append(i)
    ranked = sorted(places, key=lambda place: -caused[:, places[place]].sum())[:REPORTED]
    total = float(direct.sum())
    for place in ranked:
        columns = places[place]
        by_receiver = caused[:, columns].sum(axis=1)
        single = {order[i]: float(by_receiver[i]) for i in range(min(len(order), MOST_SENDERS))}
        exposed = float(by_receiver.sum())
        share = worst_hit(single, evidence.slowest_wall_ps)
        if share < MIN_SHARE:
            continue
        weights = {locations[i]: float(caused[:, i].sum()) for i in columns}
        chain = _chain(max(single, key=lambda r: single[r]), waits, meanwhile)
        yield _finding(evidence, place, weights, single, exposed, share, total, chain, meanwhile, largest, covered)


def _chain(receiver: int, waits: pl.DataFrame, meanwhile: dict[int, Meanwhile]) -> list[int]:
    """From a waiting rank along the largest waits to the rank that computes, without visiting a rank twice."""
    chain = [receiver]
    while True:
        above = waits.filter(pl.col("receiver") == chain[-1], ~pl.col("sender").is_in(chain)).sort(
            "wait", descending=True
        )
        if above.is_empty():
            return chain
        chain.append(int(above["sender"][0]))
        state = meanwhile.get(chain[-1])
        if state is None or state.computing >= state.waiting:
            return chain


def _finding(
    evidence: Evidence,
    place: str,
    weights: dict[int, float],
    by_receiver: dict[int, float],
    exposed: float,
    share: float,
    total: float,
    chain: list[int],
    meanwhile: dict[int, Meanwhile],
    largest: pl.DataFrame,
    covered: float,
) -> Finding:
    heaviest = max(weights.values())
    causes = [location for location, weight in weights.items() if weight >= 0.25 * heaviest]
    first_cause = max(weights, key=lambda location: weights[location])
    state = meanwhile[first_cause]
    waiters = [location for location, time in by_receiver.items() if time >= 0.25 * max(by_receiver.values())]
    callpath, region = evidence.where(["late_sender"], waiters)
    first, last = evidence.active_windows(["late_sender"], waiters)
    shown = " ← ".join(str(evidence.ranks([location])[0]) for location in chain)
    waits_noun = evidence.ranks_noun(waiters)
    ratio = exposed / total if total > 0 else 0.0
    return Finding(
        kind="late_sender_chain",
        title=f"{waits_noun} wait{'s' if len(waiters) == 1 else ''}"
        + (f" in {region}" if region else "")
        + f" for {evidence.ranks_noun(causes)}, late because of {place}",
        ranks=evidence.ranks_text(waiters),
        region=region,
        cause_region=place,
        evidence=f"{time_text(exposed)} of {time_text(total)} exposed late-sender time ({percent_text(ratio)}) "
        "traced to "
        f"{place} on {evidence.ranks_noun(causes)}; while others wait, {evidence.ranks_noun([first_cause])} "
        "computes for "
        f"{percent_text(state.computing)} and waits itself for {percent_text(state.waiting)} of that time; "
        "strongest chain "
        f"of ranks (waiting ← late): {shown}; seen in the {count_text(largest.height, 'longest wait')}, which hold "
        f"{percent_text(covered)} of the time",
        advice="Shorten or split the work before the send there, send earlier (before work that the receiver "
        "does not need), "
        "or give the receiver something to do meanwhile (nonblocking receives).",
        confidence=evidence.confidence(
            "high" if covered >= 0.8 and ratio >= 0.5 else "medium",
            f"measured intervals; the region is known from {state.place[2]}",
        ),
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(exposed),
        share=share,
    )
