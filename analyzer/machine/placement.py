"""Where a program ran: the socket of each location, and the place of each node on the machine's network.

Sockets are the trace's own (its system tree) where it has them; else they follow from the cores that a location is
bound to and the machine's cores per socket, cores being numbered socket by socket; else from the machine's [mapping],
where that states the sockets of a node.

Nodes are on the network as the machine's [mapping] places their ranks; without one, in the order of their first
ranks. A mapping that puts the ranks of one node on several nodes is not that of this trace: then no hops are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.machine.known_network import KnownNetwork
from logpost.analyzer.machine.network import set_network
from logpost.errors import InputError
from logpost.machines import Machine, hops_matrix
from logpost.replay._native import Program

Ids = npt.NDArray[np.int32]
UNKNOWN = -1
"""The id of a node, socket or core that the archive does not state."""


@dataclass(frozen=True)
class Placed:
    """Sockets by location (-1: not known), what was taken for granted, and the network as the replay knows it."""

    sockets: Ids
    notes: list[str] = field(default_factory=list)
    network: KnownNetwork = field(default_factory=KnownNetwork)


def place(program: Program, machine: Machine, locations: pl.DataFrame, cores_per_node: dict[int, int]) -> Placed:
    """Set the program's sockets, its hops, and the links that its messages pass.

    Args:
        program: is changed.
        machine: whose nodes and network they are.
        locations: columns rank, node, socket, core; a row per location, by id.
        cores_per_node: as far as the trace says, by node.
    """
    sockets, notes = _sockets(machine, locations, cores_per_node)
    nodes, refused = places_on_network(machine, locations)
    used = np.unique(nodes[nodes != UNKNOWN])
    row_of_node = np.where(nodes == UNKNOWN, UNKNOWN, np.searchsorted(used, nodes)).astype(np.int32)
    program.place(sockets, row_of_node, np.ascontiguousarray(hops_matrix(machine, used)).ravel())
    network = set_network(program, machine, nodes)
    return Placed(sockets, notes + refused + network.notes, network)


def _sockets(machine: Machine, locations: pl.DataFrame, cores_per_node: dict[int, int]) -> tuple[Ids, list[str]]:
    sockets: Ids = locations["socket"].to_numpy().astype(np.int32)
    if (sockets != UNKNOWN).any():
        return sockets, []
    bound = _by_binding(machine, locations, cores_per_node)
    if (bound != UNKNOWN).any():
        if _sockets_per_node(machine) == 1:
            return bound, []
        return bound, ["sockets are known from the cores that ranks were bound to; cores are numbered socket by socket"]
    mapped = _by_mapping(machine, locations)
    if (mapped != UNKNOWN).any():
        return mapped, ["sockets are those of the machine's mapping: the trace does not say where ranks were bound"]
    return sockets, []


def _by_binding(machine: Machine, locations: pl.DataFrame, cores_per_node: dict[int, int]) -> Ids:
    """Of locations whose cores are all of one socket. A second round of numbers is the cores' second threads."""
    found = np.full(locations.height, UNKNOWN, dtype=np.int32)
    count, processors = _sockets_per_node(machine), machine.node.processors
    if count is None:
        return found
    stated = 0 if processors is None else int(processors.base())
    for row, (node, text) in enumerate(locations.select("node", "core").iter_rows()):
        cores = stated or cores_per_node.get(node, 0)
        if count == 1 and node != UNKNOWN:
            found[row] = 0
        elif text and cores >= count:
            per_socket = -(-cores // count)
            sockets = {(core % cores) // per_socket for core in cores_of(text)}
            found[row] = sockets.pop() if len(sockets) == 1 else UNKNOWN
    return found


def cores_of(text: str) -> list[int]:
    """The cores of a list as Linux writes it, e.g. "0-3,8"; none where it is not one."""
    cores: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            return []
        cores.extend(range(int(first), int(last or first) + 1))
    return cores


def _sockets_per_node(machine: Machine) -> int | None:
    """As the machine's node states it, else its mapping; None where neither does."""
    if machine.node.sockets is not None:
        return int(machine.node.sockets.base())
    mapping = machine.mapping
    return mapping.sockets_per_node if mapping and "sockets_per_node" in mapping.model_fields_set else None


def _by_mapping(machine: Machine, locations: pl.DataFrame) -> Ids:
    """Of ranks, where the machine's mapping states how many sockets a node has and how many ranks fill it."""
    found = np.full(locations.height, UNKNOWN, dtype=np.int32)
    mapping = machine.mapping
    if mapping is None or not {"sockets_per_node", "ranks_per_node"} <= mapping.model_fields_set:
        return found
    ranks = locations.with_row_index("row").filter(pl.col("rank") >= 0, pl.col("node") >= 0).sort("rank")
    slots = ranks.select(pl.int_range(pl.len()).over("node")).to_series().to_numpy()
    per_socket = -(-mapping.ranks_per_node // mapping.sockets_per_node)
    fits = slots < mapping.ranks_per_node
    found[ranks["row"].to_numpy()[fits]] = (slots // per_socket)[fits]
    return found


def places_on_network(machine: Machine, locations: pl.DataFrame) -> tuple[npt.NDArray[np.int64], list[str]]:
    """The node of the machine's network that each node of the trace is; -1: not known."""
    known = locations.filter(pl.col("rank") >= 0, pl.col("node") >= 0).sort("rank")
    nodes = np.full(1 + max(locations["node"], default=UNKNOWN), UNKNOWN, dtype=np.int64)
    if machine.topology is None or known.is_empty():
        return nodes, []
    order = known["node"].unique(maintain_order=True).to_numpy()
    if len(order) == 1:
        return nodes, []  # no message takes the network
    notes = []
    if machine.mapping is None:
        nodes[order] = np.arange(len(order))
        notes = ["hops: the machine has no mapping; nodes are on its network in the order of their first ranks"]
    else:
        try:
            wanted = machine.mapping.node_of(known["rank"].to_numpy())
        except InputError as error:
            return nodes, [f"hops are not known: the machine's mapping does not place these ranks: {error}"]
        pairs = np.unique(np.stack([known["node"].to_numpy(), wanted]), axis=1)
        if len(np.unique(pairs[0])) != pairs.shape[1]:
            return nodes, ["hops are not known: the machine's mapping parts ranks that ran on one node"]
        if len(np.unique(pairs[1])) != pairs.shape[1]:
            return nodes, ["hops are not known: the machine's mapping puts ranks together that ran on different nodes"]
        nodes[pairs[0]] = pairs[1]
    if nodes.max() >= machine.topology.n_nodes:
        beyond = int((nodes >= machine.topology.n_nodes).sum())
        lie = "lies" if beyond == 1 else "lie"
        size = machine.topology.n_nodes
        notes.append(f"hops: {beyond} of the trace's nodes {lie} outside of the machine's network of {size} nodes")
    return nodes, notes
