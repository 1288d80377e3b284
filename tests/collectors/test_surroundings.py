"""A program must not be harmed by being recorded, and nothing that is not its communication may be in the archive."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.collectors import recording


def _record(
    mpi: str, tmp_path: Path, *arguments: str, options: tuple[str, ...] = (), ranks: int = 2
) -> recording.Result:
    tmp_path.mkdir(exist_ok=True)
    program = recording.build("surroundings.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, ranks, program, *arguments, options=options)
    assert result.status == 0, result.err
    assert result.err.count("is through") == ranks
    return result


def test_forked_children_leave_nothing(mpi: str, tmp_path: Path) -> None:
    result = _record(mpi, tmp_path, "fork")
    assert sorted(result.out.splitlines()) == ["child 0", "child 0"]
    trace = result.read()
    assert len(trace.defined("LOCATION_GROUP")) == 2
    for rank in (0, 1):
        assert trace.calls(rank) == ["MPI_Init", "MPI_Comm_rank", *["MPI_Sendrecv"] * 20, "MPI_Finalize"]


def test_descriptors_and_directories_are_the_programs_own(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "close", options=("--window", "64"), ranks=1)
    assert result.out == "", "the log keeps no descriptor that a program could close or reuse"
    trace = result.read()
    # 20000 records of 24 bytes: the window of 64 KiB moves 7 times, each noted in the trace, none losing a call
    assert trace.calls(0).count("MPI_Comm_size") == 20000
    assert len(trace.on(0, "BUFFER_FLUSH")) == 20000 * 24 // 65536


def test_library_internal_calls_are_not_recorded(mpi: str, tmp_path: Path) -> None:
    trace = _record(mpi, tmp_path, "files", str(tmp_path / "data")).read()
    assert trace.calls(0) == [
        "MPI_Init",
        "MPI_Comm_rank",
        "MPI_File_open",
        "MPI_File_set_view",
        "MPI_File_write_at_all",
        "MPI_File_read_at_all",
        "MPI_File_close",
        "MPI_Finalize",
    ]
    assert not [e for e in trace.events if e.kind in ("MPI_SEND", "MPI_RECV", "MPI_ISEND", "MPI_IRECV")]


def test_failed_calls_are_calls_without_messages(mpi: str, tmp_path: Path) -> None:
    result = _record(mpi, tmp_path, "errors")
    assert sorted(result.out.splitlines()) == ["bad rank 1", "bad rank 1", "truncated 1"]
    trace = result.read()
    assert [e.number("Tag") for e in trace.on(0, "MPI_SEND")] == [1, 5]
    assert [e.number("Tag") for e in trace.on(1, "MPI_RECV")] == [5], "the truncated receive delivered nothing"
    assert trace.calls(1).count("MPI_Recv") == 1


def test_one_sided_calls_are_calls(mpi: str, tmp_path: Path) -> None:
    trace = _record(mpi, tmp_path, "rma").read()
    assert trace.calls(0)[2:-1] == ["MPI_Win_allocate", "MPI_Win_fence", "MPI_Put", "MPI_Win_fence", "MPI_Win_free"]
    assert [line for line in trace.defined("REGION") if '"MPI_Put"' in line and "Role: RMA" in line]


def test_streams_are_untouched(mpi: str, tmp_path: Path) -> None:
    result = _record(mpi, tmp_path, "errors", options=("--quiet",))
    program = tmp_path / "surroundings"
    plain = subprocess.run(
        [recording.LAUNCHERS[mpi], "-n", "2", str(program), "errors"],
        capture_output=True,
        text=True,
        check=False,
        env=recording.environment(),
    )
    assert sorted(result.out.splitlines()) == sorted(plain.stdout.splitlines())
    assert "logpost" not in result.err
    assert plain.returncode == result.status


def test_limit_ends_the_recording_not_the_program(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "many", "60000", options=("--limit", "1", "--window", "128"), ranks=1)
    said = [line for line in result.err.splitlines() if "recording of this process ends here" in line]
    assert len(said) == 1
    assert "limit reached" in said[0]
    assert "1 threads stopped recording before the program ended" in result.err
    trace = result.read()
    # 1 MiB holds at most 2^20 / 24 calls without arguments worth noting; it ends within the last two windows
    calls = trace.calls(0).count("MPI_Comm_size")
    assert (2**20 - 2 * 2**17) // 24 < calls < 2**20 // 24
    assert "LOGPOST::STOPPED_THREADS\nProperty value                 1" in trace.info


def test_file_size_limit_does_not_kill_the_program(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, "small files", "60000", options=("--window", "256"), ranks=1)
    assert "RLIMIT_FSIZE prevents" in result.err
    assert result.read().calls(0).count("MPI_Comm_size") > 25000


def test_full_disk_ends_the_recording_not_the_program(openmpi: str, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(small)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"mounting a small file system needs root: {done.stderr.strip()}")
    try:
        program = recording.build("surroundings.c", openmpi, tmp_path)
        result = recording.run(openmpi, small, 2, program, "many", "60000")
        assert result.status == 0, result.err
        assert result.err.count("is through") == 2
        assert "ends here, the program continues" in result.err
        assert "No space left on device" in result.err
        # there may be no room for the archive either: then the raw logs stay, and a bigger disk takes the archive
        raw = list(small.glob("*.raw"))
        if raw:
            again = recording.logpost("record", "-o", str(tmp_path), "--recover", str(raw[0]))
            assert again.returncode == 0, again.stderr
            archive = next(tmp_path.glob("logpost_surroundings_*/traces.otf2")).parent
        else:
            archive = result.archive
        trace = recording.read(archive)
        calls = [trace.calls(rank).count("MPI_Comm_size") for rank in (0, 1)]
        # 60,000 calls of 24 bytes and a window of 256 KiB for each of two are 3.4 MB: more than 3 MiB
        assert 20000 < min(calls) < 60000
        assert not list(small.glob(".logpost*")), "nothing half made stays behind"
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_unwritable_raw_directory_on_a_node(openmpi: str, tmp_path: Path) -> None:
    """A node that cannot reach the directory says so and runs on (here: the directory vanishes before the start)."""
    program = recording.build("surroundings.c", openmpi, tmp_path)
    script = tmp_path / "gone.sh"
    script.write_text(f'#!/bin/sh\nexport LOGPOST_RAW_DIR=/proc/nowhere\nexec "{program}" "$@"\n')
    script.chmod(0o755)
    result = recording.run(openmpi, tmp_path, 1, script, "many", "10")
    assert result.status == 2, "the program ran well, and there is no archive"
    assert "cannot write /proc/nowhere" in result.err
    assert "nothing was recorded" in result.err


def test_memory_is_bounded_by_the_window(openmpi: str, tmp_path: Path) -> None:
    peaks = []
    for times in ("1000", "301000"):
        result = _record(openmpi, tmp_path / times, "many", times, options=("--window", "64", "--json"), ranks=1)
        assert json.loads(result.err.splitlines()[-1])["calls"] > int(times)
        peaks.append(int(result.out.split()[1]))
    # 300,000 more records of 24 bytes are 7.2 MB of log; mapped at once is one window of 64 KiB
    assert peaks[1] - peaks[0] < 1_000_000, peaks
