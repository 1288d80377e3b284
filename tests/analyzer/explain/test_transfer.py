"""The one-sided transfers of a call under every model: their parts fill their envelopes."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.in_process import analyze

from logpost.analyzer.explain.messages import explain
from logpost.analyzer.explain.transfer import explain_transfers, transfers_of
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.render.explain.json import as_json
from logpost.analyzer.render.explain.text import print_explanation
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TRANSFER_PARTS
from logpost.analyzer.run.undivided import merged
from logpost.replay.cost.message_models import MessageModel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[None, "alewife"])
def run(request: pytest.FixtureRequest, traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """SHMEM, on the machine estimated from its trace, and on one whose values are known."""
    archive = next((traces / "scorep-shmem-stencil-4").glob("*.otf2"))
    made = tmp_path_factory.mktemp("transfers") / "stencil.run"
    analyze(Request(str(archive), str(made), machine=request.param))
    return Run.open(made)


def test_the_run_s_own_model_gives_the_parts_of_its_table(run: Run) -> None:
    row = run.table("transfers").filter(pl.col("complete_call") >= 0).collect().row(7, named=True)
    rows = transfers_of(run, row["complete_call"])
    assert (rows["complete_call"] == row["complete_call"]).all()
    for explained, mine in zip(explain_transfers(run, rows), rows.iter_rows(named=True), strict=True):
        own = next(split for split in explained.splits if split.model is run.manifest.machine.model)
        parts = {part: mine[f"{part}_ps"] for part in TRANSFER_PARTS}
        assert own.parts_ps == merged(parts, run.manifest.machine.undivided)
        assert own.deficit_ps == mine["deficit_ps"]
        assert (explained.kind, explained.bytes) == (mine["kind"], mine["bytes"])


def test_the_parts_of_every_model_fill_the_envelope(run: Run) -> None:
    puts = run.table("transfers").filter(pl.col("kind") == "put", pl.col("complete_call") >= 0).collect()
    rows = transfers_of(run, puts["call"][len(puts) // 2])
    assert not rows.is_empty()
    for explained in explain_transfers(run, rows):
        assert {MessageModel.full, MessageModel.logp} <= {split.model for split in explained.splits}
        for split in explained.splits:
            assert sum(split.parts_ps.values()) == explained.end_ps - explained.begin_ps


def test_a_call_without_transfers_has_none(run: Run) -> None:
    calls = run.table("calls").select("call").collect()["call"]
    known = run.table("transfers").select("call", "complete_call").collect()
    other = next(call for call in calls if call not in known["call"] and call not in known["complete_call"])
    assert explain_transfers(run, transfers_of(run, other)) == ()


def test_explain_takes_the_transfers_of_a_call_on_any_machine(run: Run) -> None:
    row = run.table("transfers").filter(pl.col("complete_call") >= 0).collect().row(7, named=True)
    own = explain(run, str(row["call"]))
    assert own.transfers == explain_transfers(run, transfers_of(run, row["call"]))
    elsewhere = explain(run, str(row["call"]), machine="alewife", models=[MessageModel.logp])
    assert [[split.model for split in one.splits] for one in elsewhere.transfers] == [[MessageModel.logp]]
    for one in as_json(elsewhere)["transfers"]:
        (split,) = one["partitions"]
        assert sum(split["parts_ps"].values()) == one["envelope_ps"]


def test_of_many_transfers_the_longest_are_shown(traces: Path, tmp_path: Path) -> None:
    """A fence completes all of a rank's puts."""
    run = Run.open(analyze(Request(str(traces / "scorep-prk-rma-stencil-8"), str(tmp_path / "stencil.run"))))
    known = run.table("transfers").filter(pl.col("complete_call") >= 0)
    calls = known.group_by("complete_call").len().collect()
    call, count = calls.sort("len", "complete_call").row(-1)
    assert count > 1
    found = explain(run, str(call), most=1)
    assert (len(found.transfers), found.transfers_left_out) == (1, count - 1)
    longest = run.table("transfers").filter(pl.col("complete_call") == call).collect()["envelope_ps"].max()
    assert found.transfers[0].end_ps - found.transfers[0].begin_ps == longest
    console = Console(width=100, record=True, file=StringIO())
    print_explanation(found, console)
    text = console.export_text()
    assert f"{count - 1} further transfer" in text
    assert text.count(" at rank ") == 1
