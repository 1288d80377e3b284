"""Describe a simulated machine in neutral terms, and write it for SimGrid and for the machine layer.

The network is a graph of vertices: the nodes 0 .. n-1, then switches. Each directed channel between two vertices has a
bandwidth; a route follows `next_hop` from vertex to vertex. Between a node and the network is its interface (NIC),
with a channel in and one out, so a message from node a to node b passes

    out(a), the channels of the route a -> b, in(b)        or, within a node,        loop(a)

Time of an uncontended message of B bytes over h hops, from its leaving the sender's processor to its arrival:

    L(B) + per_hop (h - mean_hops) + max(B - 1, 0) G(B)

L, G by size from `remote` (`local` within a node). The channels carry all B bytes and are shared equally by the flows
that cross them (max-min); a channel's time for B bytes is part of this time, the rest is latency. Times are
seconds, bandwidths bytes per second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

NextHop = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Range:
    """LogGP values of messages up to `up_to_bytes` (None: of any size); seconds and seconds per byte."""

    up_to_bytes: int | None
    L_s: float
    o_s_s: float
    o_r_s: float
    o_s_s_per_byte: float = 0.0
    o_r_s_per_byte: float = 0.0
    g_s: float = 0.0
    G_s_per_byte: float = 0.0


@dataclass(frozen=True)
class Channel:
    """A link between two vertices. `shared`: one capacity for both directions; else one for each that is there."""

    a: int
    b: int
    bandwidth: float
    latency_s: float = 0.0
    shared: bool = False
    both_ways: bool = True


@dataclass(frozen=True)
class Platform:
    """Everything the simulation needs to know about a machine; see the module's text.

    next_hop (vertices, nodes): the vertex after v on the way to node d. `host_of_rank[r]` is the node of rank r.
    eager_limit: the largest message that does not wait for its receiver; None: every message.
    capacity: bytes that a node's NIC holds for its processor; None: without limit. Each message takes
    `header_bytes` more than its data there.
    """

    name: str
    channels: tuple[Channel, ...]
    next_hop: NextHop
    host_of_rank: tuple[int, ...]
    remote: tuple[Range, ...]
    local: tuple[Range, ...]
    injection: float
    loopback: float
    speed: float
    per_hop_s: float = 0.0
    mean_hops: float = 0.0
    eager_limit: int | None = None
    capacity: int | None = None
    header_bytes: int = 0
    poll_s: float = 1e-7
    assumptions: tuple[str, ...] = field(default=())

    @property
    def ranks(self) -> int:
        """How many ranks run."""
        return len(self.host_of_rank)

    @property
    def hosts(self) -> list[int]:
        """The nodes that hold a rank, in order of number."""
        return sorted(set(self.host_of_rank))

    def path(self, a: int, b: int) -> list[int]:
        """Vertices from node a to node b, both included."""
        found = [a]
        while found[-1] != b:
            found.append(int(self.next_hop[found[-1], b]))
        return found


NOMINAL_LATENCY_S = 1e-6
"""Latency that every route has in the XML, all on the NIC's outgoing channel. SimGrid weighs flows by the latency of
their routes; equal ones give equal shares. The machine layer replaces it, message by message, by the true latency."""


def to_xml(platform: Platform) -> str:
    """The platform in SimGrid's XML: the hosts that hold ranks, all channels, and a route for each pair of hosts."""
    return "".join(_xml(platform))


def _xml(p: Platform) -> Iterator[str]:
    yield '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    yield f"<!-- {p.name.replace('--', '- -')}, as simulated by logpost testbed.\n"
    yield "     Routes are those of the machine's topology. The latency attributes are nominal, equal for every\n"
    yield "     route, so that flows share a link equally; the property `latency_s` of a link and testbed.txt have\n"
    yield "     the true ones. -->\n"
    yield '<platform version="4.1">\n<zone id="machine" routing="Full">\n'
    per_host = max(p.host_of_rank.count(h) for h in p.hosts)
    for host in p.hosts:
        yield f'<host id="n{host}" speed="{p.speed!r}f" core="{per_host}"/>\n'
        yield _link(f"out{host}", p.injection, NOMINAL_LATENCY_S, None)
        yield _link(f"in{host}", p.injection, 0.0, None)
        yield _link(f"loop{host}", p.loopback, NOMINAL_LATENCY_S, None)
    names: dict[tuple[int, int], str] = {}
    for c in p.channels:
        name = f"{c.a}-{c.b}"
        names[c.a, c.b] = name
        if not c.both_ways:
            yield _link(name, c.bandwidth, 0.0, c.latency_s)
        elif c.shared:
            names[c.b, c.a] = name
            yield _link(name, c.bandwidth, 0.0, c.latency_s)
        else:  # SimGrid's split-duplex link: one channel each way
            names[c.b, c.a] = f"{c.b}-{c.a}"
            yield _link(name, c.bandwidth, 0.0, c.latency_s)
            yield _link(names[c.b, c.a], c.bandwidth, 0.0, c.latency_s)
    text = {name: f'<link_ctn id="{name}"/>' for name in names.values()}
    for a in p.hosts:
        yield f'<route src="n{a}" dst="n{a}" symmetrical="NO"><link_ctn id="loop{a}"/></route>\n'
        for b in p.hosts:
            if a != b:
                middle = "".join(text[names[step]] for step in pairwise(p.path(a, b)))
                yield (
                    f'<route src="n{a}" dst="n{b}" symmetrical="NO"><link_ctn id="out{a}"/>{middle}'
                    f'<link_ctn id="in{b}"/></route>\n'
                )
    yield "</zone>\n</platform>\n"


def _link(name: str, bandwidth: float, nominal_s: float, true_s: float | None) -> str:
    head = f'<link id={quoteattr(name)} bandwidth="{bandwidth!r}Bps" latency="{nominal_s!r}s" sharing_policy="SHARED"'
    return f"{head}/>\n" if true_s is None else f'{head}><prop id="latency_s" value="{true_s!r}"/></link>\n'


def to_settings(platform: Platform) -> str:
    """`testbed.txt`, which the machine layer reads: a key and its values per line, times in seconds."""
    p = platform
    lines = [
        f"per_hop {p.per_hop_s!r}",
        f"mean_hops {p.mean_hops!r}",
        f"injection {p.injection!r}",
        f"eager {-1 if p.eager_limit is None else p.eager_limit}",
        f"capacity {-1 if p.capacity is None else p.capacity}",
        f"header {p.header_bytes}",
    ]
    for kind, ranges in (("remote", p.remote), ("local", p.local)):
        for r in ranges:
            limit = 2**62 if r.up_to_bytes is None else r.up_to_bytes
            values = (r.L_s, r.o_s_s, r.o_s_s_per_byte, r.o_r_s, r.o_r_s_per_byte, r.g_s, r.G_s_per_byte)
            lines.append(f"{kind} {limit} " + " ".join(repr(float(v)) for v in values))
    return "\n".join(lines) + "\n"


def to_hostfile(platform: Platform) -> str:
    """A line per rank: the host it runs on."""
    return "".join(f"n{host}\n" for host in platform.host_of_rank)
