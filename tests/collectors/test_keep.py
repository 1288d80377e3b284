"""The flight recorder: a ring per process, what it has overwritten counted exactly, and dumped while it turns."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost import collectors
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors.keep import Keep, keep
from logpost.errors import InputError

pytestmark = pytest.mark.mpi

ROUNDS = 20_000
"""Of test program keeps.c: an Irecv, a Send and a Wait, and a Barrier every fourth time."""


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("60s", Keep(500_000_000, 60)),
        ("500MB", Keep(500_000_000)),
        ("10min,2GB", Keep(2_000_000_000, 600)),
        ("1.5MB", Keep(1_500_000)),
    ],
)
def test_times_and_sizes_are_read(text: str, meant: Keep) -> None:
    assert keep(text) == meant


@pytest.mark.parametrize("text", ["60", "0s", "10kB", "1s,2min"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r" is neither a time nor a size; .*60s, 500MB"):
        keep(text)


def test_a_ring_too_small_for_its_slots_is_refused() -> None:
    with pytest.raises(InputError, match=r"^--keep 0\.1MB is less than .* at least 1MB$"):
        keep("0.1MB")


def test_what_contradicts_the_ring_is_refused(tmp_path: Path) -> None:
    for options, said in (
        (("--keep", "1MB", "--limit", "5"), "--limit 5 stops a recording that --keep 1MB is"),
        (("--keep-in", "/dev/shm"), "--keep-in /dev/shm is about rings; write --keep 10min, too"),
        (("--keep", "1MB", "--with", "scorep"), "--keep is not for Score-P, which has"),
    ):
        done = recording.record(tmp_path, "true", options=options)
        assert done.status == 2
        assert said in done.err


def _properties(trace: recording.Trace) -> dict[str, int]:
    found = re.findall(r"^Property name\s+LOGPOST::(\S+)\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    return {name: int(value) for name, value in found}


def test_every_overwritten_call_is_counted_and_the_rest_fits_together(mpi: str, tmp_path: Path) -> None:
    """Two ranks make 3 × 20,000 calls for messages and 5,000 barriers, and Init, Comm_rank, Comm_size, Barrier and
    Finalize: 65,005 each. Messages: 20,000 sent and received each. Whatever is not in the archive is counted."""
    program = recording.build("keeps.c", mpi, tmp_path)
    done = recording.run(mpi, tmp_path, 2, program, str(ROUNDS), options=("--keep", "1MB"))
    assert (done.status, done.out) == (0, f"rounds {ROUNDS}\n")
    trace = done.read()
    stated = _properties(trace)
    calls = [len(trace.calls(rank)) for rank in (0, 1)]
    assert stated["OVERWRITTEN_RANKS"] == 2
    assert sum(calls) + stated["OVERWRITTEN_CALLS"] == 2 * (3 * ROUNDS + ROUNDS // 4 + 5)
    for rank in (0, 1):  # 1 MB, and the window of 62.5 kB that follows: a record is 48 bytes or less
        assert calls[rank] > 13_000
        enters, leaves = trace.on(rank, "ENTER"), trace.on(rank, "LEAVE")
        assert len(enters) == len(leaves)
    sends = sum(len(trace.on(rank, "MPI_SEND")) for rank in (0, 1))
    receives = sum(len(trace.on(rank, "MPI_IRECV")) for rank in (0, 1))
    assert sends == receives, "each message has both halves"
    assert 4 * ROUNDS == (
        sends + receives + stated["OVERWRITTEN_SENDS"] + stated["OVERWRITTEN_RECEIVES"] + stated["HALVES_LEFT_OUT"]
    )
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    blamed = {count.name: count.count for count in run.manifest.quality if count.severity != "info" and count.count}
    assert blamed == {}
    assert run.manifest.messages == sends
    counted = {count.name: count.count for count in run.manifest.quality if count.blame == "recording"}
    assert counted["overwritten_calls"] == stated["OVERWRITTEN_CALLS"]
    assert f"rings have overwritten {stated['OVERWRITTEN_CALLS']:,} calls" in run.manifest.overwritten[0]


def test_requests_that_straddle_the_cut_are_paired_rightly(mpi: str, tmp_path: Path) -> None:
    """Each round has messages of one of 97 sizes: a message paired with another round's shows by its size.
    A round has 6 + 4 messages a rank; Waits are in another order than posts, and one receive is a round ahead."""
    program = recording.build("keeps_all.c", mpi, tmp_path)
    rounds = 4000
    done = recording.run(mpi, tmp_path, 2, program, str(rounds), options=("--keep", "1MB"))
    stated = _properties(done.read())
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    counted = {count.name: count.count for count in run.manifest.quality if count.count}
    assert not {"overwritten_inexactly", "bytes_differ", "send_unmatched", "receive_unmatched"} & set(counted)
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    halves = 2 * 2 * (rounds * 10 + 1)
    assert halves == (
        2 * run.manifest.messages
        + stated["OVERWRITTEN_SENDS"]
        + stated["OVERWRITTEN_RECEIVES"]
        + stated["HALVES_LEFT_OUT"]
    )


@pytest.mark.parametrize("end", ["abort", "kill", "exec"])
def test_however_it_ends_the_ring_is_read(openmpi: str, tmp_path: Path, end: str) -> None:
    """MPI_Abort, SIGKILL, exec without MPI_Finalize: the last rounds are there, and the sum of calls is exact."""
    program = recording.build("keeps.c", openmpi, tmp_path)
    done = recording.run(openmpi, tmp_path, 2, program, str(ROUNDS), end, options=("--keep", "1MB"))
    trace = done.read()
    stated = _properties(trace)
    # Rank 1 may be killed while rank 0 continues; calls that were entered and never left are in the archive, too.
    completed = 2 * (3 * ROUNDS + ROUNDS // 4 + 3)
    assert (
        completed - 4 <= sum(len(trace.calls(rank)) for rank in (0, 1)) + stated["OVERWRITTEN_CALLS"] <= completed + 2
    )
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [c.name for c in run.manifest.quality if c.severity != "info" and c.count] in ([], ["collective_incomplete"])


def test_a_ring_of_a_time_grows_no_further_than_it_needs(openmpi: str, tmp_path: Path) -> None:
    """60,000 rounds last 50 ms or more; of the last 10 ms a part is kept, and not all that 500 MB could hold."""
    program = recording.build("keeps.c", openmpi, tmp_path)
    options = ("--keep", "0.01s", "--window", "64", "--keep-raw", "--keep-in", str(tmp_path / "shm"))
    done = recording.run(openmpi, tmp_path, 2, program, str(3 * ROUNDS), options=options)
    stated = _properties(done.read())
    assert stated["OVERWRITTEN_CALLS"] > 0
    rings = list((tmp_path / "shm").glob("logpost_*.raw/*.ring"))
    assert len(rings) == 2
    calls = 3 * (3 * ROUNDS + ROUNDS // 4)
    assert all(2 * 65536 <= ring.stat().st_size < calls * 40 for ring in rings)


def test_a_deadlock_is_named_and_a_signal_disturbs_no_rank(openmpi: str, tmp_path: Path) -> None:
    """A dump while the ring turns, on SIGUSR2, then the deadlock that the program ends in: both are well formed."""
    program = recording.build("keeps.c", openmpi, tmp_path)
    words = [sys.executable, "-m", "logpost.cli.app", "record", "-o", str(tmp_path), "--keep", "1MB", "--hang", "2s"]
    words += ["--calibrate", "none", "--", recording.LAUNCHERS[openmpi], "-n", "2", str(program), "12000", "hang", "20"]
    with subprocess.Popen(words, env=recording.environment(), stderr=subprocess.PIPE, text=True) as recorder:
        try:
            _appears(tmp_path, "*.raw/*.ring", 200_000)
            recorder.send_signal(signal.SIGUSR2)
            dump = _appears(tmp_path, "*_dump/traces.otf2").parent
            hang = _appears(tmp_path, "*_hang/traces.otf2").parent
            assert recorder.poll() is None, "the program continues"
        finally:
            recorder.terminate()
            _, said = recorder.communicate(timeout=60)
    assert f"the run so far: kill -USR2 {recorder.pid}" in said
    for archive in (dump, hang):
        trace = recording.read(archive)
        sends = sum(len(trace.on(rank, "MPI_SEND")) for rank in (0, 1))
        receives = sum(len(trace.on(rank, "MPI_IRECV")) for rank in (0, 1))
        assert abs(sends - receives) <= (2 if archive == hang else 200), "between two copies a rank continues"
    stated = _properties(recording.read(hang))
    assert stated["OVERWRITTEN_CALLS"] > 0
    run = Run.open(analyze(Request(str(hang), str(tmp_path / "a.run"))))
    ended = "\n".join(run.manifest.ended_early)
    assert "rank 0: MPI_Recv from rank 1, tag 7" in ended
    assert "rank 1: MPI_Recv from rank 0, tag 7" in ended
    assert "Deadlock: rank 0" in ended


@pytest.mark.parametrize("how", ["-pie -fPIE", "-no-pie -fPIE", "-no-pie -fno-pie"])
def test_a_program_requests_an_archive(openmpi: str, tmp_path: Path, how: str) -> None:
    """logpost_dump() after 100 of 101 barriers: one archive has the 100, the other one, of the end, has all.

    Without the recorder it does nothing.
    """
    include = f"-I{Path(collectors.__file__).parent}"
    program = recording.build("keeps_requested.c", openmpi, tmp_path, include, *how.split())
    alone = subprocess.run(
        [recording.LAUNCHERS[openmpi], "-n", "2", str(program)],
        env=recording.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert alone.stdout == "done\n"
    done = recording.run(openmpi, tmp_path, 2, program, "4", options=("--keep", "1MB"))
    assert (done.status, done.out) == (0, "done\n")
    assert "logpost: the program requested the run" in done.err
    assert _barriers(tmp_path) == {True: 100, False: 101}


def test_a_program_starts_its_archive(mpi: str, tmp_path: Path) -> None:
    """logpost_start() after 60 of 100 barriers: Init, Comm_rank and 60 barriers count as overwritten on each rank."""
    program = recording.build("keeps_requested.c", mpi, tmp_path, f"-I{Path(collectors.__file__).parent}")
    done = recording.run(mpi, tmp_path, 2, program, "3", "60", options=("--keep", "1MB"))
    assert (done.status, done.out) == (0, "done\n")
    assert _barriers(tmp_path) == {True: 40, False: 41}
    for path in tmp_path.glob("logpost_*/traces.otf2"):
        stated = _properties(recording.read(path.parent))
        assert (stated["OVERWRITTEN_CALLS"], stated["OVERWRITTEN_OPERATIONS"]) == (2 * 62, 2 * 60)
        run = Run.open(analyze(Request(str(path.parent), str(tmp_path / f"{path.parent.name}.run"))))
        assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []


def _barriers(folder: Path) -> dict[bool, int]:
    """Calls of MPI_Barrier of rank 0, in the archive that was requested and in that of the end."""
    return {
        path.parent.name.endswith("_dump"): recording.read(path.parent).calls(0).count("MPI_Barrier")
        for path in folder.glob("logpost_*/traces.otf2")
    }


@pytest.mark.skipif(not all(map(shutil.which, ("oshcc", "oshrun"))), reason="oshcc or oshrun is not installed")
def test_openshmem_shares_the_ring(tmp_path: Path) -> None:
    """Init, 20,000 rounds of a put, a quiet and an atomic, 5,001 barriers and Finalize: 65,003 calls a PE."""
    program = recording.build("keeps_shmem.c", "openmpi", tmp_path, compiler="oshcc")
    env = recording.environment(OMPI_MCA_memory="^patcher")
    command = ("oshrun", "-n", "2", str(program), str(ROUNDS))
    done = recording.record(tmp_path, *command, options=("--keep", "1MB"), env=env)
    assert (done.status, done.out) == (0, f"counter {ROUNDS}\n")
    trace = done.read()
    stated = _properties(trace)
    left = sum(len([e for e in trace.on(rank, "ENTER") if e.region.startswith("shmem_")]) for rank in (0, 1))
    assert left + stated["OVERWRITTEN_CALLS"] == 2 * (3 * ROUNDS + ROUNDS // 4 + 3)
    puts = sum(len(trace.on(rank, "RMA_PUT", "RMA_ATOMIC")) for rank in (0, 1))
    assert puts + stated["OVERWRITTEN_TRANSFERS"] == 2 * 2 * ROUNDS
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []


def _appears(folder: Path, pattern: str, size: int = 1) -> Path:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for path in folder.glob(f"logpost_{pattern}"):
            if path.stat().st_size >= size:
                return path
        time.sleep(0.1)
    raise AssertionError(f"no {pattern} in {list(folder.iterdir())}")
