"""The output of ibnetdiscover: every node of an InfiniBand fabric, with a line for each of its cabled ports.

    Switch  24 "S-005442ba00003080"         # "ISR9024 Voltaire" base port 0 lid 6 lmc 0
    [22]    "H-0008f10403961354"[1](8f10403961355)         # "node01 HCA-1" lid 4 4xSDR

A host is the first word of its adapters' descriptions ("node01 HCA-1"); several adapters may belong to one. Adapters
that share a whole description state no host, and keep their own names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from logpost.machines.site.wiring import SOURCE, SiteTopology, Wiring
from logpost.machines.values.quantity import Bandwidth

LANE_GBIT_S = {
    "SDR": 2.0,
    "DDR": 4.0,
    "QDR": 8.0,
    "FDR10": 10.0,
    "FDR": 13.636,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
"""Data rate of one lane after its line code (8b/10b up to QDR, then 64b/66b): InfiniBand Trade Association, roadmap."""
_NODE = re.compile(r'^(Switch|Ca|Rt)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]*)"')
_PORT = re.compile(r'^\[(\d+)\](?:\[ext [^\]]*\])?(?:\([0-9a-fA-Fx]+\))?\s+"([^"]+)"\[(\d+)\]')
_RATE = re.compile(r"\s(\d+)x([A-Z]DR(?:10)?)\b")


def is_topology(text: str) -> bool:
    """Whether a text is ibnetdiscover's."""
    return any(_NODE.match(line) for line in text.splitlines())


def topology(text: str, origin: str, hosts: Collection[str]) -> SiteTopology:
    """The fabric. Its bandwidth is stated where all cables have the same rate."""
    described: dict[str, str] = {}
    cables: dict[frozenset[tuple[str, str]], None] = {}
    rates: Counter[tuple[int, str]] = Counter()
    here = ""
    for line in text.splitlines():
        node = _NODE.match(line)
        port = _PORT.match(line)
        if node is not None:
            here = node[2]
            if node[1] == "Ca":
                described[here] = node[3]
        elif port is not None and here:
            ends = frozenset({(here, port[1]), (port[2], port[3])})
            if ends not in cables and len(ends) == 2:
                cables[ends] = None
                rate = _RATE.search(line)
                rates[(int(rate[1]), rate[2]) if rate else (0, "")] += 1
    names = _hosts(described)
    wiring = Wiring(hosts=list(dict.fromkeys(names.values())))
    for ends in cables:
        switch, other = (node for node, _ in sorted(ends, key=lambda end: (end[0] in names, end)))
        if switch not in names:
            wiring.cables.setdefault(switch, []).append(names.get(other, other))
    bandwidth, notes = _bandwidth(rates)
    return wiring.topology(origin, hosts, bandwidth, notes)


def _hosts(described: dict[str, str]) -> dict[str, str]:
    """By adapter, the host that it is in."""
    shared = Counter(described.values())
    return {node: node if shared[text] > 1 or not text.split() else text.split()[0] for node, text in described.items()}


def _bandwidth(rates: Counter[tuple[int, str]]) -> tuple[Bandwidth | None, list[str]]:
    known = [(lanes, speed) for lanes, speed in rates if speed in LANE_GBIT_S]
    if len(rates) != 1 or not known:
        shown = ", ".join(f"{count} of {lanes}x{speed}" for (lanes, speed), count in rates.most_common(4) if speed)
        return None, [f"no link bandwidth is taken: cables differ or state no rate ({shown or 'none is stated'})"]
    lanes, speed = known[0]
    rate = lanes * LANE_GBIT_S[speed]
    return Bandwidth(value=rate, unit="Gbit/s", source=SOURCE, note=f"{lanes}x{speed}, data rate"), []
