"""Titles and advice of findings about one-sided communication."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.findings.wording.collectives import collective_wait
from logpost.analyzer.findings.wording.facts import Facts, Words, for_late, in_where

NEIGHBOURS_ONLY = (
    "Synchronize only the ranks that exchange data: post, start, complete and wait with the neighbours, or lock_all "
    "once, flush, and a notification each."
)
"""What a fence, which synchronizes everybody, can be replaced by."""


def no_fence(facts: Facts) -> str:
    if facts.all("takes_turns"):
        return (
            "Call the fence less often, once behind several steps whose data is not needed before: then a step that is "
            f"long on one rank and the next that is long on another even out. {NEIGHBOURS_ONLY}"
        )
    balance = "on this rank" if facts.all("last_rank") else "between the fences"
    return f"Balance the work {balance}. {NEIGHBOURS_ONLY}"


def late_post(facts: Facts) -> str:
    return for_late(facts, "for the post of")


def post_window(_: Facts) -> str:
    return (
        "Post earlier: MPI_Win_post needs memory that may be overwritten, and no data, so it can precede the work "
        "that delays it; a second buffer makes it independent of that work. Or let the origins work before they start."
    )


def late_complete(facts: Facts) -> str:
    return for_late(facts, "for the end of the access by")


def complete_earlier(_: Facts) -> str:
    return (
        "Complete the access right after its last transfer, and work then; or let the targets work on other data and "
        "ask with MPI_Win_test before they wait."
    )


def late_put(facts: Facts) -> str:
    return for_late(facts, "for data that have yet to be put by")


def put_earlier(_: Facts) -> str:
    return (
        "Put as soon as the data are there (the border before the interior), or wait later: compute what needs none of "
        "them first. Where the late rank has more to do than the others, balance that."
    )


def lock_contention(facts: Facts) -> str:
    return for_late(facts, "for locks held by")


def hold_shorter(_: Facts) -> str:
    return (
        "Hold locks for less: compute before or after them, and lock per access. Reads and accumulates (atomic by "
        "element) need a shared lock only; with lock_all once and flushes no rank waits. Spread over several targets "
        "what all access."
    )


def unattended_target(facts: Facts) -> str:
    region = f" in {facts.cause}" if facts.cause else ""
    target = facts.noun("late_rank")
    return f"{facts.waiters}{in_where(facts)} for transfers to {target}, computing{region} during that time"


def serve(_: Facts) -> str:
    return (
        "Let the targets progress while they compute: a network with remote memory access, a progress thread, or calls "
        "of the library between smaller blocks of work. Or complete the transfers later, after work of the origin."
    )


WORDS: Mapping[str, Words] = {
    "wait_at_fence": Words(collective_wait, no_fence, "to synchronize partners only"),
    "late_post": Words(late_post, post_window, "to post the window earlier"),
    "late_complete": Words(late_complete, complete_earlier, "to complete the access earlier"),
    "late_put": Words(late_put, put_earlier, "to put earlier"),
    "lock_contention": Words(lock_contention, hold_shorter, "to hold the lock shorter"),
    "unattended_target": Words(unattended_target, serve, "progress of the library at the target"),
}
