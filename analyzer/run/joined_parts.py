"""Parquet files joined into one without decoding their rows.

The row groups are copied as they are. The footer is a structure `FileMetaData` in Thrift's compact protocol
(https://github.com/apache/parquet-format, `parquet.thrift`; https://github.com/apache/thrift,
`doc/specs/thrift-compact-protocol.md`): of it, positions in the file and numbers of row groups change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import NamedTuple

MAGIC = b"PAR1"
TAIL = 8
"""Bytes at the end of a file: the footer's length as 4 bytes, then the magic."""

BOOLEANS, BYTE, DOUBLE, BINARY, LIST, STRUCT = (1, 2), 3, 7, 8, 9, 12
"""Types of the compact protocol that are no integers; booleans of a structure are in the type itself."""


class Role(Enum):
    """What an integer that changes means."""

    position = "position"
    """in the file; 0: not stated, as no part begins there"""
    ordinal = "ordinal"
    """of a row group"""


Roles = Mapping[int, "Roles | Role"]
"""By the number of a structure's field."""

_OF_META_DATA: Roles = {9: Role.position, 10: Role.position, 11: Role.position, 14: Role.position}
_OF_COLUMN: Roles = {2: Role.position, 3: _OF_META_DATA, 4: Role.position, 6: Role.position}
_OF_ROW_GROUP: Roles = {1: _OF_COLUMN, 5: Role.position, 7: Role.ordinal}
NUM_ROWS, ROW_GROUPS = 3, 4
"""Fields of `FileMetaData`."""


class _Integer(NamedTuple):
    begin: int
    end: int
    value: int
    role: Role


class _Footer:
    """Reads a footer."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and type of each field of a structure; its value is to be read before the next one."""
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self.integer()
            yield field, head & 0x0F

    def items(self) -> tuple[int, int]:
        """Number and type of a list's elements."""
        head = self._byte()
        return (head >> 4 if head >> 4 != 0x0F else self._unsigned()), head & 0x0F

    def integer(self) -> int:
        """A number, whose sign is its lowest bit."""
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def read(self, kind: int, roles: Roles | Role | None, found: list[_Integer]) -> None:
        """Pass over a value; what of it has a role is found."""
        if kind == STRUCT:
            for field, inner in self.fields():
                if inner not in BOOLEANS:
                    self.read(inner, roles.get(field) if isinstance(roles, Mapping) else None, found)
        elif kind == LIST:
            size, inner = self.items()
            for _ in range(size):
                self.read(BYTE if inner in BOOLEANS else inner, roles, found)
        elif isinstance(roles, Role):
            begin = self.at
            value = self.integer()
            found.append(_Integer(begin, self.at, value, roles))
        elif kind == BINARY:
            size = self._unsigned()
            self.at += size
        elif kind in (BYTE, DOUBLE):
            self.at += 1 if kind == BYTE else 8
        else:
            self._unsigned()

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift


def _unsigned(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _number(value: int) -> bytes:
    """With its sign as the lowest bit; none here is negative."""
    return _unsigned(value << 1)


class _Part(NamedTuple):
    """A footer without its row groups."""

    before: bytes
    """up to the number of rows"""
    between: bytes
    """up to the list of row groups"""
    after: bytes
    rows: int
    groups: int


def _divided(data: bytes, shift: int, ordinal: int) -> tuple[_Part, bytes]:
    """A footer, and its row groups for a place `shift` bytes further, as the `ordinal`-th of their file and so on."""
    footer = _Footer(data)
    rows, groups = 0, 0
    of_rows, of_groups, elements = (0, 0), (0, 0), 0
    found: list[_Integer] = []
    for field, kind in footer.fields():
        begin = footer.at
        if field == NUM_ROWS:
            rows = footer.integer()
            of_rows = begin, footer.at
        elif field == ROW_GROUPS:
            groups, inner = footer.items()
            elements = footer.at
            for _ in range(groups):
                footer.read(inner, _OF_ROW_GROUP, found)
            of_groups = begin, footer.at
        else:
            footer.read(kind, None, found)
    pieces, at = [], elements
    for one in found:
        more = ordinal if one.role is Role.ordinal else shift if one.value else 0
        pieces += [data[at : one.begin], _number(one.value + more)]
        at = one.end
    pieces.append(data[at : of_groups[1]])
    part = _Part(data[: of_rows[0]], data[of_rows[1] : of_groups[0]], data[of_groups[1] :], rows, groups)
    return part, b"".join(pieces)


def join_parts(path: Path, parts: Iterable[memoryview]) -> None:
    """Write Parquet files of one table as one: what a writer of all of their row groups would have written.

    Args:
        path: of the file.
        parts: the bytes of at least one file, made by one writer with the same settings; each is read before the next
            is taken. Empty ones are no files.

    Raises:
        OSError: the system refuses the file.
    """
    first: _Part | None = None
    rows, groups = 0, 0
    all_groups = []
    with path.open("wb") as file:
        file.write(MAGIC)
        for part in filter(len, parts):
            end = len(part) - TAIL - int.from_bytes(part[-TAIL:-4], "little")
            found, of_part = _divided(bytes(part[end:-TAIL]), file.tell() - len(MAGIC), groups)
            file.write(part[len(MAGIC) : end])
            first = first or found
            rows, groups = rows + found.rows, groups + found.groups
            all_groups.append(of_part)
        assert first is not None
        head = bytes([groups << 4 | STRUCT]) if groups < 0x0F else bytes([0xF0 | STRUCT]) + _unsigned(groups)
        footer = b"".join([first.before, _number(rows), first.between, head, *all_groups, first.after])
        file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)
