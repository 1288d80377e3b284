"""The records of a Dimemas configuration: their names and fields, and the values that each has for a machine.

    "environment information" {"name", 0, "arch", 4, 250.0, 8, 1};;

Definitions of records, which older files have before them, and comments are passed over. Latencies are in seconds; a
"MB" of a bandwidth is 2^20 bytes, as in Dimemas's own arithmetic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from logpost.errors import InputError

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", re.DOTALL | re.MULTILINE)
_RECORD = re.compile(r'"([\w ]+)"\s*\{((?:[^{}"]|"[^"]*"|\{[^{}]*\})*)\}\s*;;')
_DEFINITION = re.compile(r'\b(?:int|double|char)(?:\[\])?\s*"')
_FIELD = re.compile(r'\s*((?:"[^"]*"|\{[^{}]*\}|\[[^\]]*\]|[^,{}"\[])*)(?:,|$)')


@dataclass(frozen=True)
class Record:
    """One record: its name and its fields as text, quotes taken off."""

    file: str
    name: str
    fields: tuple[str, ...]

    def whole(self, place: int, what: str) -> int:
        """A field that is a whole number, not negative."""
        value = self.number(place, what)
        if value != int(value) or value < 0:
            raise self.odd(place, what, "a whole number that is not negative")
        return int(value)

    def number(self, place: int, what: str) -> float:
        """A field that is a finite number."""
        try:
            value = float(self.fields[place])
        except ValueError:
            raise self.odd(place, what, "a number") from None
        if value != value or abs(value) == float("inf"):
            raise self.odd(place, what, "a finite number")
        return value

    def size(self, place: int, what: str) -> float:
        """A field that is a number, not negative."""
        value = self.number(place, what)
        if value < 0:
            raise self.odd(place, what, "a number that is not negative")
        return value

    def odd(self, place: int, what: str, wanted: str) -> InputError:
        """What is wrong with a field."""
        return InputError(
            f'{self.file}: "{self.name}": {what} (field {place + 1}) is {self.fields[place]!r}; it must be {wanted}'
        )


@dataclass(frozen=True)
class Environment:
    """The nodes' network. Bandwidth 0: transfers have no duration; buses 0: no limit."""

    name: str
    machine: int
    nodes: int
    bandwidth: float
    """2^20 B/s"""
    buses: int
    collectives: int


@dataclass(frozen=True)
class Node:
    """One kind of node. Startups in s, bandwidth in 2^20 B/s."""

    machine: int
    count: int
    processors: int
    ratio: float
    intra_startup: float
    intra_bandwidth: float
    intra_buses: int
    inter_startup: float
    input_links: int
    output_links: int
    wan_startup: float


def records(text: str, file: str) -> list[Record]:
    """The records of a configuration.

    Raises:
        InputError: there are none.
    """
    found = [
        Record(file, name, tuple(field.strip().strip('"').strip() for field in _FIELD.findall(body.strip()) if field))
        for name, body in _RECORD.findall(_COMMENT.sub(" ", text))
        if not _DEFINITION.search(body)
    ]
    if not found:
        raise InputError(
            f'{file} is no Dimemas configuration: it has no record like "environment information" {{...}};;'
        )
    return found


def environment(record: Record) -> Environment:
    """An "environment information"."""
    _count(record, 7)
    return Environment(
        name=record.fields[0],
        machine=record.whole(1, "machine ID"),
        nodes=record.whole(3, "number of nodes"),
        bandwidth=record.size(4, "bandwidth"),
        buses=record.whole(5, "number of buses"),
        collectives=record.whole(6, "model of collectives"),
    )


def node(record: Record) -> Node:
    """A "node information", in any of its three forms, or a "multi node information"."""
    _count(record, *((14,) if record.name.startswith("multi") else (11, 13, 14)))
    machine = record.whole(0, "machine ID")
    if len(record.fields) == 11:
        return Node(
            machine=machine,
            count=1,
            processors=record.whole(3, "number of processors"),
            ratio=record.number(8, "processor ratio"),
            intra_startup=record.size(6, "startup within a node"),
            intra_bandwidth=record.size(9, "memory bandwidth"),
            intra_buses=0,
            inter_startup=record.size(7, "startup between nodes"),
            input_links=record.whole(4, "input links"),
            output_links=record.whole(5, "output links"),
            wan_startup=record.size(10, "startup of the external network"),
        )
    multi = record.name.startswith("multi")
    first = 2 if len(record.fields) == 14 else 1  # the architecture's name; before it the count, or an unused node id
    return Node(
        machine=machine,
        count=record.whole(1, "number of nodes") if multi else 1,
        processors=record.whole(first + 1, "number of processors"),
        ratio=record.number(first + 2, "processor ratio"),
        intra_startup=record.size(first + 3, "latency within a node"),
        intra_bandwidth=record.size(first + 4, "bandwidth within a node"),
        intra_buses=record.whole(first + 5, "buses within a node"),
        inter_startup=record.size(first + 8, "latency between nodes"),
        input_links=record.whole(first + 9, "input links"),
        output_links=record.whole(first + 10, "output links"),
        wan_startup=record.size(first + 11, "latency between machines"),
    )


def _count(record: Record, *counts: int) -> None:
    if len(record.fields) not in counts:
        wanted = " or ".join(map(str, counts))
        raise InputError(f'{record.file}: "{record.name}" has {len(record.fields)} fields; it must have {wanted}')
