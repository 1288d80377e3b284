"""Layouts: blocks, block length, stride and extent of every message whose datatype is not contiguous."""

from __future__ import annotations

import re
from pathlib import Path

from tests.collectors import recording

LAYOUTS = {
    # 2 doubles every 8: 16 B blocks every 64 B; extent 15 * 64 + 16
    0: "blocks=16 block_bytes=16 stride_bytes=64 extent_bytes=976",
    # 3 ints every 100 B: extent 3 * 100 + 12
    2: "blocks=4 block_bytes=12 stride_bytes=100 extent_bytes=312",
    # 2 doubles at 0, 40, 80 B: extent 80 + 16; the same by three constructors
    3: "blocks=3 block_bytes=16 stride_bytes=40 extent_bytes=96",
    5: "blocks=3 block_bytes=16 stride_bytes=40 extent_bytes=96",
    6: "blocks=3 block_bytes=16 stride_bytes=40 extent_bytes=96",
    # 1, 3, 2 doubles at 0, 32, 160 B: 48 B in 3 blocks, starts 80 B apart in the mean, extent 160 + 16
    4: "blocks=3 block_bytes=16 stride_bytes=80 extent_bytes=176 irregular=1",
    # 3 rows of 4 out of rows of 10: extent the whole 8 x 10 doubles; in Fortran's order 4 columns of 3 out of 8
    7: "blocks=3 block_bytes=32 stride_bytes=80 extent_bytes=640",
    8: "blocks=4 block_bytes=24 stride_bytes=64 extent_bytes=640",
    # 40 doubles dealt in pairs to 2 processes, the second one's: 10 pairs every 4
    9: "blocks=10 block_bytes=16 stride_bytes=32 extent_bytes=320",
    # 4 bytes, a hole of 4, 8 bytes: 12 B in 2 blocks, starts 8 apart
    10: "blocks=2 block_bytes=6 stride_bytes=8 extent_bytes=16 irregular=1",
    # one double in 32 bytes
    11: "blocks=1 block_bytes=8 stride_bytes=32 extent_bytes=32",
    # 5 doubles in a row, every 10: extent 3 * 80 + 40
    12: "blocks=4 block_bytes=40 stride_bytes=80 extent_bytes=280",
    14: "blocks=16 block_bytes=16 stride_bytes=64 extent_bytes=976",
    60: "blocks=9 block_bytes=8 stride_bytes=32 extent_bytes=264",
}


def _layout(e: recording.Event) -> str | None:
    match = re.search(r'"logpost:layout" <0>; STRING; "([^"]*)"', e.attributes)
    return match[1] if match else None


def test_layout_of_each_message(mpi: str, tmp_path: Path) -> None:
    program = recording.build("layouts.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 2, program)
    assert result.status == 0, result.err
    trace = result.read()
    sent = {e.number("Tag"): _layout(e) for e in trace.on(0, "MPI_SEND")}
    got = {e.number("Tag"): _layout(e) for e in trace.on(1, "MPI_RECV")}
    assert {tag: layout for tag, layout in sent.items() if layout} == LAYOUTS
    # contiguous ones have none: 1, 13 (blocks that touch) and plain doubles
    assert [tag for tag, layout in sent.items() if layout is None] == [1, 13, 50]
    # each side states its own
    assert got == {**sent, 50: LAYOUTS[12]}
    lengths = {e.number("Tag"): e.number("Length") for e in trace.on(0, "MPI_SEND")}
    assert (lengths[0], lengths[60]) == (16 * 16, 2 * 9 * 8)
    # the attribute refers to a table: each layout is one string definition
    strings = [line for line in trace.defined("STRING") if "blocks=16 " in line]
    assert len(strings) == 1
