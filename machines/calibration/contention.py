"""Link bandwidth and latency per hop of a network whose topology is known.

    T(h) = T0 + per_hop h              half round trips of a small message, over the cables h between the hosts
    link_bandwidth = k S / t_n         n pairs stream messages of S bytes across the middle, and k of them share the
                                       busiest link; t_n: time per message of the slowest pair

k S / t_n is the bandwidth only where the link was full: where the pairs are slower together than one alone. Else it is
the least that a link has, which is a note and no value. One rank of each host takes part, so that pairs share links and
no adapter. Half of the hosts sends to the other half; halves are those between which most messages share a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from logpost.machines.calibration.estimate import Estimate, combined, ratio
from logpost.machines.calibration.locality import estimate
from logpost.machines.calibration.samples import Samples
from logpost.machines.topologies import Switched, Topology


@dataclass(frozen=True)
class Plan:
    """Which ranks measure. Rank 0 is the first partner's other end, and the first sender."""

    partners: tuple[int, ...]
    senders: tuple[int, ...]
    receivers: tuple[int, ...]


@dataclass(frozen=True)
class Contention:
    """What was found, in s and B/s; `lacking`: why a value is not known."""

    per_hop: Estimate | None = None
    link_bandwidth: Estimate | None = None
    sharing: float = 0.0
    """pairs that share one cable of the busiest link"""
    lacking: list[str] = field(default_factory=list)


def nodes_of(topology: Topology, hosts: Sequence[str]) -> list[int | None]:
    """The network's node of each rank: by name where it has names, else in the order of first ranks."""
    if isinstance(topology, Switched):
        return topology.nodes_named(hosts)
    order = {host: node for node, host in enumerate(dict.fromkeys(hosts))}
    return [order[host] if order[host] < topology.n_nodes else None for host in hosts]


def plan(topology: Topology, hosts: Sequence[str]) -> Plan:
    """The ranks that measure: the first one of each host that the network has."""
    first: dict[int, int] = {}
    for rank, node in enumerate(nodes_of(topology, hosts)):
        if node is not None:
            first.setdefault(node, rank)
    if 0 not in first.values() or len(first) < 2:
        return Plan((), (), ())
    nodes = _by_neighbourhood(topology, sorted(first))
    half = len(nodes) // 2
    pairs = [(first[nodes[i]], first[nodes[i + half]]) for i in range(half)]
    if any(receiver == 0 for _, receiver in pairs):
        pairs = [(b, a) for a, b in pairs]
    pairs.sort(key=lambda pair: pair[0])  # rank 0 is the first sender, where it takes part
    if pairs[0][0] != 0:  # of an odd number of hosts its own is left over
        pairs[0] = (0, pairs[0][1])
    return Plan(tuple(rank for rank in sorted(first.values()) if rank), *zip(*pairs, strict=True))


def _by_neighbourhood(topology: Topology, nodes: list[int]) -> list[int]:
    """The nodes, each next to those that are nearest to it: both halves of the list are far from each other."""
    left, order = list(nodes), []
    distance = np.asarray([topology.hops(node, np.asarray(nodes)).sum() for node in nodes])
    here = nodes[int(distance.argmax())]
    reached = np.zeros(topology.n_nodes, dtype=np.int64)
    while left:
        left.remove(here)
        order.append(here)
        if left:
            reached[left] += topology.hops(here, np.asarray(left))
            here = min(left, key=lambda node: (reached[node], node))
    return order


def contention(samples: Samples, topology: Topology) -> Contention:
    """What the samples of `contention` show of this network."""
    hosts = samples.host.hosts
    nodes = nodes_of(topology, hosts)
    per_hop, why = _per_hop(samples, topology, nodes)
    bandwidth, sharing, full = _bandwidth(samples, topology, nodes)
    return Contention(per_hop, bandwidth, sharing, [text for text in (why, full) if text])


def _per_hop(samples: Samples, topology: Topology, nodes: list[int | None]) -> tuple[Estimate | None, str]:
    """The slope of the half round trips over the hops, by least squares, round by round."""
    points = [
        (int(topology.hops(nodes[0], node)), estimate(sample))
        for sample in samples.of("distance")
        if (node := nodes[int(sample["partner"])]) is not None and nodes[0] is not None
    ]
    hops = np.asarray([h for h, _ in points], dtype=float)
    if len(set(hops.tolist())) < 2:
        return None, f"per_hop: all hosts that were measured are {int(hops[0]) if len(hops) else 'no'} hops away"
    centred = hops - hops.mean()
    weights = centred / (centred**2).sum()
    found = combined(*((float(w), time) for w, (_, time) in zip(weights, points, strict=True)))
    # What the points are off the line is an error of the slope that their rounds do not hold.
    values = np.asarray([time.value for _, time in points])
    off = values - values.mean() - found.value * centred
    if len(points) > 2:
        deviation = float(np.sqrt((off**2).sum() / (len(points) - 2) / (centred**2).sum()))
        found = Estimate(found.value, float(np.hypot(found.own, 2 * deviation)), found.samples, found.rounds)
    if found.low <= 0.0:
        return None, (
            f"per_hop: between {1e9 * found.low:.3g} and {1e9 * found.high:.3g} ns, which does not differ from 0"
        )
    return found, ""


def _bandwidth(samples: Samples, topology: Topology, nodes: list[int | None]) -> tuple[Estimate | None, float, str]:
    found = {int(sample["pairs"]): sample for sample in samples.of("across")}
    together = found.get(max(found, default=0))
    chosen = plan(topology, samples.host.hosts)
    if together is None or int(together["pairs"]) < 2:
        return None, 0.0, "link bandwidth: fewer than two pairs of hosts were measured across the middle"
    senders, receivers = (np.asarray([nodes[rank] for rank in ranks]) for ranks in (chosen.senders, chosen.receivers))
    links, loads = topology.link_loads(senders, receivers, 1.0)
    cables = topology.cables_of(links) if isinstance(topology, Switched) else np.ones(len(links))
    sharing = float((loads / cables).max())
    if sharing <= 1.0:
        return None, sharing, "link bandwidth: no two pairs share a cable of the network"
    alone = found.get(1)
    middle, slowest = estimate(together), float(together["highest_s"])
    time = middle.scaled(slowest / middle.value)
    bandwidth = ratio(Estimate(sharing * together.bytes, 0.0), time)
    if alone is None or (time - estimate(alone)).low <= 0.0:
        pairs, least = int(together["pairs"]), f"{1e-9 * bandwidth.low:.3g} GB/s"
        full = f"link bandwidth: {pairs} pairs across the middle are not slower than one: a link has at least {least}"
        return None, sharing, full
    return bandwidth, sharing, ""
