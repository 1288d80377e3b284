"""Switches and cables as a site states them: any network of named hosts and switches (Slurm's tree, a fabric's scan).

A route is a shortest path. Among several next cables the destination's number decides, divided by their count at each
step: D-mod-k, as OpenSM fills the routing tables of fat trees. A site may route otherwise; its files do not state it.
Cables between the same two vertices are one link of that many times the bandwidth. Nodes forward nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from logpost.machines.topologies.base import IntArray, Topology

UNREACHED = -1
"""Hops to a node without a path."""


@dataclass(frozen=True, eq=False)
class _Wiring:
    """Cables by vertex: each neighbour once for every cable to it, ascending; and distances that were searched for."""

    cables: list[list[int]]
    to: dict[int, IntArray] = field(default_factory=dict)


class Switched(Topology):
    """`cables`: for each switch, the nodes and switches that it is cabled to. A cable is listed once, at one end."""

    kind: Literal["switched"]
    hosts: list[str] = Field(min_length=1)
    cables: dict[str, list[str]]

    @model_validator(mode="after")
    def _connected(self) -> Switched:
        twice = [name for name, count in Counter(self.hosts).items() if count > 1]
        if twice:
            raise ValueError(f"lists the host {twice[0]!r} twice; keep one")
        both = next((name for name in self.cables if name in set(self.hosts)), None)
        if both is not None:
            raise ValueError(f"has {both!r} as a host and as a switch; rename one")
        itself = next((name for name, ends in self.cables.items() if name in ends), None)
        if itself is not None:
            raise ValueError(f"has a cable from {itself!r} to itself; remove it")
        reached = self.hops(0, np.arange(self.n_nodes))
        if (reached == UNREACHED).any():
            lost = self.hosts[int(np.flatnonzero(reached == UNREACHED)[0])]
            raise ValueError(f"has no path from {self.hosts[0]!r} to {lost!r}; add the cables, or leave the host out")
        return self

    @cached_property
    def switches(self) -> list[str]:
        """Names of the switches, in the order of their vertices."""
        known = set(self.hosts)
        named = [*self.cables, *(end for ends in self.cables.values() for end in ends)]
        return list(dict.fromkeys(name for name in named if name not in known))

    def nodes_named(self, hosts: Iterable[str]) -> list[int | None]:
        """The node of each host, by its name or the part of that before the first dot; None: it is not here."""
        number = {name.partition(".")[0]: node for node, name in enumerate(self.hosts)}
        number |= {name: node for node, name in enumerate(self.hosts)}
        return [number.get(host, number.get(host.partition(".")[0])) for host in hosts]

    @cached_property
    def _wiring(self) -> _Wiring:
        number = {name: vertex for vertex, name in enumerate([*self.hosts, *self.switches])}
        cables: list[list[int]] = [[] for _ in number]
        for switch, ends in self.cables.items():
            for end in ends:
                cables[number[switch]].append(number[end])
                cables[number[end]].append(number[switch])
        return _Wiring([sorted(ends) for ends in cables])

    @property
    def n_nodes(self) -> int:
        """The hosts."""
        return len(self.hosts)

    @property
    def n_vertices(self) -> int:
        """Hosts and switches."""
        return len(self.hosts) + len(self.switches)

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """One: cables of any kind."""
        return ("cable",)

    def _distances_to(self, target: int) -> IntArray:
        """Cables from each vertex to the host `target`; UNREACHED where there is no path."""
        wiring = self._wiring
        found = wiring.to.get(target)
        if found is None:
            found = np.full(len(wiring.cables), UNREACHED, dtype=np.int64)
            found[target] = 0
            waiting = deque([target])
            while waiting:
                here = waiting.popleft()
                for there in wiring.cables[here]:
                    if found[there] == UNREACHED:
                        found[there] = found[here] + 1
                        if there >= self.n_nodes:
                            waiting.append(there)
            wiring.to[target] = found
        return found

    def hops_per_dimension(self, a: npt.ArrayLike, b: npt.ArrayLike) -> IntArray:
        """Cables of a shortest path."""
        here, there = np.broadcast_arrays(self._checked(a), self._checked(b))
        found = np.empty(here.shape, dtype=np.int64)
        for target in np.unique(here).tolist():  # cables lead both ways
            at = here == target
            found[at] = self._distances_to(target)[there[at]]
        return found[..., None]

    def route(self, a: int, b: int) -> list[int]:
        """A shortest path; the destination's number decides between cables."""
        self._checked([a, b])
        distances = self._distances_to(b)
        path, spread = [a], b
        while path[-1] != b:
            here = path[-1]
            nearer = [v for v in self._wiring.cables[here] if distances[v] == distances[here] - 1]
            path.append(nearer[spread % len(nearer)])
            spread //= len(nearer)
        return path

    def links(self) -> list[tuple[int, int]]:
        """Both directions between vertices that a cable joins."""
        return sorted({(here, there) for here, ends in enumerate(self._wiring.cables) for there in ends})

    def cables_of(self, links: npt.ArrayLike) -> IntArray:
        """How many cables each link, a pair of vertices, is made of."""
        counts = [Counter(ends) for ends in self._wiring.cables]
        return np.asarray([counts[here][there] for here, there in np.asarray(links).tolist()], dtype=np.int64)

    def describe(self) -> str:
        """With the number of hosts and switches."""
        switches = len(self.switches)
        return f"network of {self.n_nodes} hosts on {switches} {'switch' if switches == 1 else 'switches'}"
