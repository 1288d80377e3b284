"""Receives that name no sender: said in the archive and in the run, of whichever call took the message."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.pipeline.shards.test_shards import blocks_read
from tests.collectors import recording
from tests.said import facts

from logpost.analyzer.explain.messages import explain
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif.ask import predict
from logpost.analyzer.predict.whatif.plan import Ask
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

OPEN = [100, 110, 120, 130, 140, 140, 150, 160, 170, 180, 200, 210]
"""Tags of any_source.c whose sender the order of arrival decides; 140 is of a request that is started twice."""


def test_receives_that_name_no_sender_are_marked(mpi: str, tmp_path: Path) -> None:
    program = recording.build("any_source.c", mpi, tmp_path)
    done = recording.run(mpi, tmp_path, 3, program)
    assert done.status == 0, done.err
    received = done.read().on(0, "MPI_RECV", "MPI_IRECV")
    assert len(received) == 30
    assert sorted(e.number("Tag") for e in received if "logpost:any_source" in e.attributes) == OPEN

    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    left_open = run.table("any_source").collect()
    assert left_open["location"].to_list() == [0] * len(OPEN)
    messages = run.table("messages").collect()
    taken = messages.join(left_open, left_on=["recv_location", "recv_number"], right_on=["location", "number"])
    assert sorted(taken["tag"]) == OPEN

    named = messages.join(taken, on="recv_number", how="anti")["recv_number"][0]
    for number, any_source in ((taken["recv_number"][0], True), (named, False)):
        (message,) = explain(run, f"0:{number}").messages
        assert message.any_source == any_source

    plan = blocks_read(Request(str(done.archive), ""), tmp_path / "blocks", 2)
    parts = Run.open(analyze(Request(str(done.archive), str(tmp_path / "b.run"), shards=plan.text())))
    assert parts.table("any_source").collect().equals(left_open)

    (note,) = [note for note in predict(run, Ask(settings=("L=x2",))).notes if "MPI_ANY_SOURCE" in note]
    assert facts(note)[:2] == ["12", "30"]
    assert "MPI_Wait at any_source.c" in note
