"""Samples of the code between calls: where they say the program was, and that they do it no harm."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.collectors.recording import Event, Trace

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run


def _record(mpi: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> recording.Result:
    program = recording.build("sampled.c", mpi, folder, "-O2", "-g", "-pthread")
    result = recording.run(mpi, folder / "out", 1, program, *arguments, options=options)
    assert result.status == 0, result.err
    return result


def _samples(trace: Trace, location: int = 0) -> list[Event]:
    return trace.on(location, "CALLING_CONTEXT_SAMPLE")


def _functions(trace: Trace, location: int = 0) -> Counter[str]:
    return Counter(e.text.split('"')[1].partition("@")[0] for e in _samples(trace, location))


def _callers(trace: Trace, function: str) -> set[tuple[str, ...]]:
    """The functions above each sampled one, outermost first."""
    parents: dict[str, tuple[str, str | None]] = {}
    for line in trace.defined("CALLING_CONTEXT"):
        match = re.match(r'CALLING_CONTEXT\s+(\d+)\s+Region: "(.*?)".*Parent: (?:UNDEFINED|".*" <(\d+)>)', line)
        assert match is not None, line
        parents[match[1]] = (match[2], match[3])
    found = set()
    for e in _samples(trace):
        match = re.search(r'Context: ".*?" <(\d+)>', e.text)
        assert match is not None
        name, above = parents[match[1]]
        path: list[str] = []
        while above is not None:
            caller, above = parents[above]
            path.insert(0, caller)
        if name == function:
            found.add(tuple(path))
    return found


def test_two_functions_have_the_shares_of_their_time(mpi: str, tmp_path: Path) -> None:
    trace = _record(mpi, tmp_path, "shares").read()
    found = _functions(trace)
    total = found["relax"] + found["smooth"]
    # 50 times 24 and 8 ms of processor time, a sample each 10 ms; a virtual processor that pauses has fewer
    assert 60 < total <= 165
    # three quarters of a binomial number; 4 of its standard deviations
    assert found["relax"] == pytest.approx(0.75 * total, abs=4 * math.sqrt(total * 0.75 * 0.25))
    # functions without frame pointers, and one whose stack is realigned below arrays of varying length
    assert _callers(trace, "relax") <= {("main", "shares", "aligned"), ("main", "aligned"), ("main", "shares")}
    assert not trace.within(0, "MPI_Barrier", "CALLING_CONTEXT_SAMPLE")[0]
    assert any("processor time of a thread" in line for line in trace.defined("INTERRUPT_GENERATOR"))


def test_none_are_taken_where_none_are_wanted(openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, "shares", options=("--sample", "0")).read()
    assert not _samples(trace)
    assert not trace.defined("INTERRUPT_GENERATOR")


def test_an_analysis_knows_the_time_from_sample_to_sample(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "shares", options=("--sample", "250"))
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    assert run.manifest.sample_ps == 4_000_000_000


def test_a_program_with_a_profiling_timer_keeps_it(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "sigprof")
    assert result.out == "SIGPROF arrived\n"
    assert _functions(result.read())["relax"] > 40


def test_a_program_that_takes_the_signal_has_it_alone(mpi: str, tmp_path: Path) -> None:
    result = _record(mpi, tmp_path, "takes")
    assert result.out == "each once\n"
    assert ": the program uses their signal" in result.err
    assert 2 <= _functions(result.read())["relax"] <= 20, "0.1 s of 0.4 s"


def test_a_program_that_waits_for_any_signal_gets_none(openmpi: str, tmp_path: Path) -> None:
    assert _record(openmpi, tmp_path, "waits").out == "nothing arrived\n"


def test_no_system_call_is_interrupted(mpi: str, tmp_path: Path) -> None:
    result = _record(mpi, tmp_path, "sleeps", options=("--sample", "1000"))
    assert result.out == "interrupted 0\n"
    assert _samples(result.read())


def test_each_thread_is_sampled(openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, "threads").read()
    first, second = _functions(trace), _functions(trace, 1 << 32)
    assert 20 < first["relax"] <= 53
    assert 20 < second["smooth"] <= 53
    assert not first["smooth"]
    assert not second["relax"]


def test_a_sample_has_the_periods_for_which_the_program_blocked_its_signal(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "blocks")
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    periods = run.table("samples").collect()["periods"].to_list()
    # 0.4 s without a signal are one sample of about 40 periods, then 20 of one; a virtual processor that pauses has
    # fewer.
    assert max(periods) > 20
    assert len(periods) < 35
    assert 30 < sum(periods) <= 63


def test_a_forked_child_leaves_no_sample(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "forks")
    assert result.out == "child 0\n"
    found = _functions(result.read())
    assert 15 < found["relax"] <= 43
    assert not found["smooth"]


def test_a_long_time_without_calls_has_all_its_samples(openmpi: str, tmp_path: Path) -> None:
    """65,536 bytes of a window are 1,638 samples; the handler empties it."""
    trace = _record(openmpi, tmp_path, "long", "12", options=("--sample", "250", "--window", "64")).read()
    # 3,000 on a quiet machine; a virtual processor that pauses has fewer
    assert 1638 < len(_samples(trace)) <= 3050
    assert len(trace.on(0, "BUFFER_FLUSH")) == 1
    assert "SAMPLES_LOST" not in trace.info


def test_a_fortran_subroutine(mpi: str, tmp_path: Path) -> None:
    program = recording.build(
        "sampled.f90", mpi, tmp_path, "-O2", "-g", compiler={"openmpi": "mpif90.openmpi", "mpich": "mpif90.mpich"}[mpi]
    )
    trace = recording.run(mpi, tmp_path / "out", 1, program).read()
    assert set(_functions(trace)) <= {"solver::relax", "main"}
    assert len(_samples(trace)) >= 5
