"""Dragonfly: groups of fully connected routers, and global links between the groups (Slingshot machines).

Global port j of group i (on its router j // h, with h global links per router) leads to the j-th other group: the
consecutive arrangement. Ports beyond the other groups double existing links and are not used. Routing is minimal: at
most one local, one global and one local link between two routers.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from logpost.machines.topologies.base import IntArray, Topology
from logpost.machines.values.quantity import Bandwidth, Time


class Dragonfly(Topology):
    """`groups` x `routers` x `nodes_per_router` nodes, `global_links` per router.

    Nodes, then routers, are numbered group by group. Without `global_links` each router has as few as reach every
    other group once. `global_bandwidth` and `global_latency` hold for the links between groups where they differ
    from the others.
    """

    kind: Literal["dragonfly"]
    groups: Annotated[int, Field(ge=1)]
    routers: Annotated[int, Field(ge=1)]
    nodes_per_router: Annotated[int, Field(ge=1)]
    global_links: Annotated[int, Field(ge=0)] | None = None
    global_bandwidth: Bandwidth | None = None
    global_latency: Time | None = None

    @model_validator(mode="after")
    def _reachable(self) -> Dragonfly:
        ports = self.routers * self.per_router()
        if self.groups > 1 and ports < self.groups - 1:
            raise ValueError(
                f"{self.routers} routers with {self.global_links} global links reach {ports} groups, "
                f"but there are {self.groups - 1} others; raise global_links or routers"
            )
        return self

    def per_router(self) -> int:
        """Global links per router: given, or ceil((groups - 1) / routers)."""
        return self.global_links if self.global_links is not None else -(-(self.groups - 1) // self.routers)

    @property
    def n_nodes(self) -> int:
        """groups x routers x nodes per router."""
        return self.groups * self.routers * self.nodes_per_router

    @property
    def n_vertices(self) -> int:
        """Nodes and routers."""
        return self.n_nodes + self.groups * self.routers

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """Node-router links, links inside a group, links between groups."""
        return ("node", "local", "global")

    def gateway(self, group: npt.ArrayLike, target: npt.ArrayLike) -> IntArray:
        """Router (within its group) that holds the first global link from `group` to the group `target`."""
        here, there = np.asarray(group, dtype=np.int64), np.asarray(target, dtype=np.int64)
        port = np.where(there < here, there, there - 1)
        return np.asarray(port // max(self.per_router(), 1), dtype=np.int64)

    def hops_per_dimension(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """Two node links, up to two local links, one global link on the minimal route."""
        here, there = np.broadcast_arrays(self._checked(a), self._checked(b))
        per_group = self.routers * self.nodes_per_router
        g_a, g_b = here // per_group, there // per_group
        r_a = here // self.nodes_per_router % self.routers
        r_b = there // self.nodes_per_router % self.routers
        far = g_a != g_b
        node_hops = np.where(here != there, 2, 0)
        leave = (self.gateway(g_a, g_b) != r_a).astype(np.int64)
        arrive = (self.gateway(g_b, g_a) != r_b).astype(np.int64)
        local = np.where(far, leave + arrive, (r_a != r_b).astype(np.int64))
        return np.stack([node_hops, local, far.astype(np.int64)], axis=-1)

    def k_d(self, *, include_self: bool = True) -> tuple[float, ...]:
        """Closed forms for uniform traffic over g groups of r routers, N nodes in all.

        Node links 2 (1 - 1/N); global links (g-1)/g; local links (r-1)/r within the group, twice that chance (once to
        the gateway, once from it) to another group.
        """
        miss = (self.routers - 1) / self.routers
        away = (self.groups - 1) / self.groups
        return self._mean([2 * (1 - 1 / self.n_nodes), miss * (1 - away) + 2 * miss * away, away], include_self)

    def diameter(self) -> int:
        """Two node links and the longest way between routers."""
        if self.groups > 1:
            return 3 + 2 * min(self.routers - 1, 1)
        return 2 * min(self.n_nodes - 1, 1) + min(self.routers - 1, 1)

    def _router(self, group: int, router: int) -> int:
        return self.n_nodes + group * self.routers + router

    def route(self, a: int, b: int) -> list[int]:
        """The minimal route."""
        self._checked([a, b])
        if a == b:
            return [a]
        per_group = self.routers * self.nodes_per_router
        g_a, g_b = a // per_group, b // per_group
        first = self._router(g_a, a // self.nodes_per_router % self.routers)
        last = self._router(g_b, b // self.nodes_per_router % self.routers)
        path = [a, first]
        if g_a != g_b:
            path.append(self._router(g_a, int(self.gateway(g_a, g_b))))
            path.append(self._router(g_b, int(self.gateway(g_b, g_a))))
        path += [last, b]
        return [v for i, v in enumerate(path) if i == 0 or v != path[i - 1]]

    def links(self) -> list[tuple[int, int]]:
        """Node links, all pairs of routers in a group, and one global link per pair of groups."""
        found: set[tuple[int, int]] = set()
        for node in range(self.n_nodes):
            router = self.n_nodes + node // self.nodes_per_router
            found |= {(node, router), (router, node)}
        for group in range(self.groups):
            for r in range(self.routers):
                for s in range(self.routers):
                    if r != s:
                        found.add((self._router(group, r), self._router(group, s)))
            for target in range(self.groups):
                if target != group:
                    here = self._router(group, int(self.gateway(group, target)))
                    there = self._router(target, int(self.gateway(target, group)))
                    found |= {(here, there), (there, here)}
        return sorted(found)

    def describe(self) -> str:
        """Groups, routers, nodes."""
        return f"dragonfly {self.groups} x {self.routers} x {self.nodes_per_router}"
