"""Rank mappings: the node and coordinates of a rank, and the distance of two ranks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from logpost.errors import InputError
from logpost.machines.topologies.base import IntArray, Topology
from logpost.machines.values.quantity import Table

LIMIT = 2**31
"""Above every number and count of nodes and ranks: tables hold them as int32."""
Number = Annotated[int, Field(ge=0, lt=LIMIT)]
Count = Annotated[int, Field(ge=1, lt=LIMIT)]

SELF, SAME_SOCKET, SAME_NODE, OTHER_NODE = range(4)


class Mapping(Table):
    """How ranks are placed on nodes.

    block: ranks 0 .. n-1 on node 0, the next n on node 1, ... (n = ranks_per_node). cyclic: rank r on node r mod
    `nodes`. random: block placement on nodes shuffled with `seed`. list: rank r on node `nodes_of_ranks[r]`.
    """

    kind: Literal["block", "cyclic", "random", "list"] = "block"
    ranks_per_node: Count = 1
    sockets_per_node: Count = 1
    nodes: Count | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    nodes_of_ranks: list[Number] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Mapping:
        if self.kind == "cyclic" and self.nodes is None:
            raise ValueError('kind = "cyclic" needs nodes = number of nodes')
        if self.kind == "random" and (self.nodes is None or self.seed is None):
            raise ValueError('kind = "random" needs nodes = number of nodes and seed = a number')
        if self.kind == "list" and not self.nodes_of_ranks:
            raise ValueError('kind = "list" needs nodes_of_ranks = [node of rank 0, node of rank 1, ...]')
        return self

    def node_of(self, rank: npt.ArrayLike) -> IntArray:
        """Node of each rank. Raises InputError for a rank that the mapping does not place."""
        ranks = np.asarray(rank, dtype=np.int64)
        if ranks.size and ranks.min() < 0:
            raise InputError(f"rank {ranks.min()} does not exist; ranks start at 0")
        if self.kind == "list":
            assert self.nodes_of_ranks is not None
            if ranks.size and ranks.max() >= len(self.nodes_of_ranks):
                raise InputError(
                    f"rank {ranks.max()} has no node: nodes_of_ranks lists {len(self.nodes_of_ranks)} ranks; extend it"
                )
            return np.asarray(self.nodes_of_ranks, dtype=np.int64)[ranks]
        if self.kind == "cyclic":
            assert self.nodes is not None
            return ranks % self.nodes
        block = ranks // self.ranks_per_node
        if self.kind == "block":
            return block
        assert self.nodes is not None
        assert self.seed is not None
        if ranks.size and block.max() >= self.nodes:
            raise InputError(
                f"rank {ranks.max()} needs node {block.max()} of {self.nodes}; raise nodes or ranks_per_node"
            )
        shuffled: IntArray = np.random.default_rng(self.seed).permutation(self.nodes)
        return shuffled[block]

    def slot_of(self, rank: npt.ArrayLike) -> IntArray:
        """Position of each rank among the ranks of its node, 0 first."""
        ranks = np.asarray(rank, dtype=np.int64)
        if self.kind == "cyclic":
            assert self.nodes is not None
            return ranks // self.nodes
        if self.kind == "list":
            nodes = self.node_of(np.arange(len(self.nodes_of_ranks or ())))
            slots = np.array([int((nodes[:r] == nodes[r]).sum()) for r in range(len(nodes))], dtype=np.int64)
            return slots[ranks]
        return ranks % self.ranks_per_node

    def socket_of(self, rank: npt.ArrayLike) -> IntArray:
        """Socket within the node: the node's slots are divided into `sockets_per_node` equal blocks."""
        per_socket = -(-self.ranks_per_node // self.sockets_per_node)
        return np.minimum(self.slot_of(rank) // per_socket, self.sockets_per_node - 1)

    def locality(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """Locality class ids of rank pairs: 0 self, 1 same socket, 2 same node, 3 other node."""
        ranks_a, ranks_b = np.broadcast_arrays(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64))
        same_node = self.node_of(ranks_a) == self.node_of(ranks_b)
        same_socket = same_node & (self.socket_of(ranks_a) == self.socket_of(ranks_b))
        kinds = np.where(same_socket, SAME_SOCKET, np.where(same_node, SAME_NODE, OTHER_NODE))
        return np.asarray(np.where(ranks_a == ranks_b, SELF, kinds), dtype=np.int64)

    def coordinates(self, rank: npt.ArrayLike, topology: Topology) -> IntArray:
        """Coordinates of each rank's node on the topology."""
        return topology.coordinates(self.node_of(rank))

    def hops(self, a: npt.ArrayLike, b: npt.ArrayLike, topology: Topology) -> IntArray:
        """Hops between the nodes of two ranks."""
        return topology.hops(self.node_of(a), self.node_of(b))


def parse_mapping(text: str) -> Mapping:
    """A mapping as the command line gives it.

    block:RANKS_PER_NODE, cyclic:NODES, random:NODES:SEED[:RANKS_PER_NODE], or file:PATH with one node number per
    line, rank by rank. Raises InputError.
    """
    kind, _, rest = text.partition(":")
    if kind == "file":
        return _from_file(Path(rest))
    names = {"block": ("ranks_per_node",), "cyclic": ("nodes",), "random": ("nodes", "seed", "ranks_per_node")}
    fields = rest.split(":") if rest else []
    least = {"block": 1, "cyclic": 1, "random": 2}
    if kind not in names or not least[kind] <= len(fields) <= len(names[kind]):
        raise InputError(
            f"mapping {text!r} is not known; use block:RANKS_PER_NODE, cyclic:NODES, "
            "random:NODES:SEED[:RANKS_PER_NODE] or file:PATH"
        )
    given = dict(zip(names[kind], fields, strict=False))
    try:
        return Mapping.model_validate({"kind": kind, **{name: int(item) for name, item in given.items()}})
    except ValueError as error:
        raise InputError(
            f"mapping {text!r} needs whole numbers, and at least 1 for nodes and ranks, 0 for the seed"
        ) from error


def _from_file(path: Path) -> Mapping:
    try:
        lines = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"mapping file {path} cannot be read; give a text file of one node number per line") from error
    bad = next((line for line in lines if not line.isdecimal() or len(line) > 10 or int(line) >= LIMIT), None)
    if bad is not None or not lines:
        raise InputError(
            f"mapping file {path} holds {(bad or 'nothing')[:40]!r}; write one node number per line, rank by rank"
        )
    nodes = [int(line) for line in lines]
    return Mapping(kind="list", nodes_of_ranks=nodes, ranks_per_node=max(Counter(nodes).values()))
