"""How a damaged run is recognized; every run of a real archive is sound."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import logpost

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.soundness import damage
from logpost.cli.mishaps import sentence


def test_the_run_of_every_archive_is_sound(runs: dict[str, Run]) -> None:
    assert {name: found for name, run in runs.items() if (found := damage(run.path))} == {}


def test_an_error_over_a_sound_run_is_a_bug(runs: dict[str, Run]) -> None:
    assert sentence(TypeError("a bug"), ["report", str(runs["pipit-ping-pong"].path)]) is None


def test_a_location_that_a_run_has_twice_is_one_line(runs: dict[str, Run], tmp_path: Path) -> None:
    # The page of the report has a row of figures per location.
    copy = tmp_path / "a.run"
    shutil.copytree(runs["pipit-ping-pong"].path, copy)
    file = copy / "locations.parquet"
    pl.read_parquet(file).with_columns(location=pl.lit(0, pl.Int32)).write_parquet(file)
    done = logpost("report", copy, "--html", tmp_path / "a.html")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"logpost: {copy}: the table locations.parquet is damaged: ")
    assert line.endswith("0 is in row 1; analyze the archive again")


def test_an_optional_part_of_a_report_does_not_fail_over_a_damaged_run(runs: dict[str, Run], tmp_path: Path) -> None:
    # Of this table the delay costs alone are made: what fails there is no fault of logpost.
    copy = tmp_path / "a.run"
    shutil.copytree(runs["pipit-ping-pong"].path, copy)
    file = copy / "delay_costs.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])  # its footer is whole
    for how in ([], ["--html", tmp_path / "a.html"]):
        done = logpost("report", copy, *how)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), how
        assert done.stderr.startswith(f"logpost: {copy}: the table delay_costs.parquet is damaged: "), how


def test_what_is_no_run_has_no_damage(tmp_path: Path) -> None:
    assert damage(tmp_path) is None
    assert damage(tmp_path / "gone") is None


@pytest.mark.parametrize(
    ("table", "column", "value", "line"),
    [
        ("locations", "rank", None, "1 of 2 rows have no rank"),
        ("locations", "location", 1, "location 1 is in row 0"),
        ("calls", "call", 5, "call 5 is in row 0"),
        ("critical_path", "location", None, "rows have no location"),
        ("messages", "recv_location", 70, "recv_location 70 does not exist"),
        ("messages", "send_call", -2, "send_call -2 does not exist"),
    ],
)
def test_a_value_that_cannot_be_is_named(
    runs: dict[str, Run], tmp_path: Path, table: str, column: str, value: int | None, line: str
) -> None:
    copy = tmp_path / "a.run"
    shutil.copytree(runs["pipit-ping-pong"].path, copy)
    file = copy / f"{table}.parquet"
    rows = pl.read_parquet(file)
    first = pl.int_range(pl.len()) == 0
    rows.with_columns(pl.when(first).then(pl.lit(value, pl.Int32)).otherwise(column).alias(column)).write_parquet(file)
    assert f"the table {table}.parquet is damaged: " in str(damage(copy))
    assert line in str(damage(copy))
