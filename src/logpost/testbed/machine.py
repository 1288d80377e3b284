"""From a machine file to the testbed's neutral platform: topology, routes, LogGP values, placement of ranks.

Rules for what a machine file leaves open; each that applies is listed in the platform's `assumptions`:

1. L is the latency over the mean distance of two different nodes, h̄ hops: over h hops it is L + per_hop (h − h̄), and
   per_hop is 0 when the file gives none.
2. A link without link_bandwidth is as fast as nic.link_rate, else as a long message: 1/G of the last range. The NIC
   injects at nic.injection_rate, else at 1/G.
3. Without a clock a flop costs 1 ns, else a cycle of the processor.
4. The eager limit is that of other_node; a machine without one sends everything eagerly. The receiving NIC holds
   nic.queue bytes, or any amount when the file does not say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from logpost.collectors.testbed.platform import Channel, NextHop, Platform, Range
from logpost.errors import InputError
from logpost.machines.localities import LOCALITIES
from logpost.machines.parameters import UNLIMITED, ReplayParameters
from logpost.machines.parameters.loggp import replay_parameters
from logpost.machines.schema import Machine
from logpost.machines.topologies import Cartesian, Dragonfly, Topology
from logpost.machines.topologies.mapping import Mapping

S_PER_PS = 1e-12
VERY_FAST = 1e15
"""Bytes per second of a channel that never limits."""


@dataclass(frozen=True)
class Choices:
    """What a run adds to the machine file. `sharing`: "split-duplex" or "shared" links. Bandwidths in B/s.

    `bisection` is the bandwidth across the middle of the longest dimension, both directions together, as SENS has it:
    the links of that dimension share it, all others keep theirs.
    """

    sharing: str = "split-duplex"
    bisection: float | None = None
    speed: float | None = None
    capacity: int | None = None
    unlimited: bool = False
    poll_s: float = 1e-7


def platform_of(machine: Machine, nodes: Sequence[int], choices: Choices | None = None) -> Platform:
    """The platform on which rank r runs on node `nodes[r]` of the machine.

    Raises InputError naming what the machine file lacks, or a rank without a node.
    """
    made = choices or Choices()
    topology = machine.topology
    if topology is None:
        raise InputError(
            f"machine {machine.name} has no [topology], and the testbed simulates one; "
            "pass --set topology=KIND:NUMBERS (e.g. mesh:4x4), or add it to a copy of the file"
        )
    highest = max(nodes, default=-1)
    if highest >= topology.n_nodes:
        raise InputError(
            f"rank {list(nodes).index(highest)} needs node {highest}, but {machine.name} is a {topology.describe()} of "
            f"{topology.n_nodes} nodes; use fewer ranks, more ranks per node, or larger dimensions (--set dims=...)"
        )
    if made.sharing not in ("split-duplex", "shared"):
        raise InputError(f"sharing = {made.sharing} is not known; use split-duplex or shared")
    values, notes = _loggp(machine, alone=len(set(nodes)) == len(nodes))
    remote = _ranges(values, "other_node")
    bandwidth, injection = _bandwidths(machine, remote, notes)
    remote = [_with_gap(r, min(bandwidth, injection)) if not _has_G(machine) else r for r in remote]
    clock = machine.clock_hz
    per_hop = topology.per_hop.base(clock) * S_PER_PS if topology.per_hop is not None else 0.0
    if topology.per_hop is None:
        notes.append("per_hop is not given: latency does not depend on the distance")
    speed = made.speed
    if speed is None:
        speed = clock if clock is not None else 1e9
        notes.append("a flop takes " + ("a cycle of the processor" if clock is not None else "1 ns: no clock is given"))
    capacity = made.capacity
    if capacity is None and machine.nic.queue is not None and not made.unlimited:
        capacity = round(machine.nic.queue.base())
    eager = values.eager_limit("other_node")
    if eager is None:
        notes.append("no eager limit is given: every message is sent without waiting for its receive")
    local = _ranges(values, "same_node")
    slowest = max((r.G_s_per_byte for r in local), default=0.0)
    return Platform(
        name=machine.name,
        channels=_channels(topology, bandwidth, per_hop, made, clock),
        next_hop=next_hops(topology),
        host_of_rank=tuple(int(node) for node in nodes),
        remote=tuple(remote),
        local=tuple(local),
        injection=injection,
        loopback=1 / slowest if slowest > 0 else VERY_FAST,
        speed=speed,
        per_hop_s=per_hop,
        mean_hops=topology.mean_hops(include_self=False) if topology.n_nodes > 1 else 0.0,
        eager_limit=eager,
        capacity=capacity,
        header_bytes=round(topology.header.base()) if topology.header is not None else 0,
        poll_s=made.poll_s,
        assumptions=tuple(notes),
    )


def place_ranks(machine: Machine, ranks: int, mapping: Mapping | None) -> list[int]:
    """The node of each rank: by the mapping given, else the machine file's, else one rank per node."""
    chosen = mapping or machine.mapping or Mapping()
    return [int(node) for node in chosen.node_of(np.arange(ranks))]


def next_hops(topology: Topology) -> NextHop:
    """The table (vertices, nodes) of the vertex that follows v on the topology's route to node d.

    Raises InputError when the routes are no such table: when two of them leave a vertex differently for one node.
    """
    if isinstance(topology, Cartesian):
        return _cartesian_next_hops(topology)
    table: NextHop = np.full((topology.n_vertices, topology.n_nodes), -1, dtype=np.int32)
    for a in range(topology.n_nodes):
        for b in range(topology.n_nodes):
            for here, there in pairwise(topology.route(a, b)):
                if table[here, b] not in (-1, there):
                    raise InputError(f"routes of this {topology.kind} to node {b} part at vertex {here}")
                table[here, b] = there
    return table


def _cartesian_next_hops(topology: Cartesian) -> NextHop:
    """Dimension order for all pairs at once, as `Cartesian.route` has it (a test compares them)."""
    n = topology.n_nodes
    place = topology.coordinates(np.arange(n))
    table: NextHop = np.repeat(np.arange(n, dtype=np.int32)[:, None], n, axis=1)
    settled = np.zeros((n, n), dtype=bool)
    stride = 1
    for i, (size, wrap) in enumerate(zip(topology.shape(), topology.wraps(), strict=True)):
        here, goal = place[:, None, i], place[None, :, i]
        ahead = (goal - here) % size
        if not wrap:
            step = np.where(goal >= here, 1, -1)
        else:
            step = np.where(ahead <= size - ahead, 1, -1) if topology.both_ways() else np.ones_like(ahead)
        moved = np.arange(n)[:, None] + ((here + step) % size - here) * stride
        moves = ~settled & (here != goal)
        table[moves] = moved[moves]
        settled |= here != goal
        stride *= size
    return table


def _loggp(machine: Machine, *, alone: bool) -> tuple[ReplayParameters, list[str]]:
    """The values, and what was assumed for them; `alone`: no two ranks share a node."""
    values = replay_parameters(machine, "LogGP" if _has_G(machine) else "LogP")
    near = re.compile(r"\b(self|same_socket|same_node)\b" if alone else r"\bself\b")
    return values, [note for note in values.assumptions if not near.search(note)]


def _has_G(machine: Machine) -> bool:
    table = machine.loggp.of("other_node")
    return table is not None and any(r.G is not None for r in table.range)


def _ranges(values: ReplayParameters, locality: str) -> list[Range]:
    c = LOCALITIES.index(locality)
    rows = range(int(values.class_start[c]), int(values.class_start[c + 1]))
    return [
        Range(
            up_to_bytes=None if int(values.max_bytes[i]) == UNLIMITED else int(values.max_bytes[i]),
            L_s=float(values.L_ps[i]) * S_PER_PS,
            o_s_s=float(values.o_s_ps[i]) * S_PER_PS,
            o_r_s=float(values.o_r_ps[i]) * S_PER_PS,
            o_s_s_per_byte=float(values.o_s_ps_per_byte[i]) * S_PER_PS,
            o_r_s_per_byte=float(values.o_r_ps_per_byte[i]) * S_PER_PS,
            g_s=float(values.g_ps[i]) * S_PER_PS,
            G_s_per_byte=float(values.G_ps_per_byte[i]) * S_PER_PS,
        )
        for i in rows
    ]


def _with_gap(r: Range, bandwidth: float) -> Range:
    return replace(r, G_s_per_byte=1 / bandwidth)


def _bandwidths(machine: Machine, remote: Sequence[Range], notes: list[str]) -> tuple[float, float]:
    """Bandwidth of a link and of injection, B/s."""
    clock = machine.clock_hz
    topology = machine.topology
    assert topology is not None
    rate = 1 / remote[-1].G_s_per_byte if remote[-1].G_s_per_byte > 0 else math.inf
    given = topology.link_bandwidth or machine.nic.link_rate
    link = given.base(clock) if given is not None else rate
    if math.isinf(link):
        raise InputError(
            f"machine {machine.name} gives neither G of long messages nor topology.link_bandwidth, and the testbed "
            "needs the bandwidth of a link; pass --set bandwidth=... or add it to a copy of the file"
        )
    if given is None:
        notes.append("link_bandwidth is not given: a link carries a byte in G")
    elif machine.nic.link_rate is given:
        notes.append("link_bandwidth is not given: nic.link_rate holds")
    if math.isinf(rate):
        notes.append("G is not given: a byte costs what it costs on the link")
    if link < 0.99 * rate < math.inf:
        notes.append(
            f"links of {link:.4g} B/s are slower than 1/G = {rate:.4g} B/s: long messages take the links' time"
        )
    injection = machine.nic.injection_rate
    return link, injection.base(clock) if injection is not None else min(rate, VERY_FAST)


def _channels(
    topology: Topology, bandwidth: float, per_hop_s: float, made: Choices, clock: float | None
) -> tuple[Channel, ...]:
    across = _bisection_dimension(topology, made)
    directed = set(topology.links())
    found = []
    for a, b in sorted(directed):
        both = (b, a) in directed
        if both and b < a:
            continue
        speed, latency = bandwidth, per_hop_s
        if across is not None and made.bisection is not None:
            assert isinstance(topology, Cartesian)
            one, two = topology.coordinates(a), topology.coordinates(b)
            if one[across] != two[across]:
                speed = made.bisection / topology.bisection_channels()
        if isinstance(topology, Dragonfly) and _is_global(topology, a, b):
            speed = topology.global_bandwidth.base(clock) if topology.global_bandwidth is not None else speed
            latency = topology.global_latency.base(clock) * S_PER_PS if topology.global_latency else latency
        found.append(Channel(a, b, speed, latency, shared=made.sharing == "shared" and both, both_ways=both))
    return tuple(found)


def _is_global(topology: Dragonfly, a: int, b: int) -> bool:
    routers = [vertex - topology.n_nodes for vertex in (a, b)]
    return min(routers) >= 0 and routers[0] // topology.routers != routers[1] // topology.routers


def _bisection_dimension(topology: Topology, made: Choices) -> int | None:
    if made.bisection is None:
        return None
    if not isinstance(topology, Cartesian):
        raise InputError(f"a bisection can be set on grids, not on a {topology.kind}; use --set bandwidth=...")
    return max(range(len(topology.shape())), key=lambda i: (topology.shape()[i], topology.wraps()[i]))
