"""Titles and advice of findings about the structure of an exchange: its order, its rounds, how it is sent."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.findings.wording.facts import Facts, Words, in_where
from logpost.analyzer.words.units import bytes_text, count_text


def _messages(facts: Facts) -> str:
    return f"{count_text(int(facts.number('messages')), 'message')} of {bytes_text(facts.number('mean_size'))}"


def synchronous_sends(facts: Facts) -> str:
    return f"{facts.ranks} wait{facts.verb_s}{in_where(facts)} until each of {_messages(facts)} is received"


def standard_sends(_: Facts) -> str:
    return (
        "Send with MPI_Send instead of MPI_Ssend (MPI_Isend instead of MPI_Issend) where the program does not rely on "
        "the receive: messages of this size leave without a handshake."
    )


def destination_order(facts: Facts) -> str:
    title = f"{facts.ranks} send to the same rank at once, then all to the next{in_where(facts)}"
    if facts.all("crowding"):
        return f"{title}: {_messages(facts)} meet {facts.number('crowding'):.1f} × as many others as in a random order"
    return (
        f"{title}: rows of "
        f"{facts.number('in_a_row'):.0f} messages of {bytes_text(facts.number('mean_size'))} in the same order"
    )


def turn_order(_: Facts) -> str:
    return (
        "Let each rank begin with the rank behind itself and go round: the order is (rank + k) mod ranks for k = 1, 2, "
        "..., so that each receiver has one sender at a time."
    )


def receive_order(facts: Facts) -> str:
    if facts.all("messages_of_a_wait"):
        each = f"{facts.number('messages_of_a_wait'):.0f} messages"
        return f"{facts.ranks} wait{facts.verb_s}{in_where(facts)} for all of {each} before the work on the first"
    return (
        f"{facts.ranks} receive{facts.verb_s} in a fixed order{in_where(facts)}: "
        f"{count_text(int(facts.number('out_of_order')), 'message')} of {facts.number('messages'):,.0f} arrive before "
        "those that are waited for"
    )


def receive_any(_: Facts) -> str:
    return "Take messages as they arrive: MPI_Waitany or MPI_Waitsome over all open receives, or MPI_ANY_SOURCE."


def serial_exchange(facts: Facts) -> str:
    return (
        f"{facts.ranks} send{facts.verb_s} only after receiving{in_where(facts)}: each of {_messages(facts)} "
        "waits for the one before it"
    )


def send_at_once(_: Facts) -> str:
    return (
        "Send and receive at once where a message does not need what was received before it: MPI_Sendrecv, or an "
        "MPI_Isend before the receive."
    )


def serial_distribution(facts: Facts) -> str:
    each = int(facts.number("messages_each", 1.0))
    what = bytes_text(facts.number("mean_size"))
    return (
        f"{facts.ranks} send{facts.verb_s} {what if each <= 1 else f'{each} messages of {what}'} to each of "
        f"{facts.number('in_a_row'):.0f} ranks itself, one after the other{in_where(facts)}"
    )


def through_tree(_: Facts) -> str:
    return (
        "Use MPI_Bcast where all get the same data (MPI_Scatter where not), with one message for each rank: ranks that "
        "have it pass it on in a tree."
    )


WORDS: Mapping[str, Words] = {
    "synchronous_sends": Words(synchronous_sends, standard_sends, "to send without waiting for the receive (MPI_Send)"),
    "destination_order": Words(destination_order, turn_order, "another order of destinations"),
    "receive_order": Words(receive_order, receive_any, "to take messages as they arrive (MPI_Waitany)"),
    "serial_exchange": Words(serial_exchange, send_at_once, "to send and receive at once"),
    "serial_distribution": Words(serial_distribution, through_tree, "a tree (MPI_Bcast, MPI_Scatter)"),
}
