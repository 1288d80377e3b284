"""Slurm's view of the network: `scontrol show topology`, topology.conf, and SLURM_TOPOLOGY_ADDR of each host.

    SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
    SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]

A switch with Switches= repeats in Nodes= what is below it. LinkSpeed has no unit and Slurm does not use it: the
bandwidth of cables, and how many join two switches, are not stated.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping

from logpost.errors import InputError
from logpost.machines.site.wiring import SiteTopology, Wiring

MOST_NAMES = 1_000_000
"""Of one list: beyond any cluster; a damaged range must not fill the memory."""
ONE_CABLE = "Slurm does not state how many cables join two switches: one is assumed"
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def is_topology(text: str) -> bool:
    """Whether a text is Slurm's."""
    return re.search(r"^\s*(?:Switch|Block)Name=", text, re.IGNORECASE | re.MULTILINE) is not None


def topology(text: str, origin: str, hosts: Collection[str]) -> SiteTopology:
    """The tree of switches. Raises InputError where the text states none."""
    wiring = Wiring()
    seen: dict[str, None] = {}
    for line in re.sub(r"\\\s*\n", " ", text).splitlines():
        fields = dict(_fields(line.partition("#")[0]))
        if "blockname" in fields:
            raise InputError(f"{origin} states blocks of nodes and no switches; give ibnetdiscover's output, or a file")
        switches = fields.get("switchname")
        if switches is None:
            continue
        below = expanded(fields.get("switches", ""), origin)
        if not below:
            below = expanded(fields.get("nodes", ""), origin)
            seen |= dict.fromkeys(below)
        for switch in expanded(switches, origin):
            wiring.cables.setdefault(switch, []).extend(below)
    wiring.hosts = [host for host in seen if host not in wiring.cables]
    return wiring.topology(origin, hosts, notes=[ONE_CABLE])


def from_addresses(addresses: Mapping[str, tuple[str, str]]) -> SiteTopology | None:
    """The tree from each host's SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN; None where no switch is named.

    The address lists, from the top, the switches of each level above the host, then the host's name in Slurm.
    """
    wiring, origin = Wiring(), "SLURM_TOPOLOGY_ADDR"
    cables: dict[str, dict[str, None]] = {}
    for host, (address, pattern) in addresses.items():
        kinds = pattern.split(".")
        parts = address.split(".", len(kinds) - 1)
        if len(parts) != len(kinds) or kinds[-1] != "node":
            raise InputError(f"{origin}={address} does not fit its pattern {pattern}; --topology FILE states a network")
        levels = [expanded(part, origin) for part in parts[:-1]]
        levels = [level for level in levels if level]
        wiring.hosts.append(host)
        for upper, lower in itertools.pairwise([*levels, [host]]):
            for switch in upper:
                cables.setdefault(switch, {}).update(dict.fromkeys(lower))
    if not cables:
        return None
    wiring.cables = {switch: list(ends) for switch, ends in cables.items()}
    return wiring.topology(origin, addresses, notes=[ONE_CABLE])


def expanded(text: str, origin: str) -> list[str]:
    """The names of a host list: tux[0-3,12],login -> tux0 tux1 tux2 tux3 tux12 login. Raises InputError."""
    names: list[str] = []
    if text in ("", "(null)"):
        return names
    for item in re.split(r",(?![^\[]*\])", text):
        parts = re.split(r"\[([^\[\]]*)\]", item)
        choices = [[part] if i % 2 == 0 else list(_numbers(part, item, origin)) for i, part in enumerate(parts)]
        if any("[" in part or "]" in part for part in parts[::2]):
            raise InputError(f"{origin} has the host list {item[:40]!r}, whose brackets do not match")
        names += itertools.islice(map("".join, itertools.product(*choices)), MOST_NAMES - len(names))
    return [name for name in names if name]


def _numbers(text: str, item: str, origin: str) -> Iterator[str]:
    """0-3,12 with the zeros that the first number has in front."""
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None or int(found[2] or found[1]) - int(found[1]) >= MOST_NAMES:
            raise InputError(f"{origin} has the host list {item[:40]!r}, in which {part[:20]!r} is no range of numbers")
        first, last = found[1], found[2] or found[1]
        yield from (f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1))


def _fields(line: str) -> Iterator[tuple[str, str]]:
    for word in line.split():
        key, equals, value = word.partition("=")
        if equals:
            yield key.lower(), value
