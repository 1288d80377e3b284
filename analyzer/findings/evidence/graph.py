"""The program as a graph of what waits for what: communication calls in order, and for whom each of them waits.

Nodes are calls. A call cannot end before its own work is done, nor before what it waits for has got there:

    enter(c) = leave(call before c) + code between the two
    leave(c) = max(enter(c) + work(c), event(d) + lag(d) for each d it waits for)

with event(d) the enter of a call of another rank: of the send, of the one that posts or completes the receive where a
message has to ask first, of the other members of a collective operation. Lags are the message's own parts; the last one
to arrive gets what was measured, so that the graph repeats the run exactly and a hypothesis starts from there
(`what_if`). Queries that poll for a message (Test, Iprobe and Probe, in a loop or alone) wait for it as a receive does.

Nodes are as many as `MOST_CALLS` at most: those of the program's first part. Times in ps.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Literal
from weakref import WeakKeyDictionary

import polars as pl

from logpost.analyzer.categories import WAITING
from logpost.analyzer.findings.evidence.machine_values import value_ps
from logpost.analyzer.findings.evidence.tables import Evidence

MOST_CALLS = 60_000
"""Calls looked at: about a second of work. A program repeats itself long before that."""
POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Probe", "MPI_Mprobe")
"""Beginnings of the names of queries for messages."""
TRANSPORT = (
    "send_overhead",
    "middleware",
    "endpoint_contention",
    "network_contention",
    "latency",
    "serialization",
    "recv_overhead",
)
"""What a message takes once both ends are ready."""
SPIN_PS = 10_000_000
"""Polls closer than this wait in between, where the machine's latency is not known: nobody shares work so finely."""

FITS = 0.9
"""What takes at least this part of its modelled time may have happened so: the model is not exact to a tenth."""

Reason = Literal["send", "post", "attend", "begin", "member"]
"""For what a call waits: a send's begin; the receive's post; the receiver's or the sender's call that attends to an
open handshake; a member's enter."""


@dataclass
class Wait:
    """A call waits for the enter of another one, and then for `lag`; `message` is a row of the messages, or -1."""

    call: int
    lag: int
    reason: Reason
    message: int = -1


@dataclass
class Node:
    """A call."""

    location: int
    enter: int
    leave: int
    callpath: int
    work: int
    """what it does itself"""
    gap: int
    """code before it since the call before"""
    before: int
    """the call before; -1: none"""
    middleware: int = 0
    """part of the work: packing and unpacking"""
    waits: list[Wait] = field(default_factory=list)
    collective: int = -1
    """operation, where it is one"""
    polls: bool = False

    @property
    def length(self) -> int:
        return self.leave - self.enter


@dataclass
class Message:
    """What of a message matters here."""

    sender: int
    receiver: int
    bytes: int
    rendezvous: bool
    send_call: int
    complete_call: int
    post_call: int
    recv_call: int
    parts: dict[str, int]


_GRAPHS: WeakKeyDictionary[Evidence, Graph] = WeakKeyDictionary()
_BUILDING = Lock()


def graph_of(evidence: Evidence) -> Graph:
    """The graph of a run, built once."""
    with _BUILDING:
        if evidence not in _GRAPHS:
            _GRAPHS[evidence] = Graph(evidence)
        return _GRAPHS[evidence]


class Graph:
    """Nodes by the number of their call, in the order in which a pass goes through them."""

    def __init__(self, evidence: Evidence) -> None:
        self.nodes = _nodes(evidence)
        self.messages = _messages(evidence, self.nodes)
        self.operations = _collectives(evidence, self.nodes)
        self.received: dict[int, list[int]] = defaultdict(list)
        """Call to the messages whose receive it completes"""
        self.sent: dict[int, list[int]] = defaultdict(list)
        """Call to the messages whose send it begins"""
        for number, message in enumerate(self.messages):
            self.received[message.recv_call].append(number)
            self.sent[message.send_call].append(number)
        _wait_for_messages(self)
        _wait_for_members(self)
        _see_through_polls(evidence, self)
        _repeat_the_run(self)
        self.order = _order(self.nodes)
        self.end_ps = max((node.leave for node in self.nodes.values()), default=0)
        self.begin_ps = min((node.enter - node.gap for node in self.nodes.values()), default=0)
        self.last = {node.location: call for call, node in self.nodes.items()}
        self.after = {node.before: call for call, node in self.nodes.items() if node.before >= 0}
        """Call to the next one of its location"""

    @cached_property
    def measured(self) -> dict[tuple[int, int], float]:
        """(location, call path) to the time in calls there that is no work."""
        waited: dict[tuple[int, int], float] = defaultdict(float)
        for node in self.nodes.values():
            waited[node.location, node.callpath] += max(0, node.length - node.work)
        return waited

    @property
    def length_ps(self) -> int:
        """From the first call's gap to the last call's end."""
        return self.end_ps - self.begin_ps

    def binding(self, node: Node) -> Wait | None:
        """What a call waits for last; None where its own work lasts longer."""
        if node.work >= node.length or not node.waits:
            return None
        return max(node.waits, key=lambda wait: self.nodes[wait.call].enter + wait.lag)


def _nodes(evidence: Evidence) -> dict[int, Node]:
    scope = evidence.tables["locations"].filter("accounted").select("location", "begin_ps", "end_ps")
    waiting = pl.sum_horizontal(
        [pl.col(f"{category}_ps") for category in (*WAITING, "latency", "serialization", "residual")]
    )
    some = (
        evidence.tables["calls"]
        .join(scope, on="location")
        .filter(pl.col("enter_ps") >= pl.col("begin_ps"), pl.col("leave_ps") <= pl.col("end_ps"))
        .select("call", "location", "enter_ps", "leave_ps", "callpath", "begin_ps", "middleware_ps", waiting=waiting)
    )
    rows = some.bottom_k(MOST_CALLS, by="enter_ps").collect().sort("call")
    nodes: dict[int, Node] = {}
    before: dict[int, int] = {}
    for call, location, enter, leave, callpath, begin, middleware, waits in rows.iter_rows():
        previous = before.get(location, -1)
        gap = enter - (nodes[previous].leave if previous >= 0 else begin)
        nodes[call] = Node(location, enter, leave, callpath, max(0, leave - enter - waits), gap, previous, middleware)
        before[location] = call
    return nodes


def _messages(evidence: Evidence, nodes: dict[int, Node]) -> list[Message]:
    until = max((node.leave for node in nodes.values()), default=0)
    rows = (
        evidence.tables["messages"]
        .filter(pl.col("send_enter_ps") <= until, pl.col("send_location") != pl.col("recv_location"))
        .select(
            "send_location",
            "recv_location",
            "bytes",
            pl.col("protocol").cast(pl.String) == "rendezvous",
            "send_call",
            "send_complete_call",
            "recv_post_call",
            "recv_call",
            *(f"{part}_ps" for part in (*TRANSPORT, "late_receiver", "processor_queueing")),
        )
        .collect()
    )
    names = (*TRANSPORT, "late_receiver", "processor_queueing")
    found = []
    for row in rows.iter_rows():
        if row[4] in nodes and row[7] in nodes:
            complete = row[5] if row[5] in nodes else row[4]
            post = row[6] if row[6] in nodes else row[7]
            parts = dict(zip(names, row[8:], strict=True))
            found.append(Message(row[0], row[1], row[2], row[3], row[4], complete, post, row[7], parts))
    return found


def _collectives(evidence: Evidence, nodes: dict[int, Node]) -> dict[int, list[int]]:
    """Operation to the calls of its members."""
    rows = (
        evidence.tables["collectives"]
        .filter(pl.col("instance") >= 0)
        .select("instance", "call", "wait_ps")
        .sort("instance", "call")
        .collect()
    )
    found: dict[int, list[int]] = defaultdict(list)
    for instance, call, _ in rows.iter_rows():
        if call in nodes:
            found[instance].append(call)
            nodes[call].collective = instance
    return found


def _wait_for_messages(graph: Graph) -> None:
    for number, m in enumerate(graph.messages):
        transport = sum(m.parts[part] for part in TRANSPORT)
        _wait(graph, m.recv_call, m.send_call, transport, "send", number)
        if not m.rendezvous:
            continue
        _wait(graph, m.complete_call, m.send_call, transport, "send", number)
        answered = transport - m.parts["latency"] // 3  # the request has come meanwhile
        moved = m.parts["serialization"] + m.parts["latency"] // 3
        for call in {m.recv_call, m.complete_call}:
            _wait(graph, call, m.post_call, answered, "post", number)
            if m.recv_call != m.post_call and _fits(graph, call, m.recv_call, answered):
                _wait(graph, call, m.recv_call, answered, "attend", number)
            if m.complete_call != m.send_call and _fits(graph, call, m.complete_call, moved):
                _wait(graph, call, m.complete_call, moved, "begin", number)


def _wait(graph: Graph, call: int, event: int, lag: int, reason: Reason, message: int) -> None:
    if event != call or reason in ("attend", "begin"):
        graph.nodes[call].waits.append(Wait(event, lag, reason, message))


def _fits(graph: Graph, call: int, event: int, lag: int) -> bool:
    """Whether there was time for it: else the handshake was answered before."""
    return graph.nodes[event].enter + FITS * lag <= graph.nodes[call].leave


def _wait_for_members(graph: Graph) -> None:
    """A member that waits does so for the last one that it needs: the one that enters when its wait ends."""
    for calls in graph.operations.values():
        entered = {call: graph.nodes[call].enter for call in calls}
        last = max(entered.values())
        for call in calls:
            node = graph.nodes[call]
            if len(calls) > 1 and node.leave >= last:
                node.waits.extend(Wait(other, 0, "member") for other in calls if other != call)


def polling_places(evidence: Evidence) -> set[int]:
    """Call paths of queries for messages."""
    return {callpath for callpath in range(evidence.callpaths.height) if evidence.region(callpath).startswith(POLLS)}


def _see_through_polls(evidence: Evidence, graph: Graph) -> None:
    """Queries in a row wait for the message that the last of them, or the receive behind them, takes."""
    polling = polling_places(evidence)
    if not polling:
        return
    nodes = graph.nodes
    after = {node.before: call for call, node in nodes.items() if node.before >= 0}
    locality = "other_node" if evidence.manifest.hosts.nodes > 1 else "same_node"
    spin = value_ps(evidence.manifest.machine, locality, "L", 0) or SPIN_PS
    for call, node in nodes.items():
        if node.callpath not in polling:
            continue
        following = after.get(call, -1)
        if following >= 0 and nodes[following].callpath == node.callpath and nodes[following].gap <= spin:
            # Not the last of them: it and the code up to the next are waiting.
            node.polls = nodes[following].polls = True
            node.work = nodes[following].gap = 0
            node.waits = []
            continue
        taken = graph.received.get(call) or (graph.received.get(following, []) if following >= 0 else [])
        blocking = evidence.region(node.callpath) in ("MPI_Probe", "MPI_Mprobe")
        if taken and (node.polls or blocking):
            node.polls = True
            node.work = 0
            transport = {m: sum(graph.messages[m].parts[part] for part in TRANSPORT) for m in taken}
            node.waits = [Wait(graph.messages[m].send_call, transport[m], "send", m) for m in taken]


def _repeat_the_run(graph: Graph) -> None:
    """What arrives last gets the measured lag; the others at most that; a call nobody explains works all the time."""
    nodes = graph.nodes
    for node in nodes.values():
        for wait in node.waits:
            # Nothing arrives later than it did.
            wait.lag = max(0, min(wait.lag, node.leave - nodes[wait.call].enter))
        node.waits = [wait for wait in node.waits if nodes[wait.call].enter <= node.leave]
        if node.work >= node.length:
            continue
        if not node.waits:
            node.work = 0 if node.polls else node.length
            continue
        last = max(node.waits, key=lambda wait: nodes[wait.call].enter + wait.lag)
        if nodes[last.call].enter + last.lag <= node.enter + node.work and node.collective < 0 and not node.polls:
            node.work = node.length
            continue
        last.lag = node.leave - nodes[last.call].enter
        if node.collective >= 0:
            for wait in node.waits:
                wait.lag = min(last.lag, node.leave - nodes[wait.call].enter)


def _order(nodes: dict[int, Node]) -> list[tuple[int, bool]]:
    """(call, whether it is left) in the order in which this happened; what happens at one instant, causes first."""
    at: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for call, node in nodes.items():
        at[node.enter].append((call, False))
        at[node.leave].append((call, True))
    done: set[tuple[int, bool]] = set()
    order: list[tuple[int, bool]] = []

    def ready(event: tuple[int, bool]) -> bool:
        node = nodes[event[0]]
        if not event[1]:
            return node.before < 0 or (node.before, True) in done
        return (event[0], False) in done and all((wait.call, False) in done for wait in node.waits)

    for time in sorted(at):
        open_ = sorted(at[time])
        while open_:
            some = [event for event in open_ if ready(event)]
            if not some:  # clocks that contradict each other: what waits is let go
                call, left = open_[0]
                nodes[call].waits = [wait for wait in nodes[call].waits if (wait.call, False) in done]
                some = [event for event in open_ if ready(event)] or open_[:1]
                del left
            done.update(some)
            order.extend(some)
            open_ = [event for event in open_ if event not in done]
    return order
