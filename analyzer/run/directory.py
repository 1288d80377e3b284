"""A run on disk: a directory of Parquet tables and a manifest, written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType

import polars as pl
from pydantic import ValidationError

from logpost.analyzer.run.manifest import Manifest
from logpost.analyzer.run.place import MACHINE, MANIFEST, flush, put_in_place, refuse_bytes, refuse_occupied, sync
from logpost.analyzer.run.schema import FORMAT_VERSION, TABLES
from logpost.analyzer.run.undivided import shown
from logpost.analyzer.run.wide import stored
from logpost.analyzer.run.within import within
from logpost.errors import InputError
from logpost.whole_file import permit


def _rows(file: Path) -> pl.LazyFrame:
    """A Parquet file, lazily. Its directory may be called a[1]: the name is no pattern."""
    return pl.scan_parquet(file, glob=False)


def scan(directory: Path, name: str) -> pl.LazyFrame:
    """A table of a run that need not be finished, in its declared types (Parquet knows no enumerations); columns that
    the run is older than are null."""
    table = TABLES[name]
    rows = _rows(directory / f"{table.name}.parquet")
    # Columns that runs had not yet when this one was written.
    written = rows.collect_schema()
    missing = [pl.lit(None, dtype).alias(column) for column, dtype in table.schema.items() if column not in written]
    return rows.with_columns(missing).select(table.schema.names()).cast(dict(table.schema))  # type: ignore[arg-type]


class Run:
    """A finished run, opened for reading."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, whole: bool = True) -> Run:
        """Open a run directory; `whole`: only if every table can be read.

        Raises:
            InputError: it is not a run, is of another format version, or lacks a table or has a damaged one.
        """
        directory = Path(path)
        refuse_bytes(directory)
        file = directory / MANIFEST
        if not file.is_file():
            raise InputError(f"{directory} is not a run: it has no {MANIFEST}; make one with `logpost analyze ARCHIVE`")
        text = file.read_bytes()
        _refuse_other_version(directory, text)
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(
                f"{file} cannot be used: {where}: {first['msg']}; analyze the archive again with this version"
            ) from error
        for name in manifest.tables:
            if name in TABLES and not (directory / f"{name}.parquet").is_file():
                raise InputError(f"{directory} lacks the table {name}.parquet; analyze the archive again")
            if whole and name in TABLES:
                _refuse_damaged(directory / f"{name}.parquet")
        return cls(directory, manifest)

    def table(self, name: str) -> pl.LazyFrame:
        """One table, lazily, in its declared types; `name` is a key of `schema.TABLES`. Without rows where the run is
        older than the table; only what is in the region of interest where it was analyzed for one."""
        if self.manifest.region_of_interest is None:
            return self.facts(name)
        return within(self.facts(name), name, self.facts("locations"))

    def shown(self, name: str) -> pl.LazyFrame:
        """A table with a column `category`, for people: what the machine does not divide is one category."""
        return shown(self.table(name), self.manifest.machine.undivided)

    def facts(self, name: str) -> pl.LazyFrame:
        """The table as the archive gave it, whichever region of interest the run is seen through."""
        return scan(self.path, name) if name in self.manifest.tables else TABLES[name].empty().lazy()

    @property
    def machine_file(self) -> Path:
        """The machine that the messages were split with, whole."""
        return self.path / MACHINE


def _declared(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A frame as its table is declared."""
    return frame.select(TABLES[name].schema.names()).cast(dict(TABLES[name].schema))  # type: ignore[arg-type]


def _refuse_other_version(directory: Path, manifest: bytes) -> None:
    """Raise InputError for a manifest of another format version; one that is no JSON is the caller's to refuse."""
    try:
        version = json.loads(manifest).get("format_version")
    except (ValueError, AttributeError):
        return
    if isinstance(version, int) and version != FORMAT_VERSION:
        age = "an older" if version < FORMAT_VERSION else "a newer"
        raise InputError(
            f"{directory}: written by {age} logpost (run format {version}, this is {FORMAT_VERSION}); "
            "analyze the archive again"
        )


def _refuse_damaged(table: Path) -> None:
    """Raise InputError for a table whose footer cannot be read: what a copy that ended early leaves."""
    try:
        _rows(table).collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{table} cannot be read: {error}; copy the run or analyze the archive again") from None


class RunWriter:
    """Writes a run next to its final place and moves it there when it is whole.

    Use as a context manager; leaving it by an exception removes what was written.

    With `leave_replaced`, a run that was replaced may be left where the new one was written, for the caller to remove.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, leave_replaced: bool = False) -> None:
        self.final = Path(path)
        self._leave_replaced = leave_replaced
        refuse_occupied(self.final, force=force)
        self.path = self.final
        self._background = ThreadPoolExecutor(max_workers=2, thread_name_prefix="background writer")
        self._pending: list[Future[None]] = []

    def __enter__(self) -> RunWriter:
        self.final.parent.mkdir(parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix=f".{self.final.name}.", dir=self.final.parent))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._background.shutdown(cancel_futures=kind is not None)
        if kind is not None:
            shutil.rmtree(self.path, ignore_errors=True)

    def table_path(self, name: str) -> Path:
        """Where the table belongs, for writers that stream."""
        return self.path / f"{TABLES[name].name}.parquet"

    def write(self, name: str, frame: pl.DataFrame) -> pl.DataFrame:
        """Write one whole table, checked against its declaration; returns it as it will be read."""
        table = _declared(name, frame)
        self._store(name, table)
        return table

    def write_in_background(self, name: str, frame: pl.DataFrame) -> pl.DataFrame:
        """The same, in another thread: the file may not be read before `settle`."""
        table = _declared(name, frame)
        self.in_background(lambda: self._store(name, table))
        return table

    def _store(self, name: str, table: pl.DataFrame) -> None:
        stored(table).write_parquet(self.table_path(name), compression="lz4", statistics=True)

    def in_background(self, write: Callable[[], None]) -> None:
        """Write something in another thread: it may not be read before `settle`."""
        self._pending.append(self._background.submit(write))

    def settle(self) -> None:
        """Wait for what is written in the background. Raises what writing it raised."""
        pending, self._pending = self._pending, []
        for one in pending:
            one.result()

    def flush_in_background(self, name: str | None = None) -> None:
        """Begin to flush a whole table to the disk, or all that is written so far, so that little is left in the end.
        A file that is still written to would be blocked during that time.
        """
        flush_it = partial(flush, self.path) if name is None else partial(sync, self.table_path(name))
        self.in_background(flush_it)

    def write_machine(self, text: str) -> None:
        """Write the machine file that the messages were split with."""
        (self.path / MACHINE).write_text(text, encoding="utf-8")

    def finish(self, manifest: Manifest) -> Run:
        """Write the manifest last and move the run to its place. Raises what writing a table in the background
        raised."""
        self.settle()
        (self.path / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
        permit(self.path, directory=True)
        put_in_place(self.path, self.final, leave_replaced=self._leave_replaced)
        return Run(self.final, manifest)
