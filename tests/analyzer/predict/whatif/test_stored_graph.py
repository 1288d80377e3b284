"""The graph of a run is built once, and read from a file by the questions that follow."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from logpost.analyzer.predict.whatif import Ask, lengths, predict
from logpost.analyzer.run.directory import Run

ASK = Ask(settings=("L=x4",))


@pytest.fixture
def run(runs: dict[str, Run], tmp_path: Path) -> Run:
    """A copy, in which no question has left a graph."""
    found = Run.open(shutil.copytree(runs["pipit-ping-pong"].path, tmp_path / "a.run"))
    for file in found.path.glob("graph*.bin"):
        file.unlink()
    return found


def _graph(run: Run) -> Path:
    (file,) = run.path.glob("graph*.bin")
    return file


def test_the_second_question_reads_the_graph_of_the_first(run: Run) -> None:
    first = predict(run, ASK)
    written = _graph(run).stat()
    second = predict(run, ASK)
    assert (_graph(run).stat().st_mtime_ns, _graph(run).stat().st_ino) == (written.st_mtime_ns, written.st_ino)
    assert (second.measured_ps, second.predicted_ps, second.interval_ps) == (
        first.measured_ps,
        first.predicted_ps,
        first.interval_ps,
    )
    assert second.regions == first.regions
    assert second.after.path_ps == first.after.path_ps


def test_without_contention_the_length_in_the_next_question_needs_no_program(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Ask(settings=("L=x4",), contention=False)
    first = lengths(run, ask)
    monkeypatch.setattr("logpost.analyzer.run.replayable.program_of", None)
    assert lengths(run, ask) == first


def test_other_protocols_have_another_graph_which_is_not_kept(run: Run) -> None:
    predict(run, ASK)
    written = _graph(run).stat().st_ino
    predict(run, Ask(settings=("eager_limit=0",)))
    assert _graph(run).stat().st_ino == written


def test_a_graph_of_other_tables_is_built_anew(run: Run) -> None:
    predict(run, ASK)
    written = _graph(run).stat().st_ino
    os.utime(run.path / "messages.parquet", ns=(1, 1))
    predict(run, ASK)
    assert _graph(run).stat().st_ino != written


def test_a_damaged_graph_is_built_anew(run: Run) -> None:
    first = predict(run, ASK)
    bytes_of = bytearray(_graph(run).read_bytes())
    bytes_of[len(bytes_of) // 2] ^= 1
    _graph(run).write_bytes(bytes_of)
    assert predict(run, ASK).predicted_ps == first.predicted_ps
    assert _graph(run).read_bytes() != bytes(bytes_of)


def test_a_graph_that_cannot_be_written_is_built_each_time(run: Run) -> None:
    first = predict(run, ASK)
    file = _graph(run)
    file.unlink()
    file.mkdir()
    assert predict(run, ASK).predicted_ps == first.predicted_ps
    assert file.is_dir()
