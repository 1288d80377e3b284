"""Hosts, switches and cables as a parser found them, and the topology of the part that a job runs on."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from logpost.errors import InputError
from logpost.machines.topologies import Switched, Topology
from logpost.machines.values.quantity import Bandwidth

SOURCE = "TOPOLOGY"
"""Key of the source that a machine file cites for a topology of the site."""


@dataclass(frozen=True)
class SiteTopology:
    """A topology, what stated it, and what a reader should know."""

    topology: Topology
    origin: str
    notes: list[str] = field(default_factory=list)


@dataclass
class Wiring:
    """By switch, what it is cabled to; one entry per cable, at one of its ends."""

    hosts: list[str] = field(default_factory=list)
    cables: dict[str, list[str]] = field(default_factory=dict)

    def topology(
        self, origin: str, hosts: Collection[str], bandwidth: Bandwidth | None = None, notes: Collection[str] = ()
    ) -> SiteTopology:
        """The topology of the connected part with most of `hosts`, or with most hosts where none is given.

        Raises:
            InputError: there is no host.
        """
        if not self.hosts:
            raise InputError(f"{origin} lists no host; give the output of the tool on this cluster")
        parts = self._parts()
        wanted = {host for name in hosts for host in (name, name.partition(".")[0])}
        kept = max(parts, key=lambda part: (len(wanted & part), len(part & set(self.hosts))))
        inside = [host for host in self.hosts if host in kept]
        notes = list(notes)
        if len(inside) < len(self.hosts):
            left = len(self.hosts) - len(inside)
            notes.append(f"{left} of {len(self.hosts)} hosts have no path to the {len(inside)} others and are left out")
        made = Switched(
            kind="switched",
            source=SOURCE,
            hosts=inside,
            cables={switch: ends for switch, ends in self.cables.items() if switch in kept},
            link_bandwidth=bandwidth,
        )
        return SiteTopology(made, origin, notes)

    def _parts(self) -> list[set[str]]:
        """The vertices by what is connected; hosts forward nothing."""
        ends: dict[str, set[str]] = {host: set() for host in self.hosts}
        for switch, others in self.cables.items():
            for other in others:
                ends.setdefault(switch, set()).add(other)
                ends.setdefault(other, set()).add(switch)
        forwarding = ends.keys() - set(self.hosts)
        parts: list[set[str]] = []
        left = set(forwarding)
        while left:
            first = left.pop()
            part, waiting = {first}, deque([first])
            while waiting:
                for there in ends[waiting.popleft()] - part:
                    part.add(there)
                    if there in forwarding:
                        waiting.append(there)
            left -= part
            parts.append(part)
        return parts or [{host} for host in self.hosts]
