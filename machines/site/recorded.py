"""What a recording keeps of the site's network, with the archive: `topology.txt` and `network.json`.

`topology.txt`: what `scontrol show topology` printed, or the file that the user named. `network.json`: by host, its
place in Slurm's topology, and the counters of its adapters before and after the program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from logpost.errors import InputError
from logpost.machines.site import slurm
from logpost.machines.site.topology import parse_text
from logpost.machines.site.wiring import SiteTopology
from logpost.whole_file import write_whole

TOPOLOGY = "topology.txt"
NETWORK = "network.json"
IB_WORD = 4
"""Bytes in one count of port_xmit_data and port_rcv_data (InfiniBand Architecture, PortCounters: octets over 4)."""
COUNTER = re.compile(
    r"class/(?:infiniband/([^/]+)/ports/([^/]+)/(?:hw_)?counters|cxi/([^/]+)/device/telemetry)/([^/]+)"
)
RATE = re.compile(r"class/infiniband/([^/]+)/ports/([^/]+)/rate")
NUMA_NODE = "class/{}/{}/device/numa_node"
PROCESSORS = "devices/system/node/node{}/cpulist"
OCTETS = {
    "port_xmit_data": ("sent", IB_WORD),
    "port_rcv_data": ("received", IB_WORD),
    "hni_sts_tx_ok_octets": ("sent", 1),
    "hni_sts_rx_ok_octets": ("received", 1),
}
"""Counters of bytes: the direction, and the bytes of one."""


@dataclass(frozen=True)
class HostNetwork:
    """A host as the recorder saw it. Values are as the system's files state them."""

    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> tuple[str, str] | None:
        """SLURM_TOPOLOGY_ADDR and its pattern."""
        address, pattern = (self.before.get(f"SLURM_TOPOLOGY_ADDR{suffix}") for suffix in ("", "_PATTERN"))
        return (address, pattern) if address and pattern else None


@dataclass(frozen=True)
class Adapter:
    """What an adapter's port counted while the program ran. A counter that wrapped or was reset is left out."""

    host: str
    name: str
    rate: str = ""
    processors: str = ""
    """Of its NUMA node, as the system lists them; empty: not stated."""
    seconds: float | None = None
    counted: Mapping[str, int] = field(default_factory=dict)
    """By the system's name of the counter, its difference."""

    def octets(self, direction: str) -> int | None:
        """Bytes that were `sent` or `received`; None: not counted."""
        of = {name: factor for name, (where, factor) in OCTETS.items() if where == direction}
        found = [self.counted[name] * factor for name, factor in of.items() if name in self.counted]
        return sum(found) if found else None


def recorder_lines(text: str) -> dict[str, str]:
    """A file that the recorder left: lines of a name, a blank and a value."""
    pairs = (line.partition(" ") for line in text.splitlines())
    return {name: value for name, blank, value in pairs if blank}


def write_hosts(directory: Path, hosts: Mapping[str, HostNetwork]) -> None:
    """Write ``network.json``."""
    content = {host: asdict(one) for host, one in hosts.items()}
    write_whole(directory / NETWORK, json.dumps({"hosts": content}, indent=1) + "\n")


def read_hosts(directory: Path) -> dict[str, HostNetwork]:
    """By host, what was recorded; empty where nothing was. Raises InputError when the file is damaged."""
    path = directory / NETWORK
    if not path.is_file():
        return {}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["hosts"]
        return {
            str(host): HostNetwork(*({str(k): str(v) for k, v in one[when].items()} for when in ("before", "after")))
            for host, one in found.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it, and analyze again") from error


def adapters(hosts: Mapping[str, HostNetwork]) -> list[Adapter]:
    """Every port whose counters were read before and after, by host and name."""
    found: list[Adapter] = []
    for host, one in sorted(hosts.items()):
        counted: dict[str, dict[str, int]] = {}
        rates: dict[str, str] = {}
        next_to: dict[str, str] = {}
        for path, text in one.after.items():
            if (rate := RATE.fullmatch(path)) is not None:
                rates[f"{rate[1]} port {rate[2]}"] = text
            match = COUNTER.fullmatch(path)
            change = _change(one.before.get(path), text)
            if match is not None and change is not None:
                name = match[3] or f"{match[1]} port {match[2]}"
                counted.setdefault(name, {})[match[4]] = change
                next_to[name] = _processors(one.after, match[1] or match[3])
        times = [float(when["seconds"]) for when in (one.before, one.after) if _number(when.get("seconds")) is not None]
        seconds = times[1] - times[0] if len(times) == 2 else None
        found += [
            Adapter(host, name, rates.get(name, ""), next_to[name], seconds, values)
            for name, values in sorted(counted.items())
        ]
    return found


def _processors(read: Mapping[str, str], adapter: str) -> str:
    nodes = [read[place] for kind in ("infiniband", "cxi") if (place := NUMA_NODE.format(kind, adapter)) in read]
    return read.get(PROCESSORS.format(nodes[0]), "") if nodes else ""


def _change(before: str | None, after: str) -> int | None:
    first, last = _number(before), _number(after)
    return None if first is None or last is None or last < first else last - first


def _number(text: str | None) -> int | None:
    """The whole number before CXI's time (12@1633634590.29) or a decimal point."""
    found = re.match(r"\d+", text or "")
    return int(found[0]) if found else None


def recorded_topology(directory: Path, hosts: Collection[str]) -> tuple[SiteTopology | None, list[str]]:
    """The network recorded with an archive, and why it is not known. What is damaged costs the network alone."""
    path = directory / TOPOLOGY
    if len(set(hosts)) < 2:
        return None, []  # no message takes the network
    try:
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            return parse_text(text, f"{TOPOLOGY} of the recording", hosts), []
        addresses = {host: one.address for host, one in read_hosts(directory).items() if one.address is not None}
        return (slurm.from_addresses(addresses) if addresses else None), []
    except (InputError, ValueError, OSError) as error:
        return None, [f"network: not taken from the recording: {error}"]
