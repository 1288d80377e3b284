"""Hops between the nodes of a machine for the replay: int32, -1 where the machine file does not determine them.

A file without a topology states no hops; neither does a topology for a node that lies outside it, or for a node that is
itself unknown (negative). The replay counts those messages; it does not guess their distance.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from logpost.machines.topologies.base import Topology

Hops = npt.NDArray[np.int32]
UNKNOWN_HOPS = -1
"""Between nodes of which one has no place in the topology."""


class OnNetwork(Protocol):
    """A machine, as far as distances need it."""

    @property
    def topology(self) -> Topology | None:
        """Its network; None when its file gives none."""


def hops_between(machine: OnNetwork, a: npt.ArrayLike, b: npt.ArrayLike) -> Hops:
    """Hops from nodes `a` to nodes `b`, broadcast like numpy arrays; -1 where they are unknown."""
    sources, targets = np.broadcast_arrays(np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64))
    found = np.full(sources.shape, UNKNOWN_HOPS, dtype=np.int32)
    topology = machine.topology
    if topology is None:
        return found
    count = topology.n_nodes
    known = (sources >= 0) & (sources < count) & (targets >= 0) & (targets < count)
    found[known] = topology.hops(sources[known], targets[known])
    return found


def hops_matrix(machine: OnNetwork, nodes: npt.ArrayLike) -> Hops:
    """Hops from each of `nodes` (row) to each of them (column); -1 where they are unknown.

    `nodes` are node numbers of the machine's topology, one per place, in any order and repeated as often as wanted.
    """
    places = np.asarray(nodes, dtype=np.int64).reshape(-1)
    return hops_between(machine, places[:, None], places[None, :])
