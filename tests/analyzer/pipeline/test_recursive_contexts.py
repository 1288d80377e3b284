"""Calling contexts whose parents lead back to themselves: the fault is counted and shown, and no record is lost."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.analyzer import imbalance
from tests.analyzer.in_process import analyze
from tests.cli.command import logpost
from tests.rewritten import rewritten

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The imbalance of four ranks, and the same archive with its regions entered in contexts that are a circle."""
    folder = tmp_path_factory.mktemp("circle")
    anchor = imbalance.write(folder)
    circle = rewritten(anchor, folder / "circle", "circle")
    whole, recursive = (
        Run.open(analyze(Request(str(of), str(folder / name)))) for of, name in ((anchor, "a.run"), (circle, "b.run"))
    )
    return whole, recursive


def rows(run: Run, table: str, *columns: str) -> pl.DataFrame:
    return run.table(table).select(columns).sort(columns).collect()


def test_the_circle_is_counted_and_shown(runs: tuple[Run, Run]) -> None:
    # One circle, which is cut at one place: the context that has no parent then.
    assert {one.name: one.count for one in runs[0].manifest.quality if one.severity == "error"} == {}
    assert {one.name: one.count for one in runs[1].manifest.quality if one.severity == "error"} == {
        "cyclic_reference": 1
    }
    text, data = logpost("report", runs[1].path, "--full"), logpost("report", runs[1].path, "--json")
    assert (text.returncode, data.returncode) == (0, 0), text.stderr + data.stderr
    assert "definitions whose parents lead back to themselves" in " ".join(text.stdout.split())
    shown = {one["name"]: one["count"] for one in json.loads(data.stdout)["quality"]}
    assert shown["cyclic_reference"] == 1


def test_no_record_is_lost(runs: tuple[Run, Run]) -> None:
    whole, recursive = runs
    for table, columns in (
        ("calls", ("location", "enter_ps", "leave_ps", "region")),
        ("collectives", ("location", "instance", "enter_ps", "leave_ps")),
    ):
        before = rows(whole, table, *columns)
        assert before.height > 0
        assert rows(recursive, table, *columns).equals(before), table
    # A circle of all regions that is cut at one place is a path through all of them.
    depth = recursive.table("callpaths").select(pl.col("depth").max()).collect().item()
    assert depth == recursive.table("regions").collect().height - 1
