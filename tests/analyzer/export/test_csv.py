"""CSV holds what the run holds: read back, every table equals the one it came from."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.dashboards.synthetic import Names, make_run

from logpost.analyzer.export.csv import export_csv
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.errors import InputError


def test_every_table_reads_back_as_it_was(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    sizes = export_csv(run, tmp_path / "out")
    assert set(sizes) == set(TABLES)
    for name, table in TABLES.items():
        file = tmp_path / "out" / f"{name}.csv"
        assert file.stat().st_size == sizes[name]
        # A field holds no list: that is text. The reader takes empty text for a missing value; the run misses no text.
        flat = {c.name: pl.String() if isinstance(c.dtype, pl.List) else c.dtype for c in table.columns}
        back = pl.read_csv(file, schema=flat).with_columns(pl.col(pl.String).fill_null(""))
        lists = [name for name, dtype in flat.items() if dtype != table.schema[name]]
        assert_frame_equal(back.drop(lists), run.table(name).drop(lists).collect())


def test_what_a_machine_does_not_divide_is_one_row_or_column(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    hidden = ["latency", "residual"]
    manifest = run.manifest.model_copy(deep=True)
    manifest.machine.undivided = hidden
    (run.path / "manifest.json").write_text(manifest.model_dump_json(), encoding="utf-8")
    export_csv(Run.open(run.path), tmp_path / "out")
    for name, table in TABLES.items():
        times = [column for column in table.schema if column.endswith("_ps")]
        if "category" not in table.schema or not times:
            continue
        back = pl.read_csv(
            tmp_path / "out" / f"{name}.csv", schema_overrides={"category": pl.String, **dict.fromkeys(times, pl.Int64)}
        )
        assert not set(hidden) & set(back["category"]), name
        assert back.select(times).sum().rows() == run.facts(name).select(times).sum().collect().rows(), name


def test_lists_are_text_of_ranks_and_of_named_numbers(tmp_path: Path) -> None:
    export_csv(make_run(tmp_path / "a.run"), tmp_path / "out", ["findings"])
    rows = pl.read_csv(tmp_path / "out" / "findings.csv")
    assert rows["ranks"].cast(pl.String).to_list() == ["0", "0 1 2"]
    (stated,) = make_run(tmp_path / "b.run").table("findings").collect()["evidence"][1].to_list()
    assert json.loads(rows["evidence"][1]) == stated
    assert (stated["value"], stated["unit"]) == (31.0, "%")


def test_hostile_names_stay_one_field(tmp_path: Path) -> None:
    names = Names(regions=('a,"b"\nc', "=1+1", "\N{GREEK SMALL LETTER MU}s", "x", "", "y"))
    export_csv(make_run(tmp_path / "a.run", names=names), tmp_path / "out", ["regions"])
    with (tmp_path / "out" / "regions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == list(names.regions)


def test_every_column_is_documented_with_its_unit(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    export_csv(run, tmp_path / "out")
    known = pl.read_csv(tmp_path / "out" / "columns.csv")
    for name in TABLES:
        header = (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8").split("\n", 1)[0].split(",")
        assert known.filter(pl.col("table") == name)["column"].to_list() == header
    units = dict(known.select("column", "unit").iter_rows())
    assert (units["envelope_ps"], units["bytes"], units["share"]) == ("ps", "B", "1")
    # A tick means nothing outside of the run: 10^9 ticks per second.
    assert units["wait_ticks"] == "1/1000000000 s"
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert all(f"## {name}.csv" in text for name in TABLES)
    assert (tmp_path / "out" / "manifest.json").read_bytes() == (run.path / "manifest.json").read_bytes()


def test_some_tables(tmp_path: Path) -> None:
    said: list[tuple[str, int, int]] = []
    run = make_run(tmp_path / "a.run")
    assert set(export_csv(run, tmp_path / "out", ["pairs", "load", "pairs"], report=lambda *p: said.append(p))) == {
        "pairs",
        "load",
    }
    assert {file.name for file in (tmp_path / "out").glob("*.csv")} == {"pairs.csv", "load.csv", "columns.csv"}
    assert said == [("pairs", 0, 2), ("load", 1, 2)]


def test_unknown_table_names_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown table 'mesages'; a run has locations, regions"):
        export_csv(make_run(tmp_path / "a.run", ranks=1), tmp_path / "out", ["mesages"])
    assert not (tmp_path / "out").exists()


def test_an_earlier_export_is_replaced_only_on_request(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", ranks=1)
    export_csv(run, tmp_path / "out", ["pairs"])
    with pytest.raises(InputError, match=r"out already exists; pass --force to overwrite it"):
        export_csv(run, tmp_path / "out", ["load"])
    export_csv(run, tmp_path / "out", ["load"], force=True)
    assert {file.name for file in (tmp_path / "out").glob("*.csv")} == {"load.csv", "columns.csv"}


@pytest.mark.parametrize("kind", ["file", "other"])
def test_force_never_removes_what_is_not_an_export(tmp_path: Path, kind: str) -> None:
    run = make_run(tmp_path / "a.run", ranks=1)
    place = tmp_path / "mine"
    if kind == "file":
        place.write_text("precious")
    else:
        place.mkdir()
        (place / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r"mine is not (a directory|an earlier export); .* another place"):
        export_csv(run, place, force=True)
    assert (place if kind == "file" else place / "thesis.tex").read_text() == "precious"


def test_nothing_is_left_when_the_place_cannot_be_written(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", ranks=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file/out cannot be written: .*; choose another place with -o"):
        export_csv(run, tmp_path / "file" / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run", "file"]
