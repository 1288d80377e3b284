"""Coarrays: accesses with images and bytes, and the MPI calls beneath them not shown a second time."""

from __future__ import annotations

import ctypes.util
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import logpost
from tests.collectors import recording

from logpost.analyzer.run.directory import Run
from logpost.collectors import coarray

pytestmark = pytest.mark.mpi

IMAGES, ROUNDS = 3, 10


def _program(folder: Path, *compiler: str, source: str = "coarray.f90") -> Path:
    if shutil.which(compiler[0]) is None or ctypes.util.find_library("caf_openmpi") is None:
        pytest.skip("no OpenCoarrays for Open MPI (apt install libcoarrays-openmpi-dev gfortran)")
    made = folder / "accesses"
    command = [compiler[0], str(recording.PROGRAMS / source), "-o", str(made), *compiler[1:]]
    subprocess.run(command, check=True, cwd=folder)
    return made


def _recorded(program: Path, *launcher: str) -> tuple[Path, str]:
    """The archive, and what record said."""
    words = ("record", "-o", "traces", "--calibrate", "none", "--", *launcher, "-n", IMAGES, program)
    # Open MPI has no windows for this library where processes do not copy from each other's memory.
    environment = recording.environment(OMPI_MCA_btl_vader_single_copy_mechanism="cma")
    done = logpost(*words, cwd=program.parent, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "300.0\n"  # each of 50 elements of 3 images holds the image on its right: 50 * (2 + 3 + 1)
    (archive,) = (program.parent / "traces").glob("logpost_*")
    return archive, done.stderr


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "cafrun.openmpi"])
def test_accesses_have_images_and_bytes(launcher: str, tmp_path: Path) -> None:
    program = _program(tmp_path, "mpif90.openmpi", "-fcoarray=lib", "-lcaf_openmpi")
    if shutil.which(launcher) is None:
        pytest.skip(f"no {launcher}")
    archive, _ = _recorded(program, launcher)
    trace = recording.read(archive)
    for rank in range(IMAGES):
        gets, puts = trace.on(rank, "RMA_GET"), trace.on(rank, "RMA_PUT")
        assert [event.number("Bytes") for event in gets] == [50 * 8] * ROUNDS
        assert [event.number("Bytes") for event in puts] == [10 * 8] * ROUNDS
        targets = {int(target) for e in gets + puts for target in re.findall(r"(?:Target|Remote)\D*(\d+)", e.text)}
        assert targets == {(rank + 1) % IMAGES}
        # one sync all a round for reading, one for writing, one before
        regions = [event.region for event in trace.on(rank, "ENTER")]
        assert regions.count("_gfortran_caf_sync_all") == 2 * ROUNDS + 1
        assert regions.count("_gfortran_caf_sync_images") == 1
        assert "MPI_Put" not in regions
        assert "MPI_Get" not in regions
        assert len(trace.on(rank, "RMA_OP_COMPLETE_BLOCKING")) == 2 * ROUNDS + (3 if rank == 0 else 2)
    # atomic_define by image 1, atomic_add and event post by all
    assert sum(len(trace.on(rank, "RMA_ATOMIC")) for rank in range(IMAGES)) == 1 + 2 * IMAGES
    sums = [e for e in trace.on(0, "MPI_COLLECTIVE_END") if e.operation == "ALLREDUCE"]
    assert [event.number("Sent") for event in sums] == [8 * IMAGES]
    analyzed = logpost("analyze", archive, "-o", tmp_path / "run")
    assert analyzed.returncode == 0, analyzed.stderr
    # Each image notifies all others that it stops; none waits in sync images any more, where that is looked at.
    counts = {one.name: (one.count, one.blame) for one in Run.open(tmp_path / "run").manifest.quality if one.count}
    assert counts == {"send_not_received": (IMAGES * (IMAGES - 1), "program")}


@pytest.mark.parametrize(("windows", "progress"), [("pt2pt", True), ("rdma", False)])
def test_a_target_that_computes_is_waited_for_where_it_must_progress(
    windows: str, progress: bool, tmp_path: Path
) -> None:
    """An access is a lock, the data and an unlock: the target may grant the lock and be away for the rest."""
    program = _program(tmp_path, "mpif90.openmpi", "-fcoarray=lib", "-lcaf_openmpi", source="coarray_away.f90")
    environment = recording.environment(OMPI_MCA_btl_vader_single_copy_mechanism="cma", OMPI_MCA_osc=windows)
    words = ("record", "-o", "traces", "--calibrate", "none", "--", "mpirun.openmpi", "-n", 2, program)
    done = logpost(*words, cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    (archive,) = (tmp_path / "traces").glob("logpost_*")
    analyzed = logpost("analyze", archive, "-o", tmp_path / "run")
    assert analyzed.returncode == 0, analyzed.stderr
    tables = Run.open(tmp_path / "run")
    to_first = tables.table("transfers").filter(pl.col("location") == 1, pl.col("target") == 0)
    waited_ps = int(to_first.select(pl.col("processor_queueing_ps").sum()).collect().item())
    # The target computes for 50 ms in each of 10 rounds. The other image's accesses wait for all but the last where
    # they must; where two rounds end one access, the later alone cannot be a slow network. Hardware waits for none.
    assert (waited_ps > 5 * 50e9) if progress else (waited_ps < 50e9), waited_ps


@pytest.mark.parametrize(("how", "status"), [("end", 0), ("error stop", 3), ("killed", 134)])
def test_ends_accesses_to_oneself_and_of_nothing(how: str, status: int, tmp_path: Path) -> None:
    """Image 2 ends as its argument states while image 1 waits for it in a sync all."""
    program = _program(tmp_path, "mpif90.openmpi", "-fcoarray=lib", "-lcaf_openmpi", source="coarray_ends.f90")
    # As in _recorded.
    environment = recording.environment(OMPI_MCA_btl_vader_single_copy_mechanism="cma")
    done = recording.record(tmp_path, "mpirun.openmpi", "-n", "2", str(program), how, env=environment)
    assert done.status == status, done.err
    trace = done.read()
    for rank in (0, 1):
        puts = [(e.number("Remote"), e.number("Bytes")) for e in trace.on(rank, "RMA_PUT")]
        assert puts == [(rank, 40), (1 - rank, 0)]
        gets = [(e.number("Remote"), e.number("Bytes")) for e in trace.on(rank, "RMA_GET")]
        assert gets == [(1 - rank, 0)]
    waiting = [e.region for rank in (0, 1) for e in trace.on(rank, "ENTER") if "collective comm=0" in e.attributes]
    assert waiting == ([] if how == "end" else ["_gfortran_caf_sync_all"])


def test_a_program_that_holds_the_library_itself_shows_mpi(tmp_path: Path) -> None:
    program = _program(tmp_path, "caf.openmpi")
    assert coarray.static_program(["mpirun", str(program)]) == program
    archive, said = _recorded(program, "mpirun.openmpi")
    assert "holds the coarray library in itself" in said
    trace = recording.read(archive)
    calls = trace.calls(0)
    # every access is Win_lock, Put or Get, Win_unlock
    assert calls.count("MPI_Get") == ROUNDS
    # of 80 bytes each; the library itself puts more (registration)
    assert [e.number("Bytes") for e in trace.on(0, "RMA_PUT")].count(10 * 8) == ROUNDS
    assert "MPI_Win_lock" in calls


def test_other_programs_hold_no_coarray_library(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert coarray.static_program(["mpirun", "/bin/true", str(tmp_path / "empty"), str(tmp_path)]) is None
