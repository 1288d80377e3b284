"""A run keeps the layout of data in memory: split again in place, strided messages cost what they did."""

from __future__ import annotations

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.resplit import Resplit
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.parquet import frame

from .programs import SIMULATE, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")


def test_strided_messages_of_a_run_are_those_of_the_archive(tmp_path: Path) -> None:
    simulate(tmp_path / "cases", cases=["strided_halo"])
    case = tmp_path / "cases" / "strided_halo"
    run = Run.open(
        analyze(Request(str(case / "traces.otf2"), str(tmp_path / "a.run"), machine=str(case / "machine.toml")))
    )
    pairs = run.table("pairs").collect()
    assert (pairs["middleware_ps"] > 0).all()
    assert_frame_equal(frame(schema.PAIRS, Resplit(run).under().pairs()), pairs)
