"""Regions that programs name: logpost.h in C, its module in Fortran, compiler instrumentation, NVTX and ITT markers."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost import collectors
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

COLLECTORS = Path(collectors.__file__).parent
INCLUDE = f"-I{COLLECTORS}"
SOLVE = ["+solve", *["+parity 0", "-parity 0", "+parity 1", "-parity 1"] * 5, "+solved", "-solved", "-solve"]


def _regions(trace: recording.Trace, rank: int, *ours: str) -> list[str]:
    """Enters (+) and leaves (-) of regions that are no functions of MPI, without the program's own."""
    events = [(e.kind, e.region) for e in trace.on(rank, "ENTER", "LEAVE")]
    inner = [("+" if kind == "ENTER" else "-") + name for kind, name in events[1:-1]]
    return [text for text in inner if not text[1:].startswith("MPI_") and (not ours or text[1:] in ours)]


def test_regions_stand_in_the_archive(mpi: str, tmp_path: Path) -> None:
    """Each rank: solve with ten rounds, then a region that the end of the program cuts off. One of two ends too many
    is that of a region from before MPI_Init, which was not recorded."""
    program = recording.build("regions.c", mpi, tmp_path, INCLUDE)
    done = recording.run(mpi, tmp_path, 2, program)
    assert done.status == 0, done.err
    trace = done.read()
    for rank in (0, 1):
        assert _regions(trace, rank) == [*SOLVE, "+end", "-end"]
    assert [line for line in trace.defined("REGION") if '"solve"' in line and "Paradigm: USER" in line]
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    spans = run.table("region_spans").join(run.table("regions"), on="region").collect()
    assert {"solve", "parity 0", "parity 1", "solved", "end"} <= set(spans["name"])


def test_a_region_is_cut_where_recording_is_off(openmpi: str, tmp_path: Path) -> None:
    """outer continues behind the gap; inner ends in it; of what began in it the end is left out, and counted."""
    program = recording.build("regions.c", openmpi, tmp_path, INCLUDE)
    done = recording.run(openmpi, tmp_path, 2, program, "pause")
    trace = done.read()
    gap = ["+MEASUREMENT OFF", "-MEASUREMENT OFF"]
    for rank in (0, 1):
        assert _regions(trace, rank) == [
            *SOLVE, "+outer", "+inner", "-inner", "-outer", *gap, "+outer", "-outer", "+end", "-end",
        ]  # fmt: skip
    assert "LOGPOST::REGION_ENDS_LEFT_OUT\nProperty value                 2" in trace.info


def test_functions_are_regions_where_they_are_requested(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("regions.c", openmpi, tmp_path, INCLUDE, "-finstrument-functions", "-g")
    done = recording.run(openmpi, tmp_path, 2, program, options=("--functions",))
    trace = done.read()
    found = _regions(trace, 0, "solve", "exchange")
    # The region and the function have one name: solve() is entered around its region.
    assert found == ["+solve", "+solve", *["+exchange", "-exchange"] * 10, "-solve", "-solve"]
    assert [line for line in trace.defined("REGION") if '"exchange"' in line and "regions.c" in line]
    (tmp_path / "without").mkdir()
    plain = recording.run(openmpi, tmp_path / "without", 2, program)
    assert _regions(plain.read(), 0, "exchange") == [], "only when requested"


def test_fortran_names_regions(openmpi: str, tmp_path: Path) -> None:
    if shutil.which("mpif90.openmpi") is None or shutil.which("gfortran") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must have gfortran")
        pytest.skip("gfortran is not installed")
    source = tmp_path / "regions.f90"
    source.write_text(
        (COLLECTORS / "logpost.f90").read_text()
        + "\nprogram regions\n  use mpi\n  use logpost\n  implicit none\n  integer :: e\n  call MPI_Init(e)\n"
        '  call logpost_region_begin("solve  ")\n  call MPI_Barrier(MPI_COMM_WORLD, e)\n'
        '  call logpost_marker("half way")\n  call logpost_region_end()\n  call MPI_Finalize(e)\nend program\n'
    )
    program = recording.build(str(source), openmpi, tmp_path, "-J", str(tmp_path), compiler="mpif90.openmpi")
    done = recording.run(openmpi, tmp_path, 2, program)
    assert done.status == 0, done.err
    assert _regions(done.read(), 1) == ["+solve", "+half way", "-half way", "-solve"]


def _nvtx() -> str:
    """The folder of NVTX's headers, of the package nvidia-nvtx."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or []) if found is not None else []:
        if headers := sorted(Path(place).glob("**/nvtx3/nvToolsExt.h")):
            return str(headers[0].parent.parent)
    if os.environ.get("CI") == "true":
        pytest.fail("CI must have NVTX's headers (nvidia-nvtx)")
    pytest.skip("nvidia-nvtx is not installed")


def test_ranges_of_nvtx_are_regions(openmpi: str, tmp_path: Path) -> None:
    """As NVTX's own headers lay them out; what was before MPI_Init has no record."""
    done = recording.run(openmpi, tmp_path, 2, recording.build("nvtx.c", openmpi, tmp_path, f"-I{_nvtx()}"))
    assert (done.status, done.out) == (0, "done\n" * 2), done.err
    for rank in (0, 1):
        step = ["+step", "+inner", "+half way", "-half way", "-inner", "-step"]
        assert _regions(done.read(), rank) == ["+solve", *step, *step, "-solve"]


def test_tasks_of_itt_are_regions(openmpi: str, tmp_path: Path) -> None:
    """ITT's static library calls the tool that it has loaded only where a variable names groups of functions."""
    ittapi = os.environ.get("LOGPOST_ITTAPI")
    options = [f"-I{Path(recording.__file__).parent / 'programs' / 'itt'}", "-ldl"]
    if ittapi:
        static = f"{ittapi}/src/ittnotify"
        options = [f"-I{ittapi}/include", f"-I{static}", f"{static}/ittnotify_static.c", "-ldl", "-lpthread"]
    done = recording.run(openmpi, tmp_path, 2, recording.build("itt.c", openmpi, tmp_path, *options))
    assert (done.status, done.out) == (0, "done\n" * 2), done.err
    for rank in (0, 1):
        assert _regions(done.read(), rank) == ["+step", "+inner", "-inner", "-step"] * 2


def test_another_tool_that_listens_to_markers_keeps_them(openmpi: str, tmp_path: Path) -> None:
    """Another tool's variables stay."""
    program = tmp_path / "show"
    program.write_text('#!/bin/sh\necho "$NVTX_INJECTION64_PATH $INTEL_LIBITTNOTIFY64 $INTEL_ITTNOTIFY_GROUPS"\n')
    program.chmod(0o755)
    theirs = {"NVTX_INJECTION64_PATH": "/n.so", "INTEL_LIBITTNOTIFY64": "/i.so", "INTEL_ITTNOTIFY_GROUPS": "sync"}
    done = recording.record(tmp_path, str(program), env=recording.environment(**theirs))
    assert done.out == "/n.so /i.so sync\n"
