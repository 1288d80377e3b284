"""Titles and advice of findings about messages: late senders and receivers, progress, number and layout."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.findings.wording.facts import MAINLY, Facts, Words, in_where
from logpost.analyzer.words.units import bytes_text, count_text, time_text


def late_sender_chain(facts: Facts) -> str:
    title = f"{facts.waiters}{in_where(facts)} for {facts.noun('late_rank')}"
    return title + (f", late because of {facts.cause}" if facts.cause else "")


def be_earlier(_: Facts) -> str:
    return (
        "Divide the work before this send among the ranks that wait, or let ranks that have their data serve others (a "
        "tree); or send earlier (before work that the receiver does not need), or let the receiver compute during that "
        "time (nonblocking receives)."
    )


OTHERS = "other messages first"
"""The cause of a receiver that takes other messages before it posts a receive."""


def late_receiver(facts: Facts) -> str:
    title = f"{facts.waiters}{in_where(facts)} until {facts.noun('late_rank')} "
    several = len(facts.all("late_rank")) > 1
    title += f"post{'' if several else 's'} the receive"
    posted = next(iter(facts.by_place("posted")), "")
    title += f" ({posted})" if posted else ""
    if facts.share("waiting") > MAINLY:
        return f"{title}, delayed by waiting in {facts.cause}"
    if facts.share("handling") > MAINLY:
        return f"{title}, {'taking' if facts.cause == OTHERS else 'busy in'} {facts.cause}"
    return title + (f", delayed in {facts.cause}" if facts.cause else "")


def post_earlier(facts: Facts) -> str:
    if facts.share("waiting") > MAINLY:
        return (
            "Remove the waiting of these receivers first (see the other findings), or post the receive before it "
            "(MPI_Irecv), so that the sender need not wait for it."
        )
    if facts.share("handling") > MAINLY:
        return (
            "Post several receives at once (an MPI_Irecv for each expected message, completed with MPI_Waitany), "
            "so that no message waits for its turn, or distribute the messages over more ranks or more time."
        )
    if facts.all("shared"):
        return (
            "Divide the work before the receive among the ranks that wait for it (a tree, where it merges what they "
            "send), or let these continue with other work (MPI_Isend completed later)."
        )
    return (
        "Post the receive earlier (MPI_Irecv before the work that delays it, completed afterwards), or let the sender "
        "continue during that time (MPI_Isend completed later). Reorder the receives where one waits for another."
    )


def _counted(facts: Facts, kind: str) -> str:
    """How many messages of a kind, or one-sided transfers."""
    name = "transfers" if facts.all("transfers") else "messages"
    return count_text(int(facts.number(name)), "transfer" if name == "transfers" else kind)


def many_small_messages(facts: Facts) -> str:
    messages = _counted(facts, "message")
    title = f"{messages} of {bytes_text(facts.number('mean_size'))} on average from {facts.where or 'one place'} on "
    if facts.all("blocks"):
        return title + f"{facts.ranks}, each behind {time_text(facts.number('mean_work'))} of work"
    return title + f"{facts.ranks}: {facts.number('in_a_row'):.0f} in a row to the same rank"


def pack(facts: Facts) -> str:
    if facts.all("blocks"):
        several = "blocks in one epoch" if facts.all("transfers") else "messages in one"
        return (
            f"Pass on larger blocks: {facts.number('blocks'):.0f} {several}. With more, the next rank waits longer for "
            "its first one."
        )
    return (
        "Pack consecutive messages to the same rank into one (a buffer, or a derived datatype), or send fewer, larger "
        "blocks."
    )


def unattended(facts: Facts) -> str:
    computing = f", computing{f' in {facts.cause}' if facts.cause else ''} during that time"
    return f"{facts.ranks} leave{facts.verb_s} transfers unattended until {facts.where or 'a later call'}{computing}"


def answer(_: Facts) -> str:
    return (
        "Let the library run while these ranks compute: MPI_Test between smaller blocks of work, asynchronous progress "
        "(a progress thread, a network that progresses independently), or messages below the eager limit."
    )


def missed_overlap(facts: Facts) -> str:
    behind = f", and compute{facts.verb_s}{f' in {facts.cause}' if facts.cause else ''} only then"
    what = "nonblocking operations" if facts.number("of_operations") > MAINLY else "transfers"
    return f"{facts.ranks} wait{facts.verb_s} for {what}{in_where(facts)}{behind}"


def compute_first(facts: Facts) -> str:
    progress = " A library without asynchronous progress needs an MPI_Test now and then in that work."
    return (
        f"Compute before {facts.row['region'] or 'the call that waits'}: what needs none of the data in flight can run "
        "between the start of the transfers and their completion. Where all of it needs them, `logpost whatif RUN "
        f"--overlap` says into which pieces to part them.{progress if facts.number('of_operations') > MAINLY else ''}"
    )


def round_trips(facts: Facts) -> str:
    if facts.all("epochs"):
        epochs = count_text(int(facts.number("epochs")), "epoch")
        rows = f"{epochs}{in_where(facts)}, {facts.number('in_a_row'):.0f} in a row"
        size = bytes_text(facts.number("mean_size"))
        return f"{rows}: each requests its lock, and completes transfers of {size} on average, before the next begins"
    kind = "synchronous message" if facts.share("synchronous") > MAINLY else "message"
    messages = f"{_counted(facts, kind)} of {bytes_text(facts.number('mean_size'))}"
    if facts.all("several_ranks"):
        rows = f"{facts.number('several_ranks'):.0f} in a row to different ranks"
        return f"{messages} on average, {rows}, each after the answer to the one before it{in_where(facts)}"
    rows = f"{facts.number('in_a_row'):.0f} in a row between the same two ranks"
    title = f"{messages} on average, {rows}, each after the one before it{in_where(facts)}"
    return title + ("; their receiver waits in them for a pipeline" if facts.all("empties_pipeline") else "")


def ask_once(facts: Facts) -> str:
    if facts.all("epochs"):
        return (
            "Have one epoch for all of them (MPI_Win_lock once; MPI_Win_lock_all, and MPI_Win_flush where data must be "
            "there), so that the transfers are in flight concurrently, or move all values by one transfer."
        )
    if facts.all("transfers"):
        return (
            "Complete all transfers by one flush behind them, so that they are in flight concurrently, or move all "
            "values by one transfer."
        )
    if facts.all("several_ranks"):
        return (
            "Send all questions before the first wait for an answer (nonblocking receives, MPI_Waitany), so that the "
            "ranks answer concurrently."
        )
    if facts.all("empties_pipeline"):
        return (
            "Send one message for several steps (less often), or receive it a step later (nonblocking calls): then the "
            "first ranks begin the next step while the last ones finish."
        )
    return (
        "Ask for everything at once (one message with all questions, one with all replies; MPI_Gather where one rank "
        "collects), or keep several questions in flight (nonblocking calls), so that their latencies overlap."
    )


def strided_datatype(facts: Facts) -> str:
    messages = count_text(int(facts.number("messages")), "message")
    title = f"{messages} of strided data from {facts.where or 'one place'} on {facts.ranks}: packing lasts "
    return title + f"{time_text(facts.number('middleware_per_message'))} each"


def lay_out(_: Facts) -> str:
    return (
        "Send contiguous data: another layout or decomposition, a buffer that is packed by hand (or in parallel), or "
        "fewer, larger blocks in the datatype."
    )


WORDS: Mapping[str, Words] = {
    "late_sender_chain": Words(late_sender_chain, be_earlier, "to share the work of late ranks with those that wait"),
    "late_receiver": Words(late_receiver, post_earlier, "to post receives earlier"),
    "many_small_messages": Words(many_small_messages, pack, "to pack messages into one"),
    "unattended": Words(unattended, answer, "progress of the library in the background"),
    "missed_overlap": Words(missed_overlap, compute_first, "to overlap transfers with work"),
    "round_trips": Words(round_trips, ask_once, "one message instead of a series (aggregate them)"),
    "strided_datatype": Words(strided_datatype, lay_out, "contiguous data"),
}
