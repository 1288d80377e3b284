"""The interface of every topology: nodes, distances, routes, and the traffic averages that models need.

Vertices are numbered: 0 .. n_nodes-1 are the nodes, larger numbers are switches (indirect networks only). A hop is one
link of the route. In direct networks (mesh, torus, ring, hypercube) the router belongs to the node, so links are those
between routers; in indirect networks (fat tree, dragonfly, crossbar) the links between node and switch count too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from logpost.errors import InputError
from logpost.machines.values.quantity import Bandwidth, Bytes, Table, Time

IntArray = npt.NDArray[np.int64]


class Topology(Table):
    """Fields that all kinds share; the `kind` itself is declared by each subclass.

    `source` and `where` are those of the kind and its dimensions; a machine file must give them.
    """

    kind: str
    source: str | None = None
    where: str | None = None
    note: str | None = None
    per_hop: Time | None = None
    link_bandwidth: Bandwidth | None = None
    header: Bytes | None = None
    routing: str | None = None
    switching: str | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        raise NotImplementedError

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """Names of the dimensions by which hops are counted, e.g. ("x", "y")."""
        raise NotImplementedError

    def hops_per_dimension(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """Hops from nodes `a` to nodes `b` in each dimension; shape: the broadcast shape plus (dimensions,)."""
        raise NotImplementedError

    def route(self, a: int, b: int) -> list[int]:
        """Vertices that a message from node `a` to node `b` passes, both ends included; [a] when a == b."""
        raise NotImplementedError

    def links(self) -> list[tuple[int, int]]:
        """All directed links (from, to) of the network."""
        raise NotImplementedError

    @property
    def n_vertices(self) -> int:
        """Nodes plus switches."""
        return self.n_nodes

    def hops(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """Hops from nodes `a` to nodes `b`, broadcast like numpy arrays."""
        return np.asarray(self.hops_per_dimension(a, b).sum(axis=-1), dtype=np.int64)

    def k_d(self, *, include_self: bool = True) -> tuple[float, ...]:
        """Mean hops per dimension to a uniformly random destination (LOGPC: k_d, eq. 11).

        With `include_self` the sender itself is a possible destination, as in eq. (11): 4 x 8 mesh, k_d sums to
        3.875. Without it the mean is over the other nodes: exactly 4.0 there.
        """
        nodes = np.arange(self.n_nodes)
        total = self.hops_per_dimension(nodes[:, None], nodes[None, :]).sum(axis=(0, 1))
        return self._mean(total.astype(float) / self.n_nodes**2, include_self)

    def mean_hops(self, *, include_self: bool = True) -> float:
        """Mean hops to a uniformly random destination: the sum of `k_d` over the dimensions."""
        return float(sum(self.k_d(include_self=include_self)))

    def _mean(self, with_self: npt.ArrayLike, include_self: bool) -> tuple[float, ...]:
        scale = 1.0 if include_self or self.n_nodes == 1 else self.n_nodes / (self.n_nodes - 1)
        return tuple(float(value) * scale for value in np.atleast_1d(with_self))

    def diameter(self) -> int:
        """Hops between the two nodes that are farthest apart."""
        nodes = np.arange(self.n_nodes)
        return max(int(self.hops(node, nodes).max()) for node in range(self.n_nodes))

    def coordinates(self, node: npt.ArrayLike) -> IntArray:
        """Coordinates of nodes, shape (..., dimensions); indirect networks have one coordinate, the number."""
        return self._checked(node)[..., None]

    def _checked(self, node: npt.ArrayLike) -> IntArray:
        nodes = np.asarray(node, dtype=np.int64)
        if nodes.size and (nodes.min() < 0 or nodes.max() >= self.n_nodes):
            bad = nodes.min() if nodes.min() < 0 else nodes.max()
            raise InputError(
                f"node {bad} is not on this {self.kind} of {self.n_nodes} nodes; use 0 to {self.n_nodes - 1}"
            )
        return nodes

    def link_loads(
        self, a: npt.ArrayLike, b: npt.ArrayLike, weight: npt.ArrayLike
    ) -> tuple[IntArray, npt.NDArray[np.float64]]:
        """What each link carries when messages of `weight` (bytes, or 1 to count them) go from nodes `a` to nodes `b`.

        Returns the directed links (n, 2) that carry anything, sorted, and their loads (n,). The loads add up to the
        sum of weight times hops.
        """
        sources, targets, weights = np.broadcast_arrays(
            self._checked(a), self._checked(b), np.asarray(weight, dtype=np.float64)
        )
        pairs, where = np.unique(sources.ravel() * self.n_nodes + targets.ravel(), return_inverse=True)
        per_pair = np.bincount(where.ravel(), weights=weights.ravel(), minlength=len(pairs))
        loads: dict[tuple[int, int], float] = {}
        for pair, load in zip(pairs.tolist(), per_pair.tolist(), strict=True):
            for step in pairwise(self.route(pair // self.n_nodes, pair % self.n_nodes)):
                loads[step] = loads.get(step, 0.0) + load
        used = sorted(loads)
        return np.array(used, dtype=np.int64).reshape(-1, 2), np.array([loads[step] for step in used])

    def describe(self) -> str:
        """One phrase for lists, e.g. "mesh 8 x 4"."""
        return self.kind

    def facts(self) -> dict[str, Any]:
        """Figures that `show` prints below the parameters."""
        return {
            "nodes": self.n_nodes,
            "diameter (hops)": self.diameter(),
            "mean hops, uniform, self included": self.mean_hops(),
            "mean hops, uniform, others only": self.mean_hops(include_self=False),
            "k_d per dimension": dict(zip(self.dimension_names, self.k_d(), strict=True)),
        }
