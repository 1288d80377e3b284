"""How a table is declared: its columns with type, unit and a sentence each."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.wide import WIDE


@dataclass(frozen=True)
class Column:
    """One column: its polars type, unit ("" where there is none) and a sentence; it says what null means."""

    name: str
    dtype: pl.DataType
    unit: str
    sentence: str

    @property
    def nullable(self) -> bool:
        """Whether rows may have no value."""
        return "null:" in self.sentence


@dataclass(frozen=True)
class Table:
    """One table of a run: what a row is, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pl.Schema:
        """The polars schema."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """A frame of the right types without rows."""
        return pl.DataFrame(schema=self.schema)


def ids(**sentences: str) -> tuple[Column, ...]:
    return tuple(Column(name, pl.Int32(), "", sentence) for name, sentence in sentences.items())


def ps(**sentences: str) -> tuple[Column, ...]:
    return tuple(Column(f"{name}_ps", pl.Int64(), "ps", sentence) for name, sentence in sentences.items())


def wide_ps(**sentences: str) -> tuple[Column, ...]:
    """Sums over many locations, which int64 does not hold: 128 bits, decimal128(38, 0) in Parquet."""
    return tuple(Column(f"{name}_ps", WIDE, "ps", sentence) for name, sentence in sentences.items())


def enum(name: str, values: tuple[str, ...], sentence: str) -> Column:
    return Column(name, pl.Enum(list(values)), "", sentence)


def count(name: str, unit: str, sentence: str) -> Column:
    return Column(name, pl.UInt64(), unit, sentence)


def text(**sentences: str) -> tuple[Column, ...]:
    return tuple(Column(name, pl.String(), "", sentence) for name, sentence in sentences.items())
