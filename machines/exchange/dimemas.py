"""A Dimemas configuration (.cfg) as a machine file.

In Dimemas a message occupies its sender for the startup, then takes size / bandwidth; there is no further latency. So

    o_s = startup    L = o_r = g = 0    G = 1 / bandwidth

A receive's own startup, which Dimemas charges where the receive is posted, is hidden where the receiver waits, and has
no counterpart. Links are the NICs of a node, and the network is a crossbar whose links carry as much as these.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from logpost.errors import InputError
from logpost.machines.exchange.dimemas_records import Environment, Node, Record, environment, node, records
from logpost.machines.schema import Machine
from logpost.machines.schema.load import check_machine

MB = 2**20
"""Bytes, as Dimemas counts them."""
_SOURCE = "DIMEMAS"
_OTHER_RECORDS = {
    "modules information": "ratios of event types, which a run does not have: whatif --scale-compute REGION=F instead",
    "dedicated connection information": "connections between machines",
    "configuration files": "further files: schedulers, file systems, tuned collectives, randomness",
    "file system parameters": "the file system",
}
_MODELS = {1: "constant", 2: "linear", 3: "logarithmic"}


@dataclass(frozen=True)
class Imported:
    """The machine, and what a machine file does not hold."""

    machine: Machine
    scale_compute: tuple[str, ...]
    """processor ratios, as `whatif --scale-compute` takes them"""
    left_out: tuple[str, ...]
    """a sentence for each thing without a counterpart"""


def import_dimemas(path: Path, name: str | None = None) -> Imported:
    """Reads a configuration.

    Args:
        path: the .cfg file.
        name: of the machine; by default made of the file's.

    Raises:
        InputError: it cannot be read, is no configuration, or contradicts itself.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        day = datetime.datetime.fromtimestamp(path.stat().st_mtime, tz=datetime.timezone.utc).date()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    found = records(text, str(path))
    here, nodes, left_out = _machine_of(found, path)
    common, others = _common(nodes, path)
    left_out += _uncommon(nodes, common)
    left_out += list(_without_counterpart(found, here, common))
    raw = _document(here, common, nodes, found, path, day, name)
    machine, problems = check_machine(raw, str(path))
    if machine is None:
        raise InputError(f"{path} makes no valid machine: {problems[0]}")
    ratios, more = _ratios(nodes, common, others)
    return Imported(machine, ratios, tuple(left_out + more))


def _machine_of(found: Sequence[Record], path: Path) -> tuple[Environment, list[Node], list[str]]:
    """The first machine, its nodes in order, and what is said of further machines."""
    machines = [environment(record) for record in found if record.name == "environment information"]
    if not machines:
        raise InputError(f'{path} has no "environment information": it describes no machine')
    here = machines[0]
    every = [node(record) for record in found if record.name in ("node information", "multi node information")]
    nodes = [one for one in every if one.machine == here.machine]
    count = sum(one.count for one in nodes)
    if count != here.nodes:
        raise InputError(f"{path}: machine {here.machine} has {here.nodes} nodes, but records for {count}")
    if not nodes:
        raise InputError(f"{path}: machine {here.machine} has no nodes")
    more = [
        f"machine {one.machine} ({_number(one.nodes, 'node', 'nodes')}): a machine file holds one machine"
        for one in machines[1:]
    ]
    return here, nodes, more


def _common(nodes: Sequence[Node], path: Path) -> tuple[Node, bool]:
    """What most nodes are like, and whether there are others."""
    kinds: Counter[Node] = Counter()
    for one in nodes:
        kinds[_kind(one)] += one.count
    if any(one.processors < 1 for one in kinds):
        raise InputError(f"{path}: a node has no processors")
    return kinds.most_common(1)[0][0], len(kinds) > 1


def _kind(one: Node) -> Node:
    return Node(**{field.name: getattr(one, field.name) for field in fields(Node)} | {"count": 1})


def _spans(nodes: Sequence[Node]) -> Iterator[tuple[str, range, Node]]:
    """Each record's nodes: words, numbers, values."""
    first = 0
    for one in nodes:
        numbers = range(first, first + one.count)
        first += one.count
        words = f"node {numbers[0]}" if one.count == 1 else f"nodes {numbers[0]} to {numbers[-1]}"
        if one.count:
            yield words, numbers, one


def _uncommon(nodes: Sequence[Node], common: Node) -> list[str]:
    """Values of nodes that differ from most others', but for processor ratios."""
    said = []
    for words, _, one in _spans(nodes):
        for field in fields(Node):
            mine, most = getattr(one, field.name), getattr(common, field.name)
            if field.name not in ("count", "ratio", "machine") and mine != most:
                name = field.name.replace("_", " ")
                said.append(f"{words}: {name} {mine:g} where most nodes have {most:g}; a machine file has one for all")
    return said


def _ratios(nodes: Sequence[Node], common: Node, others: bool) -> tuple[tuple[str, ...], list[str]]:
    """`--scale-compute` of each node's ratio (its computation takes the recorded time over the ratio; 0: no time)."""
    factors: list[str] = []
    said: list[str] = []
    alike = len({one.ratio for one in nodes}) == 1
    for words, numbers, one in _spans(nodes):
        if one.ratio < 0:
            said.append(f"{words}: bursts of {-one.ratio:g} s whatever they were; a replay scales measured times")
        elif one.ratio != 1:
            factor = f"{0 if one.ratio == 0 else 1 / one.ratio:.9g}"
            factors += [factor] if alike else [f"node:{number}={factor}" for number in numbers]
        if alike:
            break
    return tuple(factors), said


def _without_counterpart(found: Sequence[Record], here: Environment, common: Node) -> Iterator[str]:
    if here.buses:
        buses = _number(here.buses, "bus", "buses")
        yield f"{buses}: at most so many messages at once in the whole network; a crossbar has no such limit"
    if common.intra_buses:
        buses = _number(common.intra_buses, "bus", "buses")
        yield f"{buses} within a node: at most so many messages at once in its memory"
    if common.output_links == 0 < common.input_links:
        yield f"{common.input_links} half-duplex links: a NIC here sends and receives at once"
    elif common.input_links != common.output_links:
        yield f"{common.input_links} input and {common.output_links} output links: the NICs are the smaller number"
    if here.collectives != 3:
        model = _MODELS.get(here.collectives, "unknown")
        yield f"{model} model of collective operations: they are replayed as the messages of their algorithms"
    if common.inter_startup or common.intra_startup:
        yield "the receiver's startup, where a receive is posted: a receive takes o_r = 0"
    for record in found:
        why = _OTHER_RECORDS.get(record.name)
        if why and any(field not in ("", "0", "0.0") for field in record.fields) and _matters(record):
            yield f"{record.name}: {why}"


def _matters(record: Record) -> bool:
    """A file system without latency and bandwidth is none."""
    return record.name != "file system parameters" or any(record.size(i, "disk") for i in (0, 1))


def _document(
    here: Environment,
    common: Node,
    nodes: Sequence[Node],
    found: Sequence[Record],
    path: Path,
    day: datetime.date,
    name: str | None,
) -> dict[str, Any]:
    """The machine file as a document."""
    links = min(common.input_links, common.output_links) or common.input_links or common.output_links
    topology: dict[str, Any] = {"kind": "crossbar", "nodes": here.nodes, "source": _SOURCE}
    if here.bandwidth:
        note = "one per link of a node" if links else "links without limit; one message's"
        topology["link_bandwidth"] = {"value": max(1, links) * here.bandwidth, "unit": "MiB/s", "note": note}
    document: dict[str, Any] = {
        "format": 1,
        "name": name or _named(path),
        "title": here.name or f"Dimemas configuration {path.name}",
        "date": day.isoformat(),
        "kind": "documentation",
        "source": _SOURCE,
        "notes": [
            "Of a Dimemas configuration, whose MB is 2^20 bytes: the startup occupies the sender (o_s), and nothing "
            "but size / bandwidth follows (L = 0)."
        ],
        "sources": {_SOURCE: {"kind": "manual", "text": f"Dimemas configuration {path.name}", "path": str(path)}},
        "node": {"processors": common.processors},
        "topology": topology,
        "loggp": {
            "same_node": _class(common.intra_startup, common.intra_bandwidth),
            "other_node": _class(common.inter_startup, here.bandwidth),
        },
    }
    if links:
        document["nic"] = {"per_node": links}
    mapping = _mapping(found, here, common)
    return document | ({"mapping": mapping} if mapping else {})


def _class(startup: float, bandwidth: float) -> dict[str, Any]:
    nothing = {"value": 0, "unit": "ns", "basis": "inferred", "note": "Dimemas has no such term"}
    gap: dict[str, Any] = {"value": 0, "note": "bandwidth 0: transfers have no duration"}
    if bandwidth:
        gap = {"value": 1e9 / (bandwidth * MB), "note": f"1 / {bandwidth:g} MB/s"}
    return {
        "L": nothing,
        "o_s": {"value": startup * 1e9, "unit": "ns"},
        "o_r": nothing,
        "g": nothing,
        "G": {"unit": "ns/B", "basis": "derived", **gap},
    }


def _mapping(found: Sequence[Record], here: Environment, common: Node) -> dict[str, Any]:
    """The placement of the tasks, if one is stated."""
    for record in found:
        if record.name == "mapping information":
            listed = re.search(r"\{([^{}]*)\}", record.fields[-1])
            try:
                return (
                    {"kind": "list", "nodes_of_ranks": [int(word) for word in listed[1].split(",")]} if listed else {}
                )
            except ValueError:
                raise record.odd(len(record.fields) - 1, "list of nodes", "numbers in braces") from None
        if record.name == "predefined mapping information":
            words = record.fields[-1].split()
            if words == ["FILL_NODES"]:
                return {"kind": "block", "ranks_per_node": common.processors}
            if words == ["INTERLEAVED"]:
                return {"kind": "cyclic", "nodes": here.nodes}
            if words[1:] == ["TASKS_PER_NODE"] and words[0].isdecimal() and int(words[0]) > 0:
                return {"kind": "block", "ranks_per_node": int(words[0])}
            raise record.odd(len(record.fields) - 1, "map", "FILL_NODES, INTERLEAVED or N TASKS_PER_NODE")
    return {}


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _named(path: Path) -> str:
    """A machine's name of a file's."""
    return re.sub(r"[^a-z0-9_.-]+", "-", path.stem.lower()).strip("-_.") or "dimemas"
