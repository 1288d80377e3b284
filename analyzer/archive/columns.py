"""Columns that the reader of archives gives out, by table: the keys of its dictionaries, with their types."""

from __future__ import annotations

from typing import Literal, TypedDict

from logpost.replay.columns import Int32, Int64, UInt8, UInt64


class Locations(TypedDict):
    ref: UInt64
    name: list[str]
    type: UInt8
    group: Int32
    node: Int32
    rank: Int32
    core: list[str]
    process: Int32
    socket: Int32
    first_ps: Int64
    last_ps: Int64
    events: UInt64
    communication_events: UInt64


class Regions(TypedDict):
    name: list[str]
    file: list[str]
    line: Int32
    kind: UInt8
    paradigm: UInt8


Nodes = TypedDict("Nodes", {"name": list[str], "class": list[str], "parent": Int32, "cores": Int32})


class Communicators(TypedDict):
    ref: UInt64
    name: list[str]
    parent: Int32
    size: Int32
    first_group: Int32
    members: list[Int32]


class DetailLevels(TypedDict):
    location: Int32
    call: Int32
    level: Int32


class Samples(TypedDict):
    location: Int32
    at_ps: Int64
    callpath: Int32
    line: Int32
    periods: Int32


class FileCalls(TypedDict):
    location: Int32
    callpath: Int32
    enter_ps: Int64
    leave_ps: Int64


class AnySource(TypedDict):
    location: Int32
    number: Int32


class Callpaths(TypedDict):
    parent: Int32
    region: Int32
    line: Int32
    file: list[str]


class Layouts(TypedDict):
    blocks: UInt64
    block_bytes: UInt64
    stride_bytes: Int64
    extent_bytes: UInt64


class Profile(TypedDict):
    callpath: Int32
    location: Int32
    visits: UInt64
    inclusive_ps: Int64
    exclusive_ps: Int64
    first_enter_ps: Int64
    last_leave_ps: Int64


class ThreadSpans(TypedDict):
    location: Int32
    instance: Int32
    callpath: Int32
    place: Int32
    category: UInt8
    begin_ps: Int64
    end_ps: Int64


class Streams(TypedDict):
    location: Int32
    kernels: UInt64
    copies: UInt64
    bytes_to_device: UInt64
    bytes_to_host: UInt64
    kernel_ps: Int64
    copy_ps: Int64


class Quality(TypedDict):
    name: str
    severity: Literal["info", "error", "data_loss"]
    blame: Literal["trace", "analysis", "program"]
    count: int
    sentence: str
