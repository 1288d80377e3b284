"""Together with a profiler that interposes, too, as mpiP does: it sees what it sees without the recorder, which sees
the rest: in whatever way the profiler is linked or loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.collectors import recording

from logpost.collectors import profilers

pytestmark = pytest.mark.mpi

PROFILE = "profile: 20 sends, 20 receives, 6 barriers\n"
CALLS = ["MPI_Init", "MPI_Comm_rank", *["MPI_Send", "MPI_Recv"] * 10, *["MPI_Barrier"] * 3]
"""Of rank 0; what the profiler calls in MPI_Finalize follows them."""


@pytest.mark.parametrize("way", ["linked", "static", "preloaded"])
def test_a_profiler_sees_what_it_sees_alone(mpi: str, tmp_path: Path, way: str) -> None:
    library = recording.build("profiler.c", mpi, tmp_path, "-shared", "-fPIC")
    library.rename(tmp_path / "libprofiler.so")
    source = str(Path(recording.__file__).parent / "programs" / "profiler.c")
    links = {
        "linked": (f"-L{tmp_path}", "-lprofiler", f"-Wl,-rpath,{tmp_path}"),
        "static": (source,),
        "preloaded": (),
    }
    program = recording.build("profiled.c", mpi, tmp_path, *links[way])
    loaded = tmp_path / "loaded"
    preload = {"LD_PRELOAD": str(tmp_path / "libprofiler.so")} if way == "preloaded" else {}
    env = recording.environment(PROFILED_IN=str(loaded), **preload)
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(program))
    done = recording.record(tmp_path, *command, env=env)
    assert (done.status, done.out) == (0, PROFILE), done.err
    if way != "preloaded":  # where users preload it themselves, their launcher and we load it
        assert loaded.read_text().splitlines() == ["profiled"] * 2
    trace = done.read()
    assert trace.calls(0) == [*CALLS, "MPI_Comm_rank", "MPI_Reduce", "MPI_Finalize"]
    for rank in (0, 1):
        assert len(trace.on(rank, "MPI_SEND")) == len(trace.on(rank, "MPI_RECV")) == 10


def test_only_what_wraps_is_a_profiler(openmpi: str, tmp_path: Path) -> None:
    """A library that calls MPI, the MPI library, its Fortran part, a text and half a file are none."""
    library = recording.build("profiler.c", openmpi, tmp_path, "-shared", "-fPIC")
    plugin = recording.build("plugin.c", openmpi, tmp_path, "-shared", "-fPIC")
    assert profilers.wraps_mpi(library)
    assert not profilers.wraps_mpi(plugin)
    assert profilers.linked_profilers(plugin) == []
    half = tmp_path / "half.so"
    half.write_bytes(library.read_bytes()[:5000])
    assert not profilers.wraps_mpi(half)
    assert not profilers.wraps_mpi(Path(__file__))
