"""Where the ranks of a run could be instead: on the nodes that it had, or on those of a file.

    block   ranks in order fill one node after the other     cyclic   ranks are dealt to the nodes one by one
    random[:SEED]   anywhere                                  FILE     a node of the network per line, rank by rank

All but a file keep how many ranks each node holds. A rank takes the socket of the place that it moves to.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from logpost.errors import InputError

Ids = npt.NDArray[np.int64]
UNKNOWN = -1
"""The socket of a rank on a node that has fewer."""
KINDS = ("best", "block", "cyclic", "random")


@dataclass(frozen=True)
class Seats:
    """Where ranks sit, by rank: the node of the network, the socket within it (-1: not known)."""

    nodes: Ids
    sockets: Ids

    def seated(self, order: Ids) -> Seats:
        """With rank r on the seat that `order[r]` had."""
        return Seats(self.nodes[order], self.sockets[order])


@dataclass(frozen=True)
class Proposal:
    """The fastest of the placements that were replayed. `tried`: (name, cost over the recorded one's, makespan)."""

    seats: Seats
    name: str
    tried: list[tuple[str, float, int]]


def remapped(seats: Seats, text: str) -> Seats:
    """The ranks' seats under another mapping.

    Raises:
        InputError: it is none, or its file does not place every rank.
    """
    kind, _, rest = text.partition(":")
    ranks = len(seats.nodes)
    by_node = np.lexsort((np.arange(ranks), seats.nodes))
    if text == "block":
        return seats.seated(by_node)
    if text == "cyclic":
        turn = np.empty(ranks, dtype=np.int64)
        for node in np.unique(seats.nodes):
            mine = by_node[seats.nodes[by_node] == node]
            turn[mine] = np.arange(len(mine))
        return seats.seated(np.lexsort((seats.nodes, turn)))
    if kind == "random":
        if rest and not rest.isdecimal():
            raise InputError(f"--mapping {text}: the seed is a whole number, e.g. random:1")
        return seats.seated(np.random.default_rng(int(rest or 1)).permutation(ranks))
    if not Path(text).is_file():
        raise InputError(
            f"--mapping {text} is no file; give a file with a node number per line, rank by rank, or "
            "block, cyclic, random[:SEED] or best"
        )
    return _from_file(seats, Path(text))


def _from_file(seats: Seats, path: Path) -> Seats:
    from logpost.machines import parse_mapping

    nodes = parse_mapping(f"file:{path}").node_of(np.arange(len(seats.nodes)))
    free = {node: list(seats.sockets[seats.nodes == node]) for node in np.unique(seats.nodes).tolist()}
    sockets = [free[node].pop(0) if free.get(node) else UNKNOWN for node in nodes.tolist()]
    return Seats(np.asarray(nodes, dtype=np.int64), np.asarray(sockets, dtype=np.int64))
