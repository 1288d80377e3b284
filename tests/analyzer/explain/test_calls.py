"""What `explain` lists of a run besides messages: each row names a call that `explain` takes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from typer.testing import CliRunner

from logpost.analyzer.explain.calls import longest_operations, worst_transfers
from logpost.analyzer.explain.messages import explain
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.cli.app import build
from logpost.replay.cost.message_models import MessageModel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A program of one-sided transfers and collective operations, without a message."""
    made = tmp_path_factory.mktemp("calls") / "transpose.run"
    return Run.open(analyze(Request(str(traces / "scorep-prk-rma-transpose-flush-4"), str(made), machine="alewife")))


def test_the_transfers_that_are_explained_worst_are_first(run: Run) -> None:
    found = worst_transfers(run, 3)
    misfits = [(one.residual_ps or 0) + (one.deficit_ps or 0) for one in found]
    every = run.table("transfers").filter(pl.col("complete_call") >= 0)
    largest = every.select((pl.col("residual_ps") + pl.col("deficit_ps")).top_k(3)).collect().to_series()
    assert misfits == sorted(largest, reverse=True)
    (first,) = explain(run, str(found[0].call), models=[MessageModel.full], most=1).transfers
    assert first.kind == found[0].what
    assert first.end_ps - first.begin_ps >= found[0].time_ps


def test_the_longest_operations_are_first(run: Run) -> None:
    found = longest_operations(run, 2)
    assert found[0].time_ps >= found[1].time_ps > 0
    (one, *_) = explain(run, str(found[0].call), models=[MessageModel.full]).collectives
    assert (one.operation, one.where, one.leave_ps - one.since_ps) == (found[0].what, found[0].where, found[0].time_ps)


def test_a_program_without_messages_has_something_to_explain(run: Run) -> None:
    assert run.manifest.messages == 0
    done = CliRunner().invoke(build("explain"), ["explain", str(run.path)], terminal_width=140)
    assert done.exit_code == 0, done.output
    assert "Messages with" not in done.stdout
    assert "Transfers with the largest residual and deficit" in done.stdout
    assert f"explain {run.path} {worst_transfers(run, 1)[0].call}" in done.stdout.replace("\n", "")
