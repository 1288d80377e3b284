"""Tables as Parquet files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from logpost.analyzer.run.parquet import write_whole
from logpost.analyzer.run.schema import Column, Table

# The second value is not ASCII: polars counts bytes, not letters.
KINDS = pl.Enum(["eager", "rendez-vous à deux", "1;2"])
TABLE = Table("kinds", "Each kind.", (Column("kind", KINDS, "", "The kind."), Column("bytes", pl.UInt64(), "B", "")))


def test_enumerations_are_read_as_such(tmp_path: Path) -> None:
    file = tmp_path / "kinds.parquet"
    codes = np.array([2, 0, 1, 1], dtype=np.uint8)
    write_whole(TABLE, file, {"kind": codes, "bytes": np.arange(4, dtype=np.uint64)})
    read = pl.read_parquet(file)
    assert read.schema["kind"] == KINDS
    assert read["kind"].to_list() == ["1;2", "eager", "rendez-vous à deux", "rendez-vous à deux"]
