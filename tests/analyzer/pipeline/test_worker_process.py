"""The process that analyzes: begun early, given its work later, and ended when it receives none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from logpost.analyzer.pipeline import worker_process
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze


@pytest.mark.slow
def test_the_process_that_was_begun_early_analyzes(traces: Path, tmp_path: Path) -> None:
    worker_process.begin_early()
    (early,) = worker_process._early
    run = analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run")))
    assert (run / "manifest.json").is_file()
    assert early.process.returncode == 0
    assert not worker_process._early


def test_a_process_without_work_ends_and_says_nothing() -> None:
    worker_process.begin_early()
    worker = worker_process.worker()
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait(60) == 0
    with os.fdopen(worker.says) as written:
        assert written.read() == ""


def test_a_process_begun_early_without_the_limit_of_the_request_is_ended_unused() -> None:
    worker_process.begin_early()
    (early,) = worker_process._early
    worker = worker_process.worker(limited=True)
    assert worker.limited
    assert early.process.returncode is not None
    assert not worker_process._early
    worker.end()


def test_a_process_that_died_before_its_work_arrived_is_no_error_here() -> None:
    worker = worker_process.worker()
    worker.process.kill()
    worker.process.wait(60)
    worker.ask({"archive": "x" * 100_000})
    os.close(worker.says)


def test_a_mistake_of_the_user_ends_the_process_too(tmp_path: Path) -> None:
    """The early process holds standard error: `logpost_process` returns when it has ended as well."""
    from tests.cli.command import logpost_process

    done = logpost_process("analyze", tmp_path / "none")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "does not exist" in done.stderr
