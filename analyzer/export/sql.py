"""SQL on a run: its tables as views of DuckDB over the Parquet files, with the schema's sentences as comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.run.wide import stored
from logpost.errors import InputError

if TYPE_CHECKING:
    import duckdb

COLUMNS = "select table_name, column_name, data_type, comment from duckdb_columns() where not internal order by all"
"""The query that shows what can be queried."""


def query(run: Run, text: str, *, only_run: bool = False) -> pl.DataFrame:
    """The rows of a query on the run's tables.

    Arguments:
        run: whose tables they are.
        text: the query, in DuckDB's SQL.
        only_run: it must be one SELECT, and reads nothing but the run.

    Raises:
        InputError: DuckDB is not installed, or the query cannot be run, is refused, or has no rows to show.
    """
    try:
        import duckdb
    except ImportError as error:
        raise InputError("SQL needs DuckDB, which is not installed; pip install 'logpost[sql]'") from error
    with duckdb.connect() as connection:
        _add_tables(connection, run)
        if only_run:
            connection.execute(f"set allowed_directories = [{_quoted(str(run.path))}]")
            connection.execute("set enable_external_access = false")
        try:
            if only_run and [one.type for one in connection.extract_statements(text)] != [duckdb.StatementType.SELECT]:
                raise InputError(f"{text}: one SELECT is run, and nothing else")
            rows = connection.sql(text)
            if rows is None:
                raise InputError(f"the query has no rows to show: {text}")
            frame: pl.DataFrame = rows.pl()
            return frame
        except duckdb.Error as error:
            raise InputError(f"{text}: {str(error).partition('LINE ')[0]}") from error


def _add_tables(connection: duckdb.DuckDBPyConnection, run: Run) -> None:
    for table in TABLES.values():
        file = run.path / f"{table.name}.parquet"
        if table.name in run.manifest.tables and run.manifest.region_of_interest is None:
            connection.execute(f"create view {table.name} as from read_parquet({_quoted(_no_pattern(str(file)))})")
        else:  # without a file, or only some rows of it
            connection.register("rows", stored(run.table(table.name).collect()).to_arrow())
            connection.execute(f"create table {table.name} as from rows")
            connection.unregister("rows")
        names = set(connection.table(table.name).columns)
        for column in table.columns:
            if column.name in names:
                said = f"{column.sentence} ({column.unit})" if column.unit else column.sentence
                connection.execute(f"comment on column {table.name}.{column.name} is {_quoted(said)}")


def _no_pattern(path: str) -> str:
    """A path in which DuckDB finds no pattern of several files."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
