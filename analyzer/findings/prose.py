"""Make a finding's words from its named numbers: title, advice, evidence and confidence, for text, JSON and HTML.

A title names who waits, where, and for whom or what. Its template reads a row of the findings table and nothing else,
so any reader of a run produces the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from logpost.analyzer.findings.evidence.places import NOWHERE, Place, Places
from logpost.analyzer.reporting.names import ranks_noun, ranks_text
from logpost.analyzer.reporting.units import bytes_text, count_text, percent_text, time_text

Row = Mapping[str, Any]

SURE, LIKELY = 0.75, 0.45
"""Thresholds above which a confidence is high, or medium."""
OTHERS = "other messages first"
"""The cause of a receiver that takes other messages before it posts a receive."""
MAINLY = 0.5
"""More than half of the time."""
BEYOND_MODEL = 100.0
"""The largest factor shown: beyond it, the machine's values do not describe the operation."""
FAR_ABOVE = 4.0
"""Factor over its estimate from which no choice of algorithm explains the cost of an operation."""


@dataclass(frozen=True)
class Facts:
    """A finding's row, with its numbers by name."""

    row: Row
    place: Place

    @property
    def ranks(self) -> str:
        """`rank 0`, `ranks 3, 5-7`."""
        return ranks_noun(self.row["ranks"])

    @property
    def verb_s(self) -> str:
        """The s of the third person singular."""
        return "s" if len(self.row["ranks"]) == 1 else ""

    @property
    def waiters(self) -> str:
        """`rank 1 waits`, `ranks 3, 5-7 wait`: of a finding that names those at fault as well."""
        return f"{self.noun('waiting_rank')} wait{'s' if len(self.all('waiting_rank')) == 1 else ''}"

    @property
    def where(self) -> str:
        """The waiting call with its file and line; empty where unknown."""
        region: str = self.row["region"]
        return self.place.named if self.place.is_site and region == self.place.region else region

    @property
    def cause(self) -> str:
        """The region that causes it; empty where unknown."""
        return str(self.row["cause_region"])

    def number(self, name: str, default: float = 0.0) -> float:
        """The first number of a name."""
        return next(iter(self.all(name)), default)

    def all(self, name: str) -> list[float]:
        """Every number of a name."""
        return [one["value"] for one in self.row["evidence"] if one["name"] == name]

    def noun(self, name: str) -> str:
        """The ranks of a name: `rank 0`."""
        return ranks_noun(int(rank) for rank in self.all(name))

    def by_place(self, name: str) -> dict[str, float]:
        """Place to number, of names such as `computing[relax]`."""
        found = {}
        for one in self.row["evidence"]:
            head, bracket, place = one["name"].partition("[")
            if head == name and bracket:
                found[place.rstrip("]")] = one["value"]
        return found

    def share(self, name: str) -> float:
        """Sum over places of a name."""
        return sum(self.by_place(name).values()) + sum(self.all(name))


def titles(rows: Sequence[Row], places: Places) -> list[str]:
    """One title per finding, all different: equal ones are distinguished by place, then by time window."""
    found = [Facts(row, places.get(row["callpath"], NOWHERE)) for row in rows]
    said = [TEMPLATES[facts.row["kind"]][0](facts) for facts in found]
    for differ in (_source_of, _path_of, _windows_of):
        counts = Counter(said)
        said = [
            f"{title} ({more})" if counts[title] > 1 and (more := differ(facts)) else title
            for title, facts in zip(said, found, strict=True)
        ]
    seen: Counter[str] = Counter()
    for i, title in enumerate(said):
        seen[title] += 1
        if seen[title] > 1:
            said[i] = f"{title} ({seen[title]})"
    return said


def _source_of(facts: Facts) -> str:
    return facts.place.source if facts.place.is_site and facts.place.source not in facts.where else ""


def _path_of(facts: Facts) -> str:
    return facts.place.path


def _windows_of(facts: Facts) -> str:
    return f"windows {facts.row['first_window']} to {facts.row['last_window']}"


def advice(row: Row) -> str:
    """What to try, as far as the evidence supports it."""
    return TEMPLATES[row["kind"]][1](Facts(row, NOWHERE))


def evidence_text(evidence: Sequence[Mapping[str, Any]]) -> str:
    """The numbers with their units: `exposed: 77.0 ms; computing (relax): 100.0 %`."""
    ranks: dict[str, list[int]] = {}
    for one in evidence:
        if one["unit"] in ("rank", "rank_in_order", "thread"):
            ranks.setdefault(one["name"], []).append(int(one["value"]))
    pieces: dict[str, None] = {}
    for one in evidence:
        name = one["name"]
        value = number_text(one["value"], one["unit"])
        if one["unit"] == "rank_in_order":
            value = " ← ".join(str(rank) for rank in ranks[name])
        elif name in ranks:
            value = ranks_text(ranks[name])
        pieces.setdefault(f"{_words(name)}: {value}")
    return "; ".join(pieces)


def _words(name: str) -> str:
    head, bracket, place = name.partition("[")
    return head.replace("_", " ") + (f" ({place.removesuffix(']')})" if bracket else "")


def number_text(value: float, unit: str) -> str:
    """A number of the evidence with its unit."""
    if unit == "ps":
        return time_text(value)
    if unit == "B":
        return bytes_text(value)
    if unit == "1":
        return percent_text(value)
    if unit == "x":
        return f"{value:.2f} ×" if value < 9.995 else f"{value:,.1f} ×" if value < 99.95 else f"{value:,.0f} ×"
    return f"{value:,.0f}" if unit in ("count", "rank", "thread") else f"{value:.4g} {unit}".rstrip()


def confidence_text(confidence: float, certainty: str) -> str:
    """`high (0.9): compute time is measured`."""
    level = "high" if confidence >= SURE else "medium" if confidence >= LIKELY else "low"
    return f"{level} ({confidence:.2g}): {certainty}"


def gain_text(gain: float, error: float | None = None) -> str:
    """`at most 21.0 % faster, ± 3.0 %`: the share of the slowest rank's program time that a cure saves at most, and by
    how much that may be off, where that is known; nothing saves less than nothing."""
    text = f"at most {percent_text(gain)} faster"
    if error is None:
        return text
    return f"{text}, perhaps not at all" if error >= gain else f"{text}, ± {percent_text(error)}"


def _in(facts: Facts) -> str:
    return f" in {facts.where}" if facts.where else ""


def _hot_receiver(facts: Facts) -> str:
    if facts.all("load_over_others"):
        title = f"{facts.ranks} is a hot receiver: {facts.number('load_over_others'):.1f} × the load of the other "
        return title + "receivers" + (f", waited for{_in(facts)}" if facts.where else "")
    several = len(facts.row["ranks"]) > 1
    title = f"{facts.ranks} {'are hot receivers in turn' if several else 'is a hot receiver in bursts'}: "
    return title + "all senders send to the same rank at once" + (f"; they stall{_in(facts)}" if facts.where else "")


def _cool_receiver(facts: Facts) -> str:
    if facts.all("load_over_others"):
        return (
            "Distribute the messages to this rank: another decomposition, a tree or a collective instead of all ranks "
            "sending to one, or let several ranks share its role."
        )
    return (
        "Let each rank visit its destinations in another order: start after its own rank (staggered) or shuffle "
        "them, so that each receiver has about one sender at any time."
    )


def _hot_sender(facts: Facts) -> str:
    if facts.all("ranks_share_a_nic"):
        title = f"{facts.ranks} send at once through a NIC that {facts.number('ranks_share_a_nic'):.0f} of them share"
        return title + (f"; {facts.noun('waiting_rank')} wait{_in(facts)}" if facts.where else "")
    title = f"{facts.ranks} is a hot sender: {facts.number('load_over_others'):.1f} × the load of the other senders"
    return title + (f"; {facts.noun('waiting_rank')} wait{_in(facts)}" if facts.where else "")


def _cool_sender(facts: Facts) -> str:
    if facts.all("ranks_share_a_nic"):
        return (
            "Let fewer ranks of a node send at a time: gather what a node sends on one rank, shift the sends against "
            "each other so that work hides them, place ranks that talk on the same node, or use more NICs."
        )
    if facts.all("gain_if_shared"):
        return _sent_by_others(facts)
    return (
        "Let other ranks help: use a collective (Bcast, Scatter) or a tree instead of one rank sending to all in "
        "turn, or nonblocking sends with the most urgent receiver first."
    )


def _sent_by_others(facts: Facts) -> str:
    shared = f"makes the program {gain_text(facts.number('gain_if_shared'))}"
    if not facts.all("gain_as_tree"):
        return (
            f"Let all ranks share in sending what this one sends, which {shared}: distribute the data. Receivers get "
            "different sizes or several messages each, so that it is no broadcast, which a tree could pass on."
        )
    tree = f"makes the program {gain_text(facts.number('gain_as_tree'))}"
    return (
        "All receivers get as many bytes at a time. Where that is the same data, send it along a tree (MPI_Bcast), "
        f"which {tree}. Where each gets other data (a scatter), no tree can pass it on: let all ranks share in "
        f"sending it (distribute the data), which {shared}."
    )


def _hot_link(facts: Facts) -> str:
    ends = zip(facts.all("from_node"), facts.all("to_node"), strict=True)
    named = [f"{start:.0f} to {end:.0f}" for start, end in ends]
    waits = f"{facts.ranks} wait{facts.verb_s}{_in(facts)}"
    if not facts.number("hot_links"):
        busiest = percent_text(facts.number("utilisation_at_most"))
        return f"{waits} for the network: its busiest link, {named[0]}, is in use for {busiest} of a phase"
    more = int(facts.number("hot_links")) - len(named)
    which = ("link " if len(named) == 1 else "links ") + ", ".join(named) + (f" and {more} more" if more > 0 else "")
    load = facts.number("load_over_mean")
    return f"{waits} for hot {which} of the network: {load:.1f} × the mean load of the links in use"


def _route_apart(facts: Facts) -> str:
    spread = "Place ranks that exchange much on neighbouring nodes (another mapping), or send fewer bytes across"
    if not facts.number("hot_links"):
        return spread + "; let the sends of different ranks start at different times, so that work hides them."
    return spread + " these links; let ranks visit their partners in different orders, so that routes are used in turn."


_AT_FAULT = {
    "traced_to_computing": "",
    "traced_to_working": "work in ",
    "traced_to_waiting": "waiting in ",
    "traced_to_inside": "time in ",
}


def _late_sender_chain(facts: Facts) -> str:
    cause = next((words for name, words in _AT_FAULT.items() if facts.all(name)), "") + facts.cause
    title = f"{facts.waiters}{_in(facts)} for {facts.noun('late_rank')}"
    return title + (f", late because of {cause}" if cause else "")


def _be_earlier(facts: Facts) -> str:
    also = ", or let the receiver compute meanwhile (nonblocking receives)."
    if facts.all("traced_to_waiting"):
        return "Remove that waiting first (see the other findings), or send before it" + also
    if facts.all("traced_to_inside"):
        return (
            "Look at that call first: whether it works or waits, a machine tells (analyze --machine FILE). Or let the "
            "receiver compute meanwhile (nonblocking receives)."
        )
    if facts.all("traced_to_working"):
        return "Send the awaited messages first, or overlap the call (nonblocking sends completed later)" + also
    return "Shorten or split the work before this send, send earlier (before work that the receiver does not need)" + (
        also
    )


def _late_receiver(facts: Facts) -> str:
    title = f"{facts.waiters}{_in(facts)} until {facts.noun('late_rank')} "
    several = len(facts.all("late_rank")) > 1
    title += f"post{'' if several else 's'} the receive"
    posted = next(iter(facts.by_place("posted")), "")
    title += f" ({posted})" if posted else ""
    if facts.share("waiting") > MAINLY:
        return f"{title}, delayed by waiting in {facts.cause}"
    if facts.share("handling") > MAINLY:
        return f"{title}, {'taking' if facts.cause == OTHERS else 'busy in'} {facts.cause}"
    return title + (f", delayed in {facts.cause}" if facts.cause else "")


def _post_earlier(facts: Facts) -> str:
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
    return (
        "Post the receive earlier (MPI_Irecv before the work that delays it, completed afterwards), or let the sender "
        "continue meanwhile (MPI_Isend completed later). Reorder the receives where one waits for another."
    )


def _processor_queueing(facts: Facts) -> str:
    several = len(facts.all("processor_of")) > 1
    mostly = _mostly(facts)
    title = f"{facts.ranks} wait{facts.verb_s} in {facts.where or 'a communication call'} for the "
    title += f"processor{'s' if several else ''} of {facts.noun('processor_of')}, "
    spots = facts.by_place(mostly)
    at = max(spots, key=lambda place: spots[place], default="")
    if mostly == "computing":
        return title + ("which compute" if several else "which computes") + " meanwhile" + (f", in {at}" if at else "")
    if mostly == "handling":
        return title + f"which handle{'' if several else 's'} other messages" + (f", in {at}" if at else "")
    return title + f"which {'are' if several else 'is'} inside {at or 'a call'} without attending to the messages"


def _mostly(facts: Facts) -> str:
    return max(("computing", "handling", "idle"), key=facts.share)


_ATTEND = {
    "computing": "Let these processors progress their messages while they compute: smaller blocks of work with "
    "MPI_Test in between, completion of open requests before the long work, or asynchronous progress (a thread, "
    "a network that matches in hardware).",
    "handling": "Change the order: let these ranks handle first what others wait for, distribute these messages over "
    "more ranks or more time, or let the waiting ranks compute meanwhile (nonblocking calls completed later).",
    "idle": "Check why these processors do not attend: the binding (one core per rank), other load on their "
    "nodes, more ranks than cores, and the library's progress mode (polls that yield or sleep, a transport with "
    "acknowledgements such as TCP).",
}


def _attend(facts: Facts) -> str:
    mostly = _mostly(facts)
    if mostly == "handling" or not facts.all("ranks_without_core"):
        return _ATTEND[mostly]
    first = "Give each rank its own core first: ranks outnumber cores, and a rank without a core attends to nothing. "
    return first + _ATTEND[mostly]


def _load_imbalance(facts: Facts) -> str:
    title = f"{facts.ranks} compute{facts.verb_s} longer than the others" + (
        f" in {facts.cause}" if facts.cause else ""
    )
    return title + f": {time_text(facts.number('longest'))} at most, {time_text(facts.number('mean'))} on average"


def _balance(facts: Facts) -> str:
    if facts.all("median_of_others"):
        norm = time_text(facts.number("median_of_others"))
        these = "this rank" if len(facts.row["ranks"]) == 1 else "these ranks"
        return (
            f"Make {these} as fast as the others ({norm}): check what is slower there (node, binding, input) and what "
            f"runs there alone. That makes the program {gain_text(facts.number('gain_if_as_fast'))}. To give the "
            "excess to all ranks instead (weighted or finer partition, work stealing) makes it "
            f"{gain_text(facts.number('gain_if_shared'))}."
        )
    return (
        "Give these ranks less work (weighted or finer partition, work stealing), or check what is slower there: "
        "node, binding, input."
    )


def _thread_imbalance(facts: Facts) -> str:
    waits = time_text(facts.number("saved_if_equal"))
    late = [int(thread) for thread in facts.all("late_thread")]
    if late:
        who = f"thread{'s' if len(late) > 1 else ''} {ranks_text(late)} of {facts.number('threads'):.0f} come"
        who += f"{'' if len(late) > 1 else 's'} last"
    else:
        who = f"another one of {facts.number('threads'):.0f} threads comes last each time"
    title = f"the threads of {facts.ranks} wait {waits} on average in {facts.cause or 'a parallel region'}: {who}"
    return title + (f" to {facts.row['region']}" if facts.row["region"] else "")


def _balance_threads(facts: Facts) -> str:
    if facts.all("late_thread"):
        return (
            "Share the work of this region more evenly: another schedule (dynamic, guided, smaller chunks), another "
            "distribution of the data, tasks; or check what is slower on these threads: binding, memory that lies on "
            "another socket."
        )
    return (
        "Let threads take the work as they become free (schedule(dynamic) or guided, smaller chunks, tasks), or let "
        "them go on without this barrier (nowait) where the next work allows it."
    )


def _serial_part(facts: Facts) -> str:
    others = int(facts.number("threads")) - 1
    where = facts.cause or "code outside of parallel regions"
    title = f"{facts.ranks} compute{facts.verb_s} serially in {where} for {time_text(facts.number('serial'))}"
    return title + f": {count_text(others, 'other thread')} idle{'s' if others == 1 else ''} meanwhile"


def _share_with_threads(facts: Facts) -> str:
    return (
        f"Share this work among the {facts.number('threads'):.0f} threads (a parallel loop, tasks), or let it overlap "
        "with a parallel region (a task beside it). The gain supposes that all of it can be shared evenly (Amdahl)."
    )


def _many_small_messages(facts: Facts) -> str:
    messages = count_text(int(facts.number("messages")), "message")
    title = f"{messages} of {bytes_text(facts.number('mean_size'))} on average from {facts.where or 'one place'} on "
    return title + f"{facts.ranks}: the cost per message dominates"


def _pack(_: Facts) -> str:
    return (
        "Pack consecutive messages to the same rank into one (a buffer, or a derived datatype), or send fewer, larger "
        "blocks."
    )


def _collective_wait(facts: Facts) -> str:
    whom = facts.noun("last_rank") if facts.all("last_rank") else "whichever rank comes last"
    title = f"{facts.ranks} wait{facts.verb_s} in {facts.where or 'a collective operation'} for {whom}"
    if not facts.cause:
        return title
    if facts.all("passed_on_waiting"):
        return title + f", itself delayed by waiting in {facts.cause}"
    return title + f", delayed {'by work in' if facts.all('cause_works') else 'in'} {facts.cause}"


def _come_together(facts: Facts) -> str:
    rest = " Use fewer or nonblocking collectives to hide what remains."
    if facts.all("passed_on_waiting") and facts.cause != facts.row["region"]:
        return (
            f"Remove the waiting in {facts.cause} before it first (see the other findings): it causes this one." + rest
        )
    if facts.all("gain_if_shared"):
        shared = gain_text(facts.number("gain_if_shared"))
        return (
            "Make this rank as fast as the others before it: check what is slower there (node, binding, input) and "
            f"what runs there alone. That makes the program {gain_text(facts.number('gain_if_as_fast'))}. To share its "
            f"excess among all ranks makes it {shared}." + rest
        )
    if facts.all("last_rank"):
        return "Balance the work before it on this rank." + rest
    return "Balance the work between these operations, or look for system noise, which moves from rank to rank." + rest


NEIGHBOURS_ONLY = (
    "Synchronize only those who exchange data: post, start, complete and wait with the neighbours, or lock_all once, "
    "flush, and a notification each."
)
"""What a fence, which synchronizes everybody, can be replaced by."""


def _no_fence(facts: Facts) -> str:
    if facts.all("passed_on_waiting") and facts.cause != facts.row["region"]:
        return f"Remove the waiting in {facts.cause} before it first (see the other findings): it causes this one."
    balance = "on this rank" if facts.all("last_rank") else "between the fences"
    return f"Balance the work {balance}. {NEIGHBOURS_ONLY}"


def _for_late(facts: Facts, what: str) -> str:
    """Who waits where, for what of the late ranks."""
    cause = f", delayed in {facts.cause}" if facts.cause else ""
    return f"{facts.waiters}{_in(facts)} {what} {facts.noun('late_rank')}{cause}"


def _late_post(facts: Facts) -> str:
    return _for_late(facts, "for the post of")


def _post_window(_: Facts) -> str:
    return (
        "Post earlier: MPI_Win_post needs memory that may be overwritten, and no data, so it can stand before the work "
        "that delays it; a second buffer makes it independent of that work. Or let the origins work before they start."
    )


def _late_complete(facts: Facts) -> str:
    return _for_late(facts, "for the end of the access by")


def _complete_earlier(_: Facts) -> str:
    return (
        "Complete the access right after its last transfer, and work then; or let the targets work on other data and "
        "ask with MPI_Win_test before they wait."
    )


def _late_put(facts: Facts) -> str:
    return _for_late(facts, "for data that have yet to be put by")


def _put_earlier(_: Facts) -> str:
    return (
        "Put as soon as the data are there (the border before the interior), or wait later: compute what needs none of "
        "them first. Where the late rank has more to do than the others, balance that."
    )


def _lock_contention(facts: Facts) -> str:
    return _for_late(facts, "for locks held by")


def _hold_shorter(_: Facts) -> str:
    return (
        "Hold locks for less: compute before or after them, and lock per access. Reads and accumulates (atomic by "
        "element) need a shared lock only; with lock_all once and flushes nobody waits. Spread over several targets "
        "what all access."
    )


def _unattended_target(facts: Facts) -> str:
    meanwhile = f" in {facts.cause}" if facts.cause else ""
    target = facts.noun("late_rank")
    return f"{facts.waiters}{_in(facts)} for transfers to {target}, computing{meanwhile} meanwhile"


def _serve(_: Facts) -> str:
    return (
        "Let the targets progress while they compute: a network with remote memory access, a progress thread, or calls "
        "of the library between smaller blocks of work. Or complete the transfers later, after work of the origin."
    )


def _collective_cost(facts: Facts) -> str:
    count = int(facts.number("operations"))
    cost = f"{'costs' if count == 1 else 'cost'} {time_text(facts.number('mean_cost'))}{'' if count == 1 else ' each'}"
    title = (
        f"{count_text(count, 'operation')} in {facts.where or 'a collective'} {cost} beyond waiting for the last rank"
    )
    if facts.all("window_members"):
        return title
    for one in facts.by_place("both_in_one"):
        return f"{title}, handing out what {facts.cause} has just brought to their root, which one {one} does"
    if facts.number("back_to_back") > MAINLY:
        return title + ", mostly back to back"
    over = facts.number("cost_over_estimate")
    if over >= FAR_ABOVE:
        times = number_text(over, "x") if over < BEYOND_MODEL else f"more than {BEYOND_MODEL:.0f} ×"
        return f"{title}, {times} what the machine's values predict"
    if not _bound_known(facts):
        return title + f", {_each_size(facts)}"
    return title + f", {'latency' if _latency_bound(facts) else 'bandwidth'}-bound at {_each_size(facts)}"


def _each_size(facts: Facts) -> str:
    return f"{bytes_text(facts.number('mean_size'))} each"


def _bound_known(facts: Facts) -> bool:
    """Whether the replay or the machine tells what of an operation is latency; without data, all of it is."""
    known = ("share_of_rounds", "bandwidth_estimate")
    return facts.number("mean_size") == 0 or any(facts.all(name) for name in known)


def _latency_bound(facts: Facts) -> bool:
    if facts.all("share_of_rounds"):  # the replay knows
        return facts.number("share_of_bytes") <= facts.number("share_of_rounds")
    return facts.number("bandwidth_estimate") <= facts.number("latency_estimate")


def _cheaper_collective(facts: Facts) -> str:
    if facts.all("window_members"):
        return f"{NEIGHBOURS_ONLY} Put more between two fences, or into one window, where fences stay."
    for one in facts.by_place("both_in_one"):
        return f"Call {one} instead of both: it takes as many rounds as one of them, and all have the result."
    if facts.number("back_to_back") > MAINLY:
        return (
            "Fuse them: combine back-to-back operations into one call with all values in one buffer, "
            "unless the second needs the first one's result (then use a pipelined form of the algorithm)."
        ) + ("" if _latency_bound(facts) else " That saves rounds, not bytes, and bytes are most of the cost here.")
    if facts.number("cost_over_estimate") >= FAR_ABOVE:
        return (
            "It takes far longer than predicted: check the library's choice of algorithm, the binding "
            "and whether ranks share cores; then call it less often, or overlap it (the nonblocking form)."
        )
    if not _bound_known(facts):
        return (
            "Send less or call it less often (every k-th step), or overlap it with work (the nonblocking form, "
            "completed later). Whether latency or bytes cost most needs a machine (analyze --machine FILE)."
        )
    if _latency_bound(facts):
        return (
            "Call it less often (every k-th step, several values per call), or overlap it with work (the "
            "nonblocking form, completed later)."
        )
    return (
        "Send less (smaller types, only what changed), choose an algorithm for large messages (ring, reduce-scatter "
        "with allgather, segments), or split it by nodes."
    )


def _unattended(facts: Facts) -> str:
    meanwhile = f", computing{f' in {facts.cause}' if facts.cause else ''} meanwhile"
    return f"{facts.ranks} leave{facts.verb_s} transfers unattended until {facts.where or 'a later call'}{meanwhile}"


def _answer(_: Facts) -> str:
    return (
        "Let the library run while these ranks compute: MPI_Test between smaller blocks of work, asynchronous progress "
        "(a progress thread, a network that answers by itself), or messages below the eager limit."
    )


def _missed_overlap(facts: Facts) -> str:
    behind = f", and compute{facts.verb_s}{f' in {facts.cause}' if facts.cause else ''} only then"
    return f"{facts.ranks} wait{facts.verb_s} for transfers{_in(facts)}{behind}"


def _compute_first(facts: Facts) -> str:
    return (
        f"Compute before {facts.row['region'] or 'the call that waits'}: what needs none of the data under way can run "
        "between the start of the transfers and their completion. Where all of it needs them, `logpost whatif RUN "
        "--overlap` says into which pieces to part them."
    )


def _needless_barrier(facts: Facts) -> str:
    return f"{facts.ranks} wait{facts.verb_s}{_in(facts)}: the slowest rank of each step is another one"


def _without_barrier(facts: Facts) -> str:
    if facts.all("saved_by_its_waits"):
        return (
            "Leave this barrier out if no data depends on it: the ranks wait for each other behind it anyway, and it "
            "takes its own time before."
        )
    return (
        "Leave this barrier out if no data depends on it: then a step that is long on one rank and the next that is "
        "long on another even out."
    )


def _wavefront(facts: Facts) -> str:
    title = f"{facts.ranks} work one after the other, a pipeline {int(facts.number('depth'))} ranks deep"
    return title + (f"; they wait{_in(facts)}" if facts.where else "")


def _fill_pipeline(_: Facts) -> str:
    return (
        "Pass on smaller blocks, so that the next rank starts earlier, let sweeps from several sides or of several "
        "steps run at once, or choose a decomposition with fewer ranks in a row."
    )


def _round_trips(facts: Facts) -> str:
    title = f"{count_text(int(facts.number('round_trips')), 'round trip')} of questions and answers, "
    title += f"{facts.number('in_a_row'):.0f} in a row, {time_text(facts.number('mean_round_trip'))} each"
    return title + f", between {facts.ranks}" + _in(facts)


def _ask_once(_: Facts) -> str:
    return (
        "Ask for everything at once (one message with all questions, one with all answers), or keep several questions "
        "under way (nonblocking calls), so that their latencies overlap."
    )


def _strided_datatype(facts: Facts) -> str:
    messages = count_text(int(facts.number("messages")), "message")
    title = f"{messages} of strided data from {facts.where or 'one place'} on {facts.ranks}: packing takes "
    return title + f"{time_text(facts.number('middleware_per_message'))} each"


def _lay_out(_: Facts) -> str:
    return (
        "Send contiguous data: another layout or decomposition, a buffer that is packed by hand (or in parallel), or "
        "fewer, larger blocks in the datatype."
    )


def _start_up_skew(facts: Facts) -> str:
    apart = time_text(facts.number("start_up_ends_apart"))
    late, s = facts.noun("late_rank"), "s" if len(facts.all("late_rank")) == 1 else ""
    title = f"{facts.waiters}{_in(facts)} for {late}, which leave{s} {facts.cause or 'start-up'} late: "
    return title + f"ranks begin the program up to {apart} apart"


def _start_together(_: Facts) -> str:
    return (
        "Look at the start of the job, not at this code: slow nodes, loading of libraries and input, the launcher. To "
        "see the program without it, put a barrier behind the start-up, or report --from a later time."
    )


def _shared_cores(facts: Facts) -> str:
    at_once, ranks = (int(facts.number(name)) for name in ("run_at_once", "ranks_of_a_node"))
    stalls = count_text(int(facts.number("stalls")), "call")
    return (
        f"no more than {at_once} of {ranks} ranks of a node run at once: {stalls} go on for "
        f"{time_text(facts.number('median_stall'))} when nothing is missing"
        + (f", most{_in(facts)}" if facts.where else "")
    )


def _bind(_: Facts) -> str:
    return (
        "Give each rank a core of its own: fewer ranks on a node, or more cores to the job, and check the binding (the "
        "launcher's report of it) and the limits of containers. Then record it again: other times in calls will change."
    )


TEMPLATES: Mapping[str, tuple[Callable[[Facts], str], Callable[[Facts], str]]] = {
    "hot_receiver": (_hot_receiver, _cool_receiver),
    "hot_sender": (_hot_sender, _cool_sender),
    "hot_link": (_hot_link, _route_apart),
    "late_sender_chain": (_late_sender_chain, _be_earlier),
    "late_receiver": (_late_receiver, _post_earlier),
    "processor_queueing": (_processor_queueing, _attend),
    "load_imbalance": (_load_imbalance, _balance),
    "thread_imbalance": (_thread_imbalance, _balance_threads),
    "serial_part": (_serial_part, _share_with_threads),
    "many_small_messages": (_many_small_messages, _pack),
    "collective_wait": (_collective_wait, _come_together),
    "collective_cost": (_collective_cost, _cheaper_collective),
    "unattended": (_unattended, _answer),
    "missed_overlap": (_missed_overlap, _compute_first),
    "needless_barrier": (_needless_barrier, _without_barrier),
    "wavefront": (_wavefront, _fill_pipeline),
    "round_trips": (_round_trips, _ask_once),
    "strided_datatype": (_strided_datatype, _lay_out),
    "start_up_skew": (_start_up_skew, _start_together),
    "wait_at_fence": (_collective_wait, _no_fence),
    "late_post": (_late_post, _post_window),
    "late_complete": (_late_complete, _complete_earlier),
    "late_put": (_late_put, _put_earlier),
    "lock_contention": (_lock_contention, _hold_shorter),
    "unattended_target": (_unattended_target, _serve),
    "shared_cores": (_shared_cores, _bind),
}
"""Kind to its title and its advice."""
