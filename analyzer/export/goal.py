"""Export a run as a GOAL schedule, the text that LogGOPSim's txt2bin, ATLAHS and LLAMP read.

A map beside it says which recorded call, message and collective operation each operation of the schedule is of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import polars as pl
import pyarrow.parquet as pq

from logpost.analyzer.export.files import Progress, whole
from logpost.analyzer.export.goal_schedule import CALC, RECV, SEND, Operation, Schedule
from logpost.analyzer.run import Run
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
class Written:
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
) -> Written:
    """Write the schedule and its map.

    Args:
        run: a finished run.
        path: the schedule to write.
        map_path: the map to write; Parquet or, if it ends in .csv, CSV.
        unit: of the times, a key of `UNITS`; times are rounded without drift.
        force: replace earlier files.
        report: told of progress.

    Raises:
        InputError: the run cannot be told as a schedule, or a file cannot be written.
    """
    if map_path.suffix not in (".csv", ".parquet"):
        raise InputError(f"--map {map_path}: its name must end in .parquet or .csv")
    for file in (path, map_path):
        if file.exists():
            refuse_existing(file, force=force)
    if report:
        report("ranks", 0, 0)
    schedule = Schedule(run)
    kinds: Counter[str] = Counter()
    empty = 0
    with (
        whole(path, force=force, directory=False) as file,
        whole(map_path, force=force, directory=False) as mapped,
        file.open("w", encoding="utf-8") as out,
        _MapWriter(mapped, csv=map_path.suffix == ".csv") as rows,
    ):
        _head(out, _heading(run, unit), len(schedule))
        for rank, operations in enumerate(schedule):
            _write(out, rank, operations, UNITS[unit])
            rows.put(rank, operations)
            kinds.update(one.kind for one in operations)
            empty += sum(one.kind != CALC and one.amount == 0 for one in operations)
            if report:
                report("ranks", rank + 1, len(schedule))
        out.flush()
        size = file.stat().st_size
    if empty:
        schedule.left_out["end of a message of 0 bytes, written as 1"] = empty
    return Written(
        bytes=size,
        map=str(map_path),
        ranks=len(schedule),
        calcs=kinds[CALC],
        sends=kinds[SEND],
        recvs=kinds[RECV],
        left_out=schedule.left_out,
    )


class _MapWriter:
    """Writes the map some ranks at a time, as Parquet or CSV."""

    ROWS = 1 << 18

    def __init__(self, file: Path, *, csv: bool) -> None:
        self._rows: list[tuple[int, int, str, int, int, int]] = []
        self._out = file.open("wb")
        self._parquet: pq.ParquetWriter | None = None
        self._csv = csv
        self._first = True

    def __enter__(self) -> _MapWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and (self._rows or self._first):
            self._flush()
        if self._parquet is not None:
            self._parquet.close()
        self._out.close()

    def put(self, rank: int, operations: Sequence[Operation]) -> None:
        """Add the operations of a rank."""
        self._rows += [
            (rank, number, one.kind, one.call, one.message, one.instance) for number, one in enumerate(operations)
        ]
        if len(self._rows) >= self.ROWS:
            self._flush()

    def _flush(self) -> None:
        frame = pl.DataFrame(self._rows, schema=MAP_COLUMNS, orient="row")
        if self._csv:
            frame.write_csv(self._out, include_header=self._first)
        else:
            table = frame.to_arrow()
            self._parquet = self._parquet or pq.ParquetWriter(self._out, table.schema)
            self._parquet.write_table(table)
        self._rows = []
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
    told = " ".join(f"{name}={float(column[row]) / scale:.6g}" for name, column in names.items())
    limit = int(values.eager_limit_bytes[locality])
    return f"machine {values.machine}, {LOCALITIES[locality]}: {told}" + (f" S={limit}" if limit >= 0 else "")


def _head(out: TextIO, heading: Iterable[str], ranks: int) -> None:
    out.writelines(f"// {line}\n" for line in heading)
    out.write(f"num_ranks {ranks}\n")


def _write(out: TextIO, rank: int, operations: Sequence[Operation], scale: int) -> None:
    out.write(f"\nrank {rank} {{\n")
    out.writelines(_lines(operations, scale))
    out.write("}\n")


def _lines(operations: Sequence[Operation], scale: int) -> Iterable[str]:
    computed = told = 0
    for number, one in enumerate(operations):
        if one.kind == CALC:
            # Rounded sums, not sums of rounded times: they do not drift.
            computed += one.amount
            length = (computed + scale // 2) // scale - told
            told += length
            yield f"l{number}: calc {length}\n"
        else:
            way = "to" if one.kind == SEND else "from"
            yield f"l{number}: {one.kind} {max(1, one.amount)}b {way} {one.peer} tag {one.tag}\n"
        for other in one.requires:
            yield f"l{number} requires l{other}\n"
        for other in one.irequires:
            yield f"l{number} irequires l{other}\n"
