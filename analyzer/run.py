"""A run on disk: a directory of Parquet tables and a manifest, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

import polars as pl
from pydantic import ValidationError

from logpost.analyzer.manifest import Manifest
from logpost.analyzer.run_place import MANIFEST, refuse_occupied
from logpost.analyzer.schema import FORMAT_VERSION, TABLES
from logpost.errors import InputError
from logpost.whole_file import permit


def scan(directory: Path, name: str) -> pl.LazyFrame:
    """A table of a run that need not be finished, in its declared types (Parquet knows no enumerations)."""
    table = TABLES[name]
    return pl.scan_parquet(directory / f"{table.name}.parquet").cast(dict(table.schema))  # type: ignore[arg-type]


class Run:
    """A finished run, opened for reading."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """Open a run directory.

        Raises:
            InputError: it is not a run, is of another format version, or lacks a table.
        """
        directory = Path(path)
        file = directory / MANIFEST
        if not file.is_file():
            raise InputError(f"{directory} is not a run: it has no {MANIFEST}; make one with `logpost analyze ARCHIVE`")
        try:
            manifest = Manifest.model_validate_json(file.read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(
                f"{file} cannot be used: {where}: {first['msg']}; analyze the archive again with this version"
            ) from error
        if manifest.format_version != FORMAT_VERSION:
            raise InputError(
                f"{file} has format version {manifest.format_version}, this logpost reads {FORMAT_VERSION}; "
                "analyze the archive again"
            )
        for name in TABLES:
            if not (directory / f"{name}.parquet").is_file():
                raise InputError(f"{directory} lacks the table {name}.parquet; analyze the archive again")
        return cls(directory, manifest)

    def table(self, name: str) -> pl.LazyFrame:
        """One table, lazily, in its declared types; `name` is a key of `schema.TABLES`."""
        return scan(self.path, name)


class RunWriter:
    """Writes a run beside its final place and moves it there when it is whole.

    Use as a context manager; leaving it by an exception removes what was written.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self.final = Path(path)
        refuse_occupied(self.final, force=force)
        self.path = self.final

    def __enter__(self) -> RunWriter:
        self.final.parent.mkdir(parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix=f".{self.final.name}.", dir=self.final.parent))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            shutil.rmtree(self.path, ignore_errors=True)

    def table_path(self, name: str) -> Path:
        """Where the table belongs, for writers that stream."""
        return self.path / f"{TABLES[name].name}.parquet"

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Write one whole table, checked against its declaration."""
        frame.select(TABLES[name].schema.names()).cast(dict(TABLES[name].schema)).write_parquet(  # type: ignore[arg-type]
            self.table_path(name), compression="lz4", statistics=False
        )

    def finish(self, manifest: Manifest) -> Run:
        """Write the manifest last and move the run to its place."""
        (self.path / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
        permit(self.path, directory=True)
        if self.final.exists():
            shutil.rmtree(self.final)
        self.path.rename(self.final)
        return Run.open(self.final)
