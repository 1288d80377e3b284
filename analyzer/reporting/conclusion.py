"""The conclusion of a report: one or two sentences to act on."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.categories import WAITING
from logpost.analyzer.reporting.data import FoundHere, Largest, Share
from logpost.analyzer.reporting.units import percent_text, sentence_text, time_text
from logpost.analyzer.undivided import UNDIVIDED, title

SMALL = 0.05
"""Share of communication below which tuning it does not shorten the program noticeably."""

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
    UNDIVIDED: "what the estimated machine does not tell apart",
}
"""What each category means, in words."""


def conclude(
    breakdown: Sequence[Share],
    largest: Largest,
    found: Sequence[FoundHere],
    *,
    oversubscribed: bool,
    lacks_members: bool = False,
) -> str:
    """What the worst finding blames, how much of the time is communication, and what the largest part of that is.

    Arguments:
        breakdown: the categories' times.
        largest: the largest part of communication.
        found: the findings, the worst first.
        oversubscribed: ranks outnumber cores.
        lacks_members: the trace has no events of ranks that others wait for.
    """
    if not any(share.exposed_ps for share in breakdown):
        return "No rank has a measured runtime: the archive has no events of an MPI or SHMEM process."
    communication = _communication(breakdown, largest, lacks_members=lacks_members)
    return f"{_worst(found, oversubscribed=oversubscribed)} {communication}."


def _communication(breakdown: Sequence[Share], largest: Largest, *, lacks_members: bool) -> str:
    communication = [share for share in breakdown if share.category != "compute"]
    part = sum(share.share for share in communication)
    if part < SMALL:
        return f"The ranks compute {percent_text(1 - part)} of their time: communication does not slow this program"
    waiting = sum(share.share for share in communication if share.category in WAITING)
    # Of what an estimated machine does not tell apart, some may be waiting: without it, the sum is a lower bound.
    undivided = any(share.category == UNDIVIDED and share.exposed_ps for share in communication)
    least = "at least " if undivided or lacks_members else ""
    where = f" in {largest.region}" if largest.region else ""
    return (
        f"The ranks spend {percent_text(part)} of their time in communication, {least}{percent_text(waiting)} waiting "
        "for others; "
        f"the largest part is {title(largest.category)} ({MEANING[largest.category]}) with "
        f"{percent_text(largest.share)}, most of it{where}"
    )


def _worst(found: Sequence[FoundHere], *, oversubscribed: bool) -> str:
    if not found:
        return "No pattern costs any rank as much as 1 % of the program's time."
    worst = found[0]
    return (
        f"{sentence_text(worst.title)}. Without it, the program is {worst.gain_text}: "
        f"{time_text(worst.exposed_ps)} are exposed over all ranks"
        f"{', scheduling included' if oversubscribed else ''}, {percent_text(worst.share)} of the slowest "
        "rank's time on the rank that loses most."
    )
