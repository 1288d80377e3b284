"""What a machine file may say. One file is one machine at one date: a publication or a measurement, never edited.

The tables below are the schema; `logpost machines template` prints a commented file that uses them. Every number with a
physical meaning is a `Quantity` with unit and source. Plain integers are coordinates of a table (`size_bytes`,
`burst`), with the unit in the name. What a source does not give is left out, and stays `None` here: a model that
needs it names it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from logpost.errors import InputError
from logpost.machines.profiles.load import load_profile
from logpost.machines.profiles.profile import LibraryProfile
from logpost.machines.schema.consistency import refuse_contradictions
from logpost.machines.schema.places import quantities
from logpost.machines.topologies import AnyTopology
from logpost.machines.topologies.mapping import Mapping
from logpost.machines.values.quantity import (
    Bandwidth,
    Bytes,
    Count,
    Frequency,
    PositiveBytes,
    PositiveCount,
    Quantity,
    Ratio,
    Table,
    Time,
    TimePerByte,
)
from logpost.machines.values.units import LARGEST, UNITS

FORMAT = 1
"""The version of the schema that files state."""
NAME = r"^[a-z0-9][a-z0-9_.-]*$"
NonNegative = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]


def _date_text(date: object) -> object:
    """A TOML date (written without quotes) as the text that the schema stores."""
    return date.isoformat()[:10] if isinstance(date, datetime.date) else date


def _refuse_doubled(points: Sequence[BaseModel], *coordinates: str) -> None:
    """Raise ValueError when two points of a table have the same coordinates: one of them would be lost."""
    seen: set[tuple[object, ...]] = set()
    for point in points:
        key = tuple(getattr(point, name) for name in coordinates)
        if key in seen:
            shown = (
                f"no {name}" if part is None else f'{name} = "{part}"' if isinstance(part, str) else f"{name} = {part}"
                for name, part in zip(coordinates, key, strict=True)
            )
            raise ValueError(f"gives {', '.join(shown)} twice; keep one")
        seen.add(key)


class Source(BaseModel):
    """Where numbers come from: a paper, a repository, a manual or web page that was read, or a measurement."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: Literal["paper", "repository", "manual", "web", "measurement", "estimate"]
    text: str = Field(min_length=1)
    date: str | None = None
    url: str | None = None
    path: str | None = None
    host: str | None = None
    method: str | None = None

    @field_validator("date", mode="before")
    @classmethod
    def _unquoted(cls, date: object) -> object:
        return _date_text(date)

    @model_validator(mode="after")
    def _complete(self) -> Source:
        needed = {"measurement": ("date", "host", "method"), "repository": ("url", "path"), "web": ("url",)}
        for name in needed.get(self.kind, ()):
            if not getattr(self, name):
                raise ValueError(f'a source of kind {self.kind!r} needs {name} = "..."')
        return self


class Clock(Table):
    """Clocks. `processor` is what a `cycle` means."""

    processor: Frequency | None = None
    memory_bus: Frequency | None = None
    network: Frequency | None = None


class Node(Table):
    """One node: how many ranks share it, and what it is made of."""

    processors: PositiveCount | None = None
    sockets: PositiveCount | None = None
    description: str | None = None


class Nic(Table):
    """The network interface: where it sits, how many a node has, how fast it takes data, what it can hold."""

    location: str | None = None
    per_node: PositiveCount | None = None
    injection_rate: Bandwidth | None = None
    link_rate: Bandwidth | None = None
    queue: Bytes | None = None
    tlb_entries: Count | None = None


class CacheMiss(Table):
    """One kind of cache miss and its price."""

    access: Literal["load", "store"]
    home: Literal["local", "remote", "remote 2-party", "remote 3-party"]
    invalidations: NonNegative | None = None
    handled_by: Literal["hardware", "software"]
    penalty: Time


class Memory(Table):
    """Memory and caches of a node."""

    copy_rate: Bandwidth | None = None
    reduction: TimePerByte | None = None
    """gamma: of each byte of an operand that a reduction combines with another one"""
    size: Bytes | None = None
    cache: Bytes | None = None
    cache_line: PositiveBytes | None = None
    local_miss: Time | None = None
    remote_miss: Time | None = None
    gather_scatter_per_line: Time | None = None
    miss: list[CacheMiss] = Field(default_factory=list)


class Network(Table):
    """The network as a whole, in the terms of SENS Table 1."""

    bisection: Bandwidth | None = None
    bisection_per_cycle: Bandwidth | None = None
    packet_latency: Time | None = None
    packet: PositiveBytes | None = None
    null_message: Time | None = None
    per_hop_message: Time | None = None
    per_hop_miss: Time | None = None


class Range(Table):
    """LogGP values for messages up to `up_to_bytes` (without it: of any size).

    o_s + o_s_per_byte B is the send overhead, L the latency of the first byte, G the gap per further byte,
    g the gap between messages, o_r + o_r_per_byte B the receive overhead. `round_trip_L` is for sources that
    print the round trip; L is then its half.
    """

    up_to_bytes: NonNegative | None = None
    L: Time | None = None
    round_trip_L: Time | None = None
    o_s: Time | None = None
    o_s_per_byte: TimePerByte | None = None
    o_r: Time | None = None
    o_r_per_byte: TimePerByte | None = None
    g: Time | None = None
    G: TimePerByte | None = None

    @model_validator(mode="after")
    def _one_latency(self) -> Range:
        if self.L is not None and self.round_trip_L is not None:
            raise ValueError("has both L and round_trip_L; keep the one that the source prints")
        return self


class LocalityClass(Table):
    """The ranges of one locality class. Values directly in the class are one range of any size."""

    eager_limit: Bytes | None = None
    range: list[Range] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _single(cls, raw: object) -> object:
        if not isinstance(raw, dict):
            return raw
        direct = {key: raw[key] for key in Range.model_fields if key in raw}
        if not direct:
            return raw
        if "range" in raw:
            raise ValueError(
                f"has {', '.join(sorted(direct))} in addition to range; move them into one of the [[...range]] tables"
            )
        rest = {key: item for key, item in raw.items() if key not in direct}
        return {**rest, "range": [direct]}

    @field_validator("range")
    @classmethod
    def _sorted(cls, ranges: list[Range]) -> list[Range]:
        limits = [r.up_to_bytes for r in ranges]
        if None in limits[:-1]:
            raise ValueError("has a range without up_to_bytes before the last one; only the last may be open")
        if len(limits) > 1 and limits[-1] is None and limits[-2] == LARGEST:
            raise ValueError(f"has a range after up_to_bytes = {LARGEST}, which no message exceeds; leave it out")
        closed = [limit for limit in limits if limit is not None]
        for low, high in pairwise(closed):
            if low >= high:
                raise ValueError(f"has up_to_bytes = {high} after {low}; list the ranges by increasing up_to_bytes")
        return ranges

    def spans(self, smallest: int, largest: int) -> Iterator[tuple[int, int, Range]]:
        """Smallest and largest size of each range, in their order; the open one ends at `largest`.

        A range without a size from `smallest` on is left out.
        """
        low = smallest
        for found in self.range:
            high = max(largest, low) if found.up_to_bytes is None else found.up_to_bytes
            if high >= low:
                yield low, high, found
                low = high + 1


class LogGP(Table):
    """LogGP values per locality class: to oneself, in one socket, in one node, between nodes."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    to_self: LocalityClass | None = Field(default=None, alias="self")
    same_socket: LocalityClass | None = None
    same_node: LocalityClass | None = None
    other_node: LocalityClass | None = None

    def of(self, locality: str) -> LocalityClass | None:
        """The table of one locality class, None when the file does not give it."""
        found = self._table(locality)
        return found if found is not None and found.range else None

    def eager_limit(self, locality: str) -> Bytes | None:
        """Largest message that the class sends without a handshake, None when the file does not give it."""
        found = self._table(locality)
        return None if found is None else found.eager_limit

    def _table(self, locality: str) -> LocalityClass | None:
        found: LocalityClass | None = getattr(self, "to_self" if locality == "self" else locality)
        return found


class LoGPC(Table):
    """What LoGPC adds: the receiver's interrupt and DMA, and how a byte loads a channel.

    `channel_load` = "printed": a byte occupies a channel for one cycle, as LOGPC eq. (4) has it; "consistent": for the
    link's time per byte.
    """

    G_m: TimePerByte | None = None
    header_before_interrupt: Bytes | None = None
    dma_setup: Time | None = None
    interrupt: Time | None = None
    dma_contention: Ratio | None = None
    channel_load: Literal["printed", "consistent"] = "consistent"


class Log3PPoint(Table):
    """log3P at one message size and stride (stride_bytes absent: contiguous).

    alone: l_mw holds for this size, block and stride; others are not read from it. l_mw_self: of a message to oneself,
    which one processor packs and unpacks.
    """

    size_bytes: NonNegative
    stride_bytes: Positive | None = None
    block_bytes: Positive | None = None
    alone: bool = False
    o_mw: Time | None = None
    l_mw: Time | None = None
    l_mw_self: Time | None = None
    o_net: Time | None = None
    T_mem: Time | None = None

    @model_validator(mode="after")
    def _stride_of_l_mw(self) -> Log3PPoint:
        for name in ("l_mw", "l_mw_self"):
            if getattr(self, name) is not None and self.stride_bytes is None:
                raise ValueError(
                    f"has {name} without stride_bytes: contiguous data have none; give the stride or leave it out"
                )
        return self


class Log3P(Table):
    """The log3P tables: o_mw, o_net and T_mem over size, l_mw over (size, stride)."""

    short_limit: Bytes | None = None
    long_limit: Bytes | None = None
    point: list[Log3PPoint] = Field(default_factory=list)

    @field_validator("point")
    @classmethod
    def _distinct(cls, points: list[Log3PPoint]) -> list[Log3PPoint]:
        _refuse_doubled(points, "size_bytes", "stride_bytes", "block_bytes")
        return points


class OneSidedPoint(Table):
    """T: how long a put or get of `size_bytes` between two ranks of a node lasts, until its origin knows it complete at
    the target."""

    operation: Literal["put", "get"]
    size_bytes: NonNegative
    T: Time


class OneSided(Table):
    """One-sided transfers within a node."""

    point: list[OneSidedPoint] = Field(default_factory=list)

    @field_validator("point")
    @classmethod
    def _distinct(cls, points: list[OneSidedPoint]) -> list[OneSidedPoint]:
        _refuse_doubled(points, "operation", "size_bytes")
        return points


class OverheadPoint(Table):
    """o(S, b): time per initiation of a message of `size_bytes` in a burst of `burst`."""

    size_bytes: NonNegative
    burst: Positive
    o: Time


class GapPoint(Table):
    """G(P, S, pattern): time per byte of a pair when `processors` communicate in a pattern.

    `level` is the lowest or highest bandwidth that a pair reached (Iancu's G^l and G^h).
    """

    processors: Positive
    size_bytes: NonNegative
    pattern: Literal["nearest-neighbour", "cross-section"]
    level: Literal["lowest", "highest"]
    G: TimePerByte


class Overlap(Table):
    """What Iancu and Strohmaier's overlap model needs in addition to L."""

    HD: PositiveCount | None = None
    outstanding: PositiveBytes | None = None
    base_ratio: Ratio | None = None
    o: list[OverheadPoint] = Field(default_factory=list)
    G: list[GapPoint] = Field(default_factory=list)

    @field_validator("o")
    @classmethod
    def _distinct_bursts(cls, points: list[OverheadPoint]) -> list[OverheadPoint]:
        _refuse_doubled(points, "size_bytes", "burst")
        return points

    @field_validator("G")
    @classmethod
    def _distinct_pairs(cls, points: list[GapPoint]) -> list[GapPoint]:
        _refuse_doubled(points, "processors", "size_bytes", "pattern", "level")
        return points


class Observation(Table):
    """A result that the source prints for this machine: no parameter, but a truth to compare with."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_.-]+$")
    what: str = Field(min_length=1)
    result: Quantity


class Machine(Table):
    """A machine file."""

    format: Literal[1]
    name: str = Field(pattern=NAME)
    title: str = Field(min_length=1)
    date: str
    kind: Literal["publication", "measurement", "documentation", "template"]
    notes: list[str] = Field(default_factory=list)
    sources: dict[str, Source] = Field(min_length=1)
    clock: Clock = Field(default_factory=Clock)
    node: Node = Field(default_factory=Node)
    nic: Nic = Field(default_factory=Nic)
    memory: Memory = Field(default_factory=Memory)
    topology: AnyTopology | None = None
    mapping: Mapping | None = None
    network: Network = Field(default_factory=Network)
    loggp: LogGP = Field(default_factory=LogGP)
    logpc: LoGPC = Field(default_factory=LoGPC)
    log3p: Log3P = Field(default_factory=Log3P)
    one_sided: OneSided = Field(default_factory=OneSided)
    overlap: Overlap = Field(default_factory=Overlap)
    observed: list[Observation] = Field(default_factory=list)
    library: LibraryProfile | None = None
    """what its MPI library does that a trace does not show; the name of a profile stands for its table"""

    @field_validator("library", mode="before")
    @classmethod
    def _named(cls, library: object) -> object:
        if not isinstance(library, str):
            return library
        try:
            return load_profile(library)
        except InputError as error:
            raise ValueError(str(error)) from error

    @field_validator("date", mode="before")
    @classmethod
    def _unquoted(cls, date: object) -> object:
        return _date_text(date)

    @field_validator("date")
    @classmethod
    def _dated(cls, date: str) -> str:
        if not re.fullmatch(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?", date):
            raise ValueError('must be written "1996", "1996-02" or "1996-02-28"')
        if len(date) == len("1996-02-28"):
            try:
                datetime.date.fromisoformat(date)
            except ValueError as error:
                raise ValueError("is not a calendar date") from error
        return date

    @model_validator(mode="after")
    def _fits_together(self) -> Machine:
        refuse_contradictions(self)
        return self

    @property
    def year(self) -> int:
        """Year of the publication or measurement."""
        return int(self.date[:4])

    @property
    def clock_hz(self) -> float | None:
        """The processor clock in Hz, None when the file does not give it."""
        return None if self.clock.processor is None else self.clock.processor.base()

    @property
    def lacks_clock(self) -> bool:
        """Whether values are in cycles and the file does not say how long a cycle is: none of them is a time then."""
        if self.clock_hz is not None:
            return False
        return any(UNITS[quantity.unit].in_cycles for _, quantity in quantities(self))
