"""Stream tables batch by batch from the native core's columns into Parquet row groups."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Mapping, Sized
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from logpost.analyzer.run.schema import Column, Table
from logpost.analyzer.run.wide import WIDE, wide_series

Columns = Mapping[str, object]

_ARROW = {
    pl.Int32: pa.int32(),
    pl.Int64: pa.int64(),
    pl.UInt64: pa.uint64(),
    pl.Boolean: pa.bool_(),
    pl.Float64: pa.float64(),
    pl.String: pa.string(),
}

_INSTANTS = ("enter_ps", "leave_ps", "complete_ps", "post_ps")
"""How the names of columns end that hold moments, not durations."""


def _arrow_type(column: Column) -> pa.DataType:
    if isinstance(column.dtype, pl.Enum):
        return pa.dictionary(pa.uint8(), pa.string())
    return _ARROW[type(column.dtype)]


def _field(column: Column) -> pa.Field:
    """The column as Parquet has it. Polars states what its enumerations hold likewise, and then takes the codes as they
    are; else it would look up every row's name."""
    values = list(column.dtype.categories) if isinstance(column.dtype, pl.Enum) else []
    stated = {"_PL_ENUM_VALUES2": "".join(f"{len(value.encode())};{value}" for value in values)} if values else None
    return pa.field(column.name, _arrow_type(column), nullable=False, metadata=stated)


def _rises(column: Column) -> bool:
    """Whether a column holds instants or running numbers: another value in almost every row, near the one before."""
    return column.name == "call" or column.name.endswith(("_call", "_number", *_INSTANTS))


def _lasts(column: Column) -> bool:
    """Whether a column holds durations: no reader chooses rows by their smallest and largest one."""
    return isinstance(column.dtype, pl.Int64) and not _rises(column)


def _names(column: Column) -> bool:
    """Whether a column holds one of a few names. For their smallest and largest, Arrow would look up a function, which
    fails while another thread registers more of them (importing pyarrow.compute does)."""
    return isinstance(column.dtype, pl.Enum)


def _writer(table: Table, schema: pa.Schema, sink: Path | pa.BufferOutputStream) -> pq.ParquetWriter:
    """A Parquet writer with the encodings that cost least for what the columns hold.

    Differences of instants and running numbers are small, and leave nothing to compress. Among durations and ids the
    same few values repeat, which LZ4 finds faster than a dictionary is built.
    """
    rises = {column.name for column in table.columns if _rises(column)}
    return pq.ParquetWriter(
        sink,
        schema,
        compression={name: "none" if name in rises else "lz4" for name in schema.names},
        column_encoding=dict.fromkeys(rises, "DELTA_BINARY_PACKED"),
        use_dictionary=[column.name for column in table.columns if isinstance(column.dtype, pl.Enum | pl.String)],
        write_statistics=[column.name for column in table.columns if not (_lasts(column) or _names(column))],
        write_batch_size=1 << 16,
    )


def _array(column: Column, values: npt.NDArray[Any] | pa.Array) -> pa.Array:
    """Arrow array of a native column; enumerations are uint8 codes in the declared order, booleans are uint8."""
    if isinstance(values, pa.Array):
        return values
    if isinstance(column.dtype, pl.Enum):
        return pa.DictionaryArray.from_arrays(pa.array(values), pa.array(list(column.dtype.categories)))
    if isinstance(column.dtype, pl.Boolean):
        return pa.array(values.astype(np.bool_))
    return pa.array(values, type=_arrow_type(column))


def _arrow_schema(table: Table) -> pa.Schema:
    return pa.schema([_field(column) for column in table.columns])


def _arrow_table(table: Table, schema: pa.Schema, columns: Columns) -> pa.Table:
    arrays = [_array(column, cast("npt.NDArray[Any]", columns[column.name])) for column in table.columns]
    return pa.Table.from_arrays(arrays, schema=schema)


def encoded(table: Table, batches: Iterable[Columns]) -> npt.NDArray[np.uint8]:
    """The bytes of a table's file as `TableStream` writes it, a row group for each batch."""
    schema, sink = _arrow_schema(table), pa.BufferOutputStream()
    with _writer(table, schema, sink) as writer:
        for columns in batches:
            batch = _arrow_table(table, schema, columns)
            writer.write_table(batch, row_group_size=batch.num_rows)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


class TableStream:
    """Writes one table in another thread, so that the next batch is computed concurrently.

    At most one batch waits: memory holds one being computed, one waiting and one being written.
    """

    def __init__(self, table: Table, path: Path) -> None:
        self.table = table
        self.schema = _arrow_schema(table)
        self._writer = _writer(table, self.schema, path)
        self._batches: queue.Queue[pa.Table | None] = queue.Queue(maxsize=1)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._write, name=f"write {table.name}", daemon=True)

    def __enter__(self) -> TableStream:
        self._thread.start()
        return self

    def put(self, columns: Columns) -> None:
        """Queue a batch. Raises what writing an earlier one raised, e.g. OSError when the disk is full."""
        self._raise()
        self._batches.put(_arrow_table(self.table, self.schema, columns))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._batches.put(None)
        self._thread.join()
        if kind is None:
            self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _write(self) -> None:
        while (batch := self._batches.get()) is not None:
            if self._failure is None:
                try:
                    if batch.num_rows:
                        self._writer.write_table(batch, row_group_size=batch.num_rows)
                except BaseException as failure:
                    self._failure = failure
        try:
            self._writer.close()
        except BaseException as failure:
            self._failure = self._failure or failure


ROWS = 1 << 17
"""In a row group of a table that is whole in memory."""


def write_whole(table: Table, path: Path, columns: Columns) -> None:
    """Write a whole table from native columns; texts are Arrow arrays."""
    rows = len(cast("Sized", columns[table.columns[0].name]))
    with TableStream(table, path) as stream:
        for begin in range(0, rows, ROWS):
            stream.put({c.name: cast("Any", columns[c.name])[begin : begin + ROWS] for c in table.columns})


def frame(table: Table, columns: Columns) -> pl.DataFrame:
    """A whole small table from native columns, checked against its declaration."""
    data = {}
    for column in table.columns:
        values = cast("npt.NDArray[Any] | pl.Series", columns[column.name])
        if isinstance(column.dtype, pl.Enum):
            names = pl.Series(list(column.dtype.categories), dtype=column.dtype)
            data[column.name] = names.gather(pl.Series(np.asarray(values, dtype=np.uint32)))
        elif column.dtype == WIDE:
            data[column.name] = wide_series(np.asarray(values, dtype=np.uint64))
        else:
            data[column.name] = pl.Series(values, dtype=column.dtype)
    return pl.DataFrame(data, schema=table.schema)
