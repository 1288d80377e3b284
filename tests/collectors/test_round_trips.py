"""180 round trips of a real MPI, analyzed with machines that are too fast and too slow: nothing of logpost fails, the
report holds against its tables, and a change that slows every message predicts no less time."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.scaled_machine import FACTORS, scaled_machine
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.predict.whatif.direction import SLACK
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run

SLOWER = ("L=+1us", "L=+2us", "L=+16us", "L=+1ms")
"""One way; where each of 360 messages is waited for, all of them are on the critical path."""
MESSAGES = 360
US = 10**6


@pytest.fixture
def archive(mpi: str, tmp_path: Path) -> Path:
    result = recording.run(mpi, tmp_path, 2, recording.build("round_trips.c", mpi, tmp_path))
    assert result.status == 0, result.err
    return result.archive


def test_no_part_fails_however_wrong_the_machine(archive: Path, tmp_path: Path) -> None:
    # `analyze` fails where a part of logpost does, and where the report contradicts its tables.
    known = Run.open(analyze(Request(str(archive), str(tmp_path / "estimated.run"))))
    sizes = known.table("messages").select("bytes").collect()["bytes"]
    assert (sizes.len(), sizes.n_unique(), sizes.max()) == (MESSAGES, 9, 262144)
    for factor in FACTORS:
        machine = scaled_machine(known.machine_file, factor, tmp_path / f"{factor}.toml")
        analyze(Request(str(archive), str(tmp_path / f"{factor}.run"), machine=str(machine)))


def test_slower_messages_never_shorten_the_program(archive: Path, tmp_path: Path) -> None:
    run = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"))))
    measured = build(run).program_ps
    # A receiver without a core, which begins when the send has ended, may find the message.
    waited_for = run.table("messages").filter(pl.col("recv_enter_ps") <= pl.col("send_leave_ps")).collect().height
    assert waited_for > MESSAGES / 2
    before = 0
    for setting, more_us in zip(SLOWER, (1, 2, 16, 1000), strict=True):
        found = predict(run, Ask(settings=(setting,)))
        low, high = found.interval_ps
        assert found.measured_ps == measured, setting
        # Each message waits for the one before: what those need more that a receiver waits for is the program's.
        assert found.predicted_ps >= max(before, measured + waited_for * more_us * US * 95 // 100), setting
        assert (1 - SLACK) * measured - 1 <= low <= found.predicted_ps <= high, setting
        before = found.predicted_ps
