"""Export a run as a GOAL schedule, the text that LogGOPSim's txt2bin, ATLAHS and LLAMP read.

A map next to it states which recorded call, message and collective operation each operation of the schedule is of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from logpost.analyzer.export.files import Progress, atomic_output
from logpost.analyzer.export.goal_schedule import KINDS, Part, Schedule
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines import LOCALITIES, ReplayParameters, load_machine, replay_parameters
from logpost.whole_file import refuse_existing

UNITS = {"ns": 1000, "ps": 1}
"""Units of time and their length in ps."""

MAP_COLUMNS = {
    "rank": pl.Int32,
    "label": pl.Int64,
    "kind": pl.String,
    "call": pl.Int32,
    "message": pl.Int64,
    "instance": pl.Int32,
}
"""Of the map: rank and number of the label (`l7` of the rank), row of the tables `calls` and `messages`, instance of
`collectives`; -1: none."""


@dataclass(frozen=True)
class GoalExport:
    """What an export consists of."""

    bytes: int
    map: str
    ranks: int
    calcs: int
    sends: int
    recvs: int
    left_out: dict[str, int]
    """what of the run the schedule does not have, and how often"""


def export_goal(
    run: Run, path: Path, map_path: Path, *, unit: str = "ns", force: bool = False, report: Progress | None = None
) -> GoalExport:
    """Write the schedule and its map.

    Args:
        run: a finished run.
        path: the schedule to write.
        map_path: the map to write; Parquet or, if it ends in .csv, CSV.
        unit: of the times, a key of `UNITS`; times are rounded without drift.
        force: replace earlier files.
        report: receives the progress.

    Raises:
        InputError: the run cannot be written as a schedule, or a file cannot be written.
    """
    if map_path.suffix not in (".csv", ".parquet"):
        raise InputError(f"--map {map_path}: its name must end in .parquet or .csv")
    for file in (path, map_path):
        if file.exists():
            refuse_existing(file, force=force)
    if report:
        report("calls", 0, 0)
    schedule = Schedule(run, UNITS[unit])
    calls, done = run.facts("calls").select(pl.len()).collect().item(), 0
    with (
        atomic_output(path, force=force, directory=False) as file,
        atomic_output(map_path, force=force, directory=False) as mapped,
        file.open("wb") as out,
        _MapWriter(mapped, csv=map_path.suffix == ".csv") as rows,
    ):
        text = _Text(out)
        text.head(_heading(run, unit), len(schedule))
        for part in schedule:
            text.put(part)
            rows.put(part)
            done += part.calls
            if report:
                report("calls", done, max(calls, done))
        out.flush()
        size = file.stat().st_size
    if text.empty:
        schedule.left_out["end of a message of 0 bytes, written as 1"] = text.empty
    return GoalExport(
        bytes=size,
        map=str(map_path),
        ranks=len(schedule),
        calcs=text.count[0],
        sends=text.count[1],
        recvs=text.count[2],
        left_out=schedule.left_out,
    )


class _MapWriter:
    """Writes the map part by part, as Parquet or CSV."""

    def __init__(self, file: Path, *, csv: bool) -> None:
        self._out = file.open("wb")
        self._parquet: pq.ParquetWriter | None = None
        self._csv = csv
        self._first = True

    def __enter__(self) -> _MapWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._first:
            self._write(pl.DataFrame(schema=MAP_COLUMNS))
        if self._parquet is not None:
            self._parquet.close()
        self._out.close()

    def put(self, part: Part) -> None:
        """Add some operations of a rank."""
        kinds = part.operations["kind"]
        if not len(kinds):
            return
        frame = pl.DataFrame({name: part.operations[name] for name in ("call", "message", "instance")})
        self._write(
            frame.select(
                pl.lit(part.rank, pl.Int32).alias("rank"),
                pl.int_range(part.first, part.first + len(kinds), dtype=pl.Int64).alias("label"),
                pl.Series("kind", KINDS, pl.String).gather(kinds),
                "call",
                "message",
                "instance",
            )
        )

    def _write(self, frame: pl.DataFrame) -> None:
        if self._csv:
            frame.write_csv(self._out, include_header=self._first)
        else:
            table = frame.to_arrow()
            self._parquet = self._parquet or pq.ParquetWriter(self._out, table.schema)
            self._parquet.write_table(table)
        self._first = False


def _heading(run: Run, unit: str) -> list[str]:
    """Comments: where it comes from, the unit, and the machine's values for the simulator."""
    lines = [f"GOAL schedule of a run of logpost {run.manifest.tool_version}; times in {unit}"]
    values = replay_parameters(load_machine(run.machine_file))
    lines += [_values(values, i, unit) for i in range(len(LOCALITIES)) if _stated(values, i)]
    return lines


def _stated(values: ReplayParameters, locality: int) -> bool:
    return bool(values.class_start[locality + 1] > values.class_start[locality])


def _values(values: ReplayParameters, locality: int, unit: str) -> str:
    """The values of the shortest messages of a locality."""
    row = int(values.class_start[locality])
    scale = UNITS[unit]
    names = {"L": values.L_ps, "o_s": values.o_s_ps, "o_r": values.o_r_ps, "g": values.g_ps, "G": values.G_ps_per_byte}
    text = " ".join(f"{name}={float(column[row]) / scale:.6g}" for name, column in names.items())
    limit = int(values.eager_limit_bytes[locality])
    return f"machine {values.machine}, {LOCALITIES[locality]}: {text}" + (f" S={limit}" if limit >= 0 else "")


class _Text:
    """Writes the schedule part by part, and counts what it holds."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.count = [0] * len(KINDS)
        """operations by kind"""
        self.empty = 0

    def head(self, heading: Iterable[str], ranks: int) -> None:
        """The lines before the first rank."""
        lines = [*(f"// {line}\n" for line in heading), f"num_ranks {ranks}\n"]
        self._out.write("".join(lines).encode())

    def put(self, part: Part) -> None:
        """Some operations of a rank."""
        if part.first == 0:
            self._out.write(f"\nrank {part.rank} {{\n".encode())
        self._out.write(part.text)
        if part.ends:
            self._out.write(b"}\n")
        for kind, count in enumerate(np.bincount(part.operations["kind"], minlength=len(KINDS)).tolist()):
            self.count[kind] += count
        self.empty += part.empty
