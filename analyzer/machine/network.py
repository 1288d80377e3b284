"""The machine's network between the nodes of a program: which links messages pass, and for how long.

Without a topology in the machine file, or with all ranks on one node, the replay knows no network: messages then wait
for endpoints and processors only, and the reason is stated.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from logpost.analyzer.machine.known_network import Ids, KnownNetwork
from logpost.machines import Machine, replay_parameters
from logpost.machines.topologies import Cartesian, Switched, Topology
from logpost.machines.values.units import to_base
from logpost.replay._native import Program, Surroundings

UNKNOWN = -1
"""The place of a node that the topology lacks."""
# Routes are found one by one: so many take a few seconds.
MOST_PAIRS = 200_000


def set_network(
    program: Program | Surroundings, machine: Machine, place_of_node: npt.NDArray[np.int64]
) -> KnownNetwork:
    """Set the links that the program's messages pass.

    Args:
        program: is changed.
        machine: whose network it is.
        place_of_node: the node of the network that each node of the trace is; -1: not known.
    """
    sender, receiver = program.node_pairs()
    if not len(sender):
        return KnownNetwork()
    topology = machine.topology
    if topology is None:
        return KnownNetwork(notes=[f"network contention (C_n) is 0: machine {machine.name} has no topology"])
    ends = [place_of_node[nodes] for nodes in (sender, receiver)]
    known = (np.stack(ends) >= 0).all(axis=0) & (np.stack(ends) < topology.n_nodes).all(axis=0)
    if not known.any():
        return KnownNetwork(
            notes=["network contention (C_n) is 0: no message's route through the machine's network is known"]
        )
    if known.sum() > MOST_PAIRS:
        return KnownNetwork(
            notes=[
                f"network contention (C_n) is 0: {int(known.sum()):,} pairs of nodes exchange messages, and routes are "
                f"found for at most {MOST_PAIRS:,}"
            ]
        )
    byte_ps, what = _byte_on_link(machine, topology)
    if byte_ps <= 0:
        return KnownNetwork(
            notes=[f"network contention (C_n) is 0: machine {machine.name} states no bandwidth of a link, and no G"]
        )
    sources, targets = (end[known] for end in ends)
    begin, route, links = _routes(topology, sources, targets)
    hops = _hops(topology, sources, targets)
    of_dimension = _byte_by_dimension(machine, topology, byte_ps)
    of_link = _byte_by_link(topology, links, of_dimension, byte_ps)
    narrowed, differ = bool((of_link > byte_ps).any()), bool((of_link != byte_ps).any())
    program.set_network(
        sender=np.ascontiguousarray(sender[known]),
        receiver=np.ascontiguousarray(receiver[known]),
        hops=np.ascontiguousarray(hops.ravel().astype(np.int32)),
        dimensions=hops.shape[1],
        route_begin=begin,
        route=route,
        links=len(links),
        byte_ps=byte_ps,
        narrow_byte_ps=of_link if differ else np.empty(0),
        dimension_byte_ps=of_dimension,
        channels=1.0 if isinstance(topology, Cartesian) and not topology.both_ways() else 2.0,
    )
    notes = [f"network contention: {topology.describe()}, a byte occupies a link for {byte_ps / 1e3:.4g} ns ({what})"]
    if narrowed:
        notes.append(
            f"network contention: the machine's bisection leaves a byte {of_link.max() / 1e3:.4g} ns on a link across "
            "the middle"
        )
    if hops.shape[1] < 2:
        notes.append(
            "network contention: LoGPC's equations are those of meshes and tori of two and more dimensions; here the "
            "waits for each link (M/G/1) bound it"
        )
    return KnownNetwork(links, of_link, hops.shape[1] > 1, notes, known=True)


def _byte_on_link(machine: Machine, topology: Topology) -> tuple[float, str]:
    """Picoseconds, and where they come from."""
    if machine.logpc.channel_load == "printed" and machine.clock_hz:
        return to_base(1.0, "cycle", machine.clock_hz), "one cycle, as LoGPC's equation (4) has it"
    if topology.link_bandwidth is not None:
        return 1e12 / topology.link_bandwidth.base(machine.clock_hz), "the machine's link_bandwidth"
    parameters = replay_parameters(machine)
    return float(parameters.G_ps_per_byte[-1]), "G between nodes: the machine states no link_bandwidth"


def _byte_by_dimension(machine: Machine, topology: Topology, byte_ps: float) -> npt.NDArray[np.float64]:
    """Picoseconds on a link of each dimension that has more than one node.

    A bisection that the machine states narrower than its links is what other traffic leaves of the longest dimension's
    (the emulation of Chong et al., Sensitivity, section 3.3).
    """
    if not isinstance(topology, Cartesian):
        return np.empty(0)
    found = np.full(len(topology.shape()), byte_ps)
    if machine.network.bisection is not None:
        across = max(range(len(found)), key=lambda i: (topology.shape()[i], topology.wraps()[i]))
        left = 1e12 * topology.bisection_channels() / machine.network.bisection.base(machine.clock_hz)
        found[across] = max(byte_ps, left)
    return np.ascontiguousarray(found[[size > 1 for size in topology.shape()]])


def _byte_by_link(
    topology: Topology, links: Ids, of_dimension: npt.NDArray[np.float64], byte_ps: float
) -> npt.NDArray[np.float64]:
    if isinstance(topology, Switched) and len(links):
        return byte_ps / topology.cables_of(links)
    if not isinstance(topology, Cartesian) or not len(links):
        return np.full(len(links), byte_ps)
    ends = topology.coordinates(links.astype(np.int64))
    wide = [size > 1 for size in topology.shape()]
    across = (ends[:, 0] != ends[:, 1])[:, wide].argmax(axis=1)
    return np.ascontiguousarray(of_dimension[across])


def _hops(topology: Topology, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Hops of each pair in the dimensions of a grid that have more than one node; no column for other networks."""
    if not isinstance(topology, Cartesian):
        return np.empty((len(sources), 0), dtype=np.int64)
    wide = np.asarray([size > 1 for size in topology.shape()])
    return topology.hops_per_dimension(sources, targets)[:, wide]


def _routes(
    topology: Topology, sources: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], Ids, Ids]:
    """Where each pair's route begins, the links of all routes, and the vertices of each link."""
    numbers: dict[tuple[int, int], int] = {}
    begin, route = [0], []
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        route += [numbers.setdefault(step, len(numbers)) for step in pairwise(topology.route(source, target))]
        begin.append(len(route))
    vertices = np.asarray(list(numbers), dtype=np.int32).reshape(-1, 2)
    return np.asarray(begin, dtype=np.int64), np.asarray(route, dtype=np.int32), vertices
