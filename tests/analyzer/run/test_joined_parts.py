"""Files of one table joined: the bytes of the file that has all of their row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from logpost.analyzer.run import schema
from logpost.analyzer.run.joined_parts import join_parts
from logpost.analyzer.run.parquet import Columns, TableStream, encoded

TABLES = (schema.CALLS, schema.MESSAGES, schema.REGIONS)
"""Many columns of numbers, enumerations, texts."""


def batches(table: schema.Table, sizes: Sequence[int]) -> Iterator[Columns]:
    """Rows made by chance."""
    chance = np.random.default_rng(7)
    for size in sizes:
        columns: dict[str, object] = {}
        for column in table.columns:
            if isinstance(column.dtype, pl.String):
                columns[column.name] = np.array([f"name {i}" for i in range(size)], dtype=object)
            elif isinstance(column.dtype, pl.Enum):
                columns[column.name] = chance.integers(len(column.dtype.categories), size=size).astype(np.uint8)
            else:
                columns[column.name] = chance.integers(100, size=size)
        yield columns


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.parametrize("groups", [0, 1, 5, 14, 15, 16, 200])
def test_parts_joined_are_the_file_of_one_writer(tmp_path: Path, table: schema.Table, groups: int) -> None:
    """Of row groups of 1 to 40 rows, in parts of any number of them; a list of 15 has another head than one of 14."""
    sizes = [1 + (7 * i) % 40 for i in range(groups)]
    every = list(batches(table, sizes))
    whole = tmp_path / "whole.parquet"
    with TableStream(table, whole) as stream:
        for batch in every:
            stream.put(batch)
    cuts = [0, groups // 5, groups // 5, groups // 2, groups]
    parts = [encoded(table, every[begin:end]) for begin, end in pairwise(cuts)]
    joined = tmp_path / "joined.parquet"
    join_parts(joined, [*(part.data for part in parts), memoryview(b"")])
    assert joined.read_bytes() == whole.read_bytes()
    assert pq.read_metadata(joined).num_rows == sum(sizes)
    assert pl.read_parquet(joined).equals(pl.read_parquet(whole))
