"""SQL on a run: views of its tables, with the schema's sentences."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.story import MS
from tests.analyzer.two_phases import two_phases
from tests.archives import DATA, unpacked
from tests.cli.command import logpost

from logpost.analyzer.export.sql import COLUMNS, query
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.analyzer.run.schema import TABLES
from logpost.errors import InputError

LOST = "select category, sum(exposed_ps) as ps from accounting where category <> 'compute' group by all order by all"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return two_phases().write(tmp_path_factory.mktemp("sql") / "a.run")


def test_sums_are_those_of_the_accounts(run: Run) -> None:
    # As the report: 2 ms at the barrier, 20 ms late sender, 10 ms send overhead, 6 ms serialization, and others.
    times = {category: int(ps) for category, ps in query(run, LOST).iter_rows() if ps}
    expected = {"collective_wait": 2 * MS, "late_sender": 20 * MS, "send_overhead": 10 * MS, "serialization": 6 * MS}
    assert {name: times[name] for name in expected} == expected
    assert sum(times.values()) == 48 * MS


def test_every_column_has_its_sentence(run: Run) -> None:
    said = {(table, column): comment for table, column, _, comment in query(run, COLUMNS).iter_rows()}
    for table in TABLES.values():
        for column in table.columns:
            assert column.sentence in said[table.name, column.name]


def test_a_region_of_interest_is_what_is_read(tmp_path: Path) -> None:
    archive = unpacked(DATA / "archives" / "pipit-ping-pong.tar.xz", tmp_path)
    whole = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"))))
    median = int(query(whole, "select median(enter_ps) as ps from calls")["ps"][0])
    early = RegionOfInterest(0, median, None, None)
    part = Run.open(analyze(Request(str(archive), str(tmp_path / "b.run"), roi=early)))
    of_all, of_part = (query(one, "select count(*) as n from calls")["n"][0] for one in (whole, part))
    assert 0 < of_part == part.table("calls").collect().height < of_all


def test_a_path_is_no_pattern(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "it's [a]*.run"
    shutil.copytree(run.path, place)
    assert query(Run.open(place), LOST).equals(query(run, LOST))


def test_what_cannot_be_run_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = logpost("sql", run.path, "select nothing from calls")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert 'column "nothing" not found' in done.stderr
    with pytest.raises(InputError, match="the query has no rows to show"):
        query(run, "")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"pip install 'logpost\[sql\]'"):
        query(run, LOST)


def test_rows_are_printed_as_a_table_csv_and_json(run: Run) -> None:
    text = "select 1 as one, '\x1b[2J' as two"
    table = logpost("sql", run.path, text)
    assert (table.returncode, table.stderr) == (0, "")
    assert "\x1b" not in table.stdout
    assert logpost("sql", run.path, "select 1 as one, 'x' as two", "--csv").stdout == "one,two\n1,x\n"
    assert json.loads(logpost("sql", run.path, text, "--json").stdout)["rows"] == [{"one": 1, "two": "\x1b[2J"}]
    assert "accounting" in logpost("sql", run.path).stdout
