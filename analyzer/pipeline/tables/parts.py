"""The tables of messages and calls: their row groups, and parts of these that tasks write and one process joins."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import cast

from logpost.analyzer.archive._native import ArchiveError, Shards, TablePart, tables_are_written, written_table
from logpost.analyzer.pipeline.tables.batches import CALLS_PER_BATCH
from logpost.analyzer.run import schema
from logpost.analyzer.run.joined_parts import join_parts
from logpost.analyzer.run.parquet import encoded
from logpost.analyzer.run.wide import exact_sum
from logpost.errors import InputError
from logpost.replay.columns import Int64, Messages

SUMMED = ("envelope_ps", "residual_ps", "deficit_ps")
"""Of messages and transfers: how well the machine explains them."""


def summed(batch: Mapping[str, object]) -> dict[str, int]:
    """The sums of `SUMMED`, in ps."""
    return {name: exact_sum(cast("Int64", batch[name])) for name in SUMMED}


def write_part(part: TablePart) -> None:
    """Write a part of both tables. Raises ArchiveError."""
    sums: Counter[str] = Counter()

    def messages() -> Iterator[Messages]:
        while (batch := part.next_messages()) is not None:
            sums.update(summed(batch))
            yield batch

    of_messages = encoded(schema.MESSAGES, messages())
    of_calls = encoded(schema.CALLS, iter(partial(part.next_calls, CALLS_PER_BATCH), None))
    part.finish(json.dumps(sums).encode(), of_messages, of_calls)


class WrittenParts:
    """The parts that tasks have written."""

    def __init__(self, shards: Shards, parts: int) -> None:
        self._shards = shards
        self._parts = parts

    @classmethod
    def of(cls, shards: Shards, parts: int) -> WrittenParts | None:
        """Those of a plan's tasks; None: one process writes the tables. Raises ArchiveError."""
        return cls(shards, parts) if tables_are_written(shards) else None

    def write_messages(self, path: Path) -> Counter[str]:
        """Write the table `messages`; the sums of `SUMMED`, in ps. Raises InputError for a damaged part."""
        sums: Counter[str] = Counter()
        for said in self._join("messages", path):
            sums.update(json.loads(said))
        return sums

    def write_calls(self, path: Path) -> None:
        """Write the table `calls`. Raises InputError for a damaged part."""
        self._join("calls", path)

    def _join(self, table: str, path: Path) -> list[bytes]:
        """What was said of each part."""
        heard = []

        def rows() -> Iterator[memoryview]:
            for part in range(self._parts):
                said, file = written_table(self._shards, part, table)
                heard.append(said)
                yield file.data

        try:
            join_parts(path, rows())
        except ArchiveError as error:
            raise InputError(str(error)) from None
        return heard
