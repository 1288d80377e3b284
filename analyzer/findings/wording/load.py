"""Titles and advice of findings about the load of endpoints and links."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.findings.wording.facts import Facts, Words, in_where
from logpost.analyzer.words.units import bytes_text


def hot_receiver(facts: Facts) -> str:
    title = f"{facts.ranks} is a hot receiver: {facts.number('load_over_others'):.1f} × the load of the other receivers"
    return title + (f", waited for{in_where(facts)}" if facts.where else "")


def cool_receiver(_: Facts) -> str:
    return (
        "Distribute the messages to this rank: another decomposition, a tree or a collective instead of all ranks "
        "sending to one, or let several ranks share its role."
    )


def hot_sender(facts: Facts) -> str:
    messages = f"{facts.number('messages'):,.0f} messages of {bytes_text(facts.number('mean_size'))} on average"
    return f"{facts.ranks} is a hot sender: it alone sends {messages}, one after the other{in_where(facts)}"


def cool_sender(_: Facts) -> str:
    return (
        "Let all ranks share in sending what this one sends: distribute the data. Receivers get different amounts, so "
        "that it is no broadcast, which a tree could pass on."
    )


def shared_nic(facts: Facts) -> str:
    title = f"{facts.ranks} send at once through a NIC that {facts.number('ranks_share_a_nic'):.0f} of them share"
    return title + (f"; {facts.noun('waiting_rank')} wait{in_where(facts)}" if facts.where else "")


def separate_sends(_: Facts) -> str:
    return (
        "Let fewer ranks of a node send at a time: gather what a node sends on one rank, shift the sends against each "
        "other so that work hides them, place ranks that talk on the same node, or use more NICs."
    )


def hot_link(facts: Facts) -> str:
    ends = zip(facts.all("from_node"), facts.all("to_node"), strict=True)
    named = [f"{start:.0f} to {end:.0f}" for start, end in ends]
    waits = f"{facts.ranks} wait{facts.verb_s}{in_where(facts)}"
    if not facts.number("hot_links"):
        busiest = facts.number("offered_load_at_most")
        offered = f"its busiest link, {named[0]}, is offered {busiest:.2f} × what it carries in a phase"
        return f"{waits} for the network: {offered}"
    more = int(facts.number("hot_links")) - len(named)
    which = ("link " if len(named) == 1 else "links ") + ", ".join(named) + (f" and {more} more" if more > 0 else "")
    load = facts.number("load_over_mean")
    return f"{waits} for hot {which} of the network: {load:.1f} × the mean load of the links in use"


def route_apart(facts: Facts) -> str:
    spread = "Place ranks that exchange much on neighbouring nodes (another mapping), or send fewer bytes across"
    if not facts.number("hot_links", 0.0):
        return spread + "; let the sends of different ranks start at different times, so that work hides them."
    return (
        spread + " these links; let ranks visit their partners in different orders, so that they use different routes."
    )


WORDS: Mapping[str, Words] = {
    "hot_receiver": Words(hot_receiver, cool_receiver, "to spread the messages to the hot receiver"),
    "hot_sender": Words(hot_sender, cool_sender, "to let other ranks send a part (a tree or a collective)"),
    "shared_nic": Words(shared_nic, separate_sends, "a NIC for each rank, or sends at different times"),
    "hot_link": Words(hot_link, route_apart, "to place ranks on other nodes"),
}
