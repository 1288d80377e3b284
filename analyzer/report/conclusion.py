"""The conclusion of a report: one or two sentences to act on."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.findings.finding import MIN_SHARE, UNEXPLAINED
from logpost.analyzer.findings.wording.numbers import between_text
from logpost.analyzer.report.data import Largest, PlacedFinding, Share, Uneven
from logpost.analyzer.report.threads import Threads
from logpost.analyzer.run.undivided import UNDIVIDED, title
from logpost.analyzer.words.categories import WAITING
from logpost.analyzer.words.units import count_text, percent_text, sentence_text, time_text

SMALL = 0.05
"""Share of communication below which its largest part is not worth a sentence next to a finding."""
WORKS = ("parallel", "serial", "communication")
"""Times of threads that do something."""

MEANING = {
    "late_sender": "receivers wait for data that are not sent yet",
    "send_overhead": "the processor's work to send",
    "middleware": "packing and unpacking of noncontiguous data",
    "endpoint_contention": "messages queue at a network interface",
    "latency": "the first byte's way through the network",
    "serialization": "the bytes themselves, at the network's bandwidth",
    "network_contention": "messages queue inside the network",
    "late_receiver": "senders wait for receives or memory that are not posted yet",
    "processor_queueing": "messages wait until the other side's processor attends to them",
    "recv_overhead": "the processor's work to receive",
    "residual": "time in calls that no part of the model explains",
    "lock_wait": "ranks wait for a lock of memory that another rank holds",
    "collective_wait": "ranks wait in collective operations, fences and constructors for the ranks that these need",
    "collective": "in collective operations, beyond the waits that their definitions name",
    "mpi_other": "communicators, probes and all other MPI calls",
    "compute": "outside communication calls",
    UNDIVIDED: "what the estimated machine does not distinguish",
}
"""What each category means, in words."""


def conclude(
    breakdown: Sequence[Share],
    largest: Largest,
    found: Sequence[PlacedFinding],
    *,
    scheduled: bool,
    uneven: Uneven | None = None,
    threads: Threads | None = None,
    outside_calls: int = 0,
    lacks_members: bool = False,
) -> str:
    """What the worst finding blames, how much of the time is communication, and what the largest part of that is;
    without a finding, what the accounts say of the time that is lost.

    Arguments:
        breakdown: the ranks' accounts.
        largest: category of communication.
        found: the findings.
        scheduled: waits contain scheduling.
        uneven: the ranks' compute; None: it is the same on all.
        threads: of OpenMP.
        outside_calls: communication records that are in no call, and so without a time.
        lacks_members: the trace has no events of ranks that others wait for.
    """
    if not any(share.exposed_ps for share in breakdown):
        return "No rank has a measured runtime: the archive has no events of a process."
    said: list[str] = []
    if any(one.kind != UNEXPLAINED for one in found):
        worst = _worst(found, scheduled=scheduled)
        said = [worst, _communication(breakdown, largest, lacks_members=lacks_members)]
    else:
        none = "No cure applies" if found else "No finding applies"
        said = [f"{none}; {_lost(breakdown, largest)}", _uneven(uneven), _threads(threads)]
    if outside_calls:
        said.append(
            f"{count_text(outside_calls, 'communication record')} {'is' if outside_calls == 1 else 'are'} outside of "
            "any call: what they cost is in compute"
        )
    return " ".join(f"{sentence}." for sentence in said if sentence)


def _communication(breakdown: Sequence[Share], largest: Largest, *, lacks_members: bool) -> str:
    communication = [share for share in breakdown if share.category != "compute"]
    part = sum(share.share for share in communication)
    if part < SMALL:
        return f"The ranks compute {percent_text(1 - part)} of their time; {percent_text(part)} is communication"
    waiting = sum(share.share for share in communication if share.category in WAITING)
    # Of what an estimated machine does not divide, some may be waiting: without it, the sum is a lower bound.
    undivided = any(share.category == UNDIVIDED and share.exposed_ps for share in communication)
    least = "at least " if undivided or lacks_members else ""
    where = f" in {largest.region}" if largest.region else ""
    return (
        f"The ranks spend {percent_text(part)} of their time in communication, {least}{percent_text(waiting)} waiting "
        "for others; "
        f"the largest part is {title(largest.category)} ({MEANING[largest.category]}) with "
        f"{percent_text(largest.share)}, most of it{where}"
    )


def _worst(found: Sequence[PlacedFinding], *, scheduled: bool) -> str:
    worst = found[0]
    return (
        f"{sentence_text(worst.title)}. Time saved without it: "
        f"{between_text(worst.gain, worst.gain_low, worst.gain_high)}; {time_text(worst.exposed_ps)} are exposed over "
        f"all ranks{', scheduling included' if scheduled else ''}, {percent_text(worst.share)} of the slowest "
        "rank's time on the rank that loses most"
    )


def _lost(breakdown: Sequence[Share], largest: Largest) -> str:
    """Category by category, the largest first; those below `MIN_SHARE` together."""
    communication = [share for share in breakdown if share.category != "compute"]
    part = sum(share.share for share in communication)
    listed = sorted((one for one in communication if one.share >= MIN_SHARE), key=lambda one: -one.share)
    said = [
        f"{percent_text(one.share)} {title(one.category)} ({MEANING[one.category]}"
        f"{f'; most of it in {largest.region}' if one.category == largest.category and largest.region else ''})"
        for one in listed
    ]
    if rest := sum(one.share for one in communication if one.share < MIN_SHARE):
        said.append(f"{percent_text(rest)} in {'other' if listed else 'several'} categories")
    others = f"; the rest: {', '.join(said)}" if said else ""
    return f"{percent_text(1 - part)} of the ranks' time is compute{others}"


def _uneven(uneven: Uneven | None) -> str:
    if uneven is None or 1 - uneven.load_balance < MIN_SHARE:
        return ""
    where = f", most in {uneven.region}" if uneven.region else ""
    return (
        f"The ranks' compute is uneven (load balance {percent_text(uneven.load_balance)}){where}, where {uneven.rank} "
        f"computes {time_text(uneven.beyond_mean_ps)} longer than the mean"
    )


def _threads(threads: Threads | None) -> str:
    if threads is None or not threads.total_ps:
        return ""
    shares = {name: time / threads.total_ps for name, time in threads.spent_ps.items() if name not in WORKS}
    said = [
        f"{percent_text(share)} {name.replace('_', ' ')}"
        for name, share in sorted(shares.items(), key=lambda item: -item[1])
        if share >= MIN_SHARE
    ]
    return f"Of the threads' time is lost: {', '.join(said)}" if said else ""
