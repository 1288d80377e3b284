"""The program on an ideal network: what no model explains is the network's and the library's, not the program's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs
from tests.collectors.raw_logs import MONOTONIC, RECV, SEND, Log

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.render.report.efficiencies import residual_text
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Report
from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble

MS = 10**6  # ns, as the logs have them
RANKS, STEPS = 4, 100


def _report(folder: Path, logs: list[Log], end: int, machine: str | None = None) -> Report:
    for log in logs:
        log.call("MPI_Finalize", end, end + MS)
    raw = raw_logs.write(folder / "raw", *logs)
    archive = assemble.assemble(assemble.find_assembler(), raw, folder).path
    return build(Run.open(analyze(Request(str(archive), str(folder / "a.run"), machine))))


def _logs(ranks: int) -> list[Log]:
    logs = [Log(rank, ranks, boot="one clock", clock=MONOTONIC) for rank in range(ranks)]
    for log in logs:
        log.call("MPI_Init", 0, MS)
    return logs


def _values(report: Report) -> dict[str, float | None]:
    return {one.name: one.value for one in report.efficiencies}


def test_reductions_in_lockstep_are_all_transfer(tmp_path: Path) -> None:
    # 100 times 1 ms of computation and 9 ms in an Allreduce of 8 MiB, on all ranks at the same times. No message of the
    # trace says what a byte costs, so no model explains the 9 ms; no rank waits for another one.
    logs = _logs(RANKS)
    for step in range(STEPS):
        begin = MS + 10 * MS * step
        for log in logs:
            log.collective("MPI_Allreduce", begin + MS, begin + 10 * MS, (RANKS << 23, RANKS << 23))
    report = _report(tmp_path, logs, MS + 10 * MS * STEPS)
    assert _values(report) == pytest.approx(
        {
            "parallel_efficiency": 0.1,
            "load_balance": 1.0,
            "communication_efficiency": 0.1,
            "serialization": 1.0,  # the largest computation, 100 ms, over T_ideal: 100 ms
            "transfer": 0.1,  # T_ideal over T: 1000 ms
        }
    )
    assert report.collective_residual_share == pytest.approx(0.9)
    assert "90.0 % of the ranks' time, in collective operations" in residual_text(report)


def test_waiting_that_a_trace_shows_stays_serialization(tmp_path: Path) -> None:
    # Rank 0 computes 8 ms and sends to rank 1, which has the message after 1 ms and replies at once; rank 0 has the
    # reply after 1 ms more. Rank 1 computes for none of this time: it waits.
    logs = _logs(2)
    for step in range(STEPS):
        begin = MS + 10 * MS * step
        sent, done = begin + 8 * MS, begin + 9 * MS
        logs[0].message(SEND, sent, sent + 1000, 1, 0, 8)
        logs[1].message(RECV, begin if step == 0 else begin - MS + 1000, done, 0, 0, 8)
        logs[1].message(SEND, done, done + 1000, 0, 0, 8)
        logs[0].message(RECV, sent + 1000, begin + 10 * MS, 1, 0, 8)
    found = _values(_report(tmp_path, logs, MS + 10 * MS * STEPS))
    # Rank 0 computes 800 of 1000 ms. Without a network the program lasts that, whatever the machine's model explains,
    # and the 999 us that rank 1 computes behind its last send.
    assert found["communication_efficiency"] == pytest.approx(0.8)
    assert found["serialization"] == pytest.approx(800 / 800.999, rel=1e-5)
    assert found["transfer"] == pytest.approx(0.800999, rel=1e-5)


def test_little_residual_needs_no_word(tmp_path: Path) -> None:
    # The same computation and no communication but a barrier of 1 us.
    logs = _logs(RANKS)
    for log in logs:
        log.collective("MPI_Barrier", 500 * MS, 500 * MS + 1000, (0, 0))
        log.call("MPI_Comm_rank", 600 * MS, 700 * MS)
    report = _report(tmp_path, logs, 1000 * MS)
    assert report.collective_residual_share < 1e-4
    assert residual_text(report) == ""
