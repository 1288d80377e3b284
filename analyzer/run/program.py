"""Rebuild the replay engine's program from a run's tables, without the archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import numpy as np
import polars as pl

from logpost.analyzer.machine.placement import place
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import DIRECTIONS, OPERATIONS, TABLES
from logpost.errors import InputError
from logpost.machines import Machine, load_machine
from logpost.replay._native import FINALIZE, Program, Spill, call_kinds
from logpost.replay.columns import Column, Piece

LOCATIONS = ("process", "socket", "node", "rank", "accounted", "first_ps", "last_ps")
CALLS = ("location", "region", "callpath", "enter_ps", "leave_ps")
MESSAGES = (
    "send_location",
    "recv_location",
    "comm",
    "tag",
    "layout",
    "send_call",
    "send_complete_call",
    "recv_post_call",
    "recv_call",
    "send_number",
    "recv_number",
    "bytes",
    "recv_bytes",
)
UNMATCHED = ("location", "number", "call", "complete_call", "peer", "comm", "tag", "direction", "bytes")
COLLECTIVES = (
    "instance",
    "location",
    "comm",
    "root",
    "call",
    "complete_call",
    "operation",
    "enter_ps",
    "leave_ps",
    "bytes_sent",
    "bytes_received",
    "rma_window",
    "layout",
    "received_layout",
)
TRANSFERS = (
    "location",
    "target",
    "rma_window",
    "call",
    "complete_call",
    "remote_call",
    "layout",
    "target_layout",
    "kind",
    "bytes",
)
EPOCHS = ("location", "peer", "rma_window", "begin_call", "end_call", "match", "kind", "lock", "acquired_ps")


ROWS = 1 << 17
"""of a table in memory in addition to the program"""


def program_of(run: Run, machine: Machine | None = None, spill: Spill | None = None) -> Program:
    """The program that was analyzed, placed on a machine; without one, on the run's own.

    `spill`: the file for what exceeds the memory.

    Raises:
        InputError: tables of the run contradict each other.
    """
    if machine is None and run.manifest.machine.origin != "estimated":
        machine = load_machine(run.machine_file)
    program = unplaced_program(run, spill)
    if machine is not None:
        locations = run.facts("locations").sort("location").select("rank", "node", "socket", "core").collect()
        place(program, machine, locations, {})
    return program


def unplaced_program(run: Run, spill: Spill | None = None) -> Program:
    """The program that was analyzed, without the machine's network and sockets.

    Raises:
        InputError: tables of the run contradict each other.
    """
    manifest = run.manifest
    regions = run.facts("regions").sort("region").select("kind", "name").collect()
    communicators = run.facts("communicators").sort("comm").select("members", "first_group").collect()
    try:
        return Program(
            ticks_per_second=manifest.clock.ticks_per_second,
            length_ps=manifest.clock.length_ps,
            callers=run.facts("callpaths").sort("callpath").select("parent").collect()["parent"].to_numpy(),
            kinds=region_kinds(regions),
            layouts=[(one.blocks, one.block_bytes, one.stride_bytes) for one in manifest.layouts],
            members=communicators["members"].to_list(),
            locations=table_columns(run, "locations", LOCATIONS),
            calls=_pieces(run, "calls", CALLS),
            messages=_pieces(run, "messages", MESSAGES),
            unmatched=_pieces(run, "unmatched", UNMATCHED),
            collectives=_pieces(run, "collectives", COLLECTIVES),
            transfers=_pieces(run, "transfers", TRANSFERS),
            epochs=_pieces(run, "epochs", EPOCHS),
            first_groups=communicators["first_group"].fill_null(0).to_list(),
            most_ends=_rows(run, "messages") + _rows(run, "unmatched"),
            spill=spill,
        )
    except ValueError as error:
        raise InputError(f"{run.path}: its tables contradict each other: {error}; analyze the archive again") from error


def region_kinds(regions: pl.DataFrame) -> list[int]:
    """Code of each region's kind. Initialization and finalization share their name; the region's own kind distinguishes
    them."""
    codes = {name: code for code, name in reversed(list(enumerate(call_kinds())))}
    return [
        FINALIZE if kind == "init_finalize" and "finalize" in name.lower() else codes[kind]
        for kind, name in regions.iter_rows()
    ]


def table_columns(run: Run, table: str, names: Iterable[str]) -> dict[str, Column]:
    """Columns of a table as the native core takes them: enumerations as its codes."""
    frame = run.facts(table).select(names).collect()
    return {name: _array(table, frame[name]) for name in names}


def _pieces(run: Run, table: str, names: Iterable[str]) -> Iterator[Piece]:
    """The same of `ROWS` rows at a time."""
    facts = run.facts(table).select(names)
    for start in count(0, ROWS):
        frame = facts.slice(start, ROWS).collect()
        if frame.height:
            yield {name: _array(table, frame[name]) for name in names}
        if frame.height < ROWS:
            return


def _rows(run: Run, table: str) -> int:
    rows = run.facts(table).select(pl.len()).collect().item()
    assert isinstance(rows, int)
    return rows


def _array(table: str, column: pl.Series) -> Column:
    if (table, column.name) == ("collectives", "operation"):
        column = column.cast(pl.Enum(OPERATIONS)).to_physical()  # older runs have its names as texts
    elif (table, column.name) == ("unmatched", "direction"):
        column = column.cast(pl.String).replace_strict(DIRECTIONS, range(len(DIRECTIONS)), return_dtype=pl.UInt8)
    elif column.name == "kind":
        column = column.to_physical().cast(pl.UInt8)  # the enumeration's order is that of the core's codes
    elif TABLES[table].schema[column.name] == pl.Boolean():
        column = column.cast(pl.UInt8)
    return np.ascontiguousarray(column.to_numpy())
