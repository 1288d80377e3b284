"""MPI that is opened by dlopen, under any name and in any way: what can be recorded is, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from tests.collectors import recording
from tests.once import made_once

from logpost.collectors import mpi as detection

CALLS = ["MPI_Init", "MPI_Comm_rank", "MPI_Sendrecv", "MPI_Finalize"]


def _library(mpi: str, folder: Path) -> Path:
    """The MPI's library under a name that says nothing."""
    library = detection.find([], recording.COMPILERS[mpi]).library
    assert library is not None
    link = folder / "libany.so"
    link.symlink_to(library)
    return link


def _without_mpi(source: str, mpi: str, folder: Path) -> Path:
    """A test program compiled with an MPI's header, and linked to no MPI."""
    return recording.build(source, mpi, folder, *detection.find([], recording.COMPILERS[mpi]).includes, compiler="cc")


@pytest.mark.parametrize("how", ["local", "deep"])
def test_functions_that_are_looked_up_by_dlsym(mpi: str, how: str, tmp_path: Path) -> None:
    """`deep`: as MPI.jl opens its library. The wrappers are what dlsym finds in it."""
    program = _without_mpi("looked_up.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 2, program, str(_library(mpi, tmp_path)), how)
    assert (result.status, result.out) == (0, ""), result.err
    trace = result.read()
    assert trace.calls(0) == trace.calls(1) == CALLS
    assert len(trace.on(0, "MPI_SEND", "MPI_RECV")) == 2


def test_functions_that_ctypes_looks_up(mpi: str, tmp_path: Path) -> None:
    script = recording.PROGRAMS / "looked_up.py"
    result = recording.run(mpi, tmp_path, 2, Path(sys.executable), str(script), str(_library(mpi, tmp_path)))
    assert result.status == 0, result.err
    assert result.read().calls(1) == CALLS


def test_a_module_that_finds_its_mpi_by_probing(mpi: str, tmp_path: Path) -> None:
    """The library is open under another name when the module, which is linked to it, is opened for itself only."""
    program = recording.build("probing.c", mpi, tmp_path, "-ldl", compiler="cc")
    module = recording.build("module.c", mpi, tmp_path, "-shared", "-fPIC")
    result = recording.run(mpi, tmp_path, 2, program, str(_library(mpi, tmp_path)), str(module))
    assert (result.status, result.out) == (0, ""), result.err
    trace = result.read()
    sends = {"MPI_Send", "MPI_Send_c"} & set(trace.calls(0))
    assert sends == {"openmpi": {"MPI_Send"}, "mpich": {"MPI_Send_c"}}[mpi]
    assert len(trace.on(0, "MPI_SEND")) == len(trace.on(0, "MPI_IRECV")) == 1


def test_the_wrong_interposer_shows_a_module_none_of_its_functions(openmpi: str, mpich: str, tmp_path: Path) -> None:
    """MPICH has MPI_Send_c, Open MPI 4.1 has not: the module must not find it in the interposer for MPICH."""
    program = recording.build("probing.c", openmpi, tmp_path, "-ldl", compiler="cc")
    module = recording.build("module.c", openmpi, tmp_path, "-shared", "-fPIC")
    library = _library(openmpi, tmp_path)
    options = ("--mpi", recording.COMPILERS[mpich])
    result = recording.run(openmpi, tmp_path, 2, program, str(library), str(module), options=options)
    assert (result.status, result.out) == (2, ""), "the program ran well, and there is no archive"
    assert f"nothing was recorded: 2 processes: {library} has Open MPI's binary interface" in result.err
    assert "pass --mpi with the right mpicc" in result.err


def test_calls_that_cannot_be_seen_are_said(mpi: str, tmp_path: Path) -> None:
    """What a plug-in that is opened with RTLD_DEEPBIND calls is its own library's, whatever is preloaded."""
    plugin = recording.build("plugin.c", mpi, tmp_path, "-shared", "-fPIC")
    host = recording.build("host.c", mpi, tmp_path, "-ldl", compiler="cc")
    options = ("--mpi", recording.COMPILERS[mpi])
    result = recording.run(mpi, tmp_path, 2, host, str(plugin), "deep", options=options)
    assert (result.status, result.out.splitlines()) == (2, ["MPI is not there"] * 2)
    assert "nothing was recorded: 2 processes: their calls of " in result.err
    assert "RTLD_DEEPBIND" in result.err


def _wheel(factory: pytest.TempPathFactory) -> Path:
    """Python with mpi4py's wheel, which brings no MPI; skipped where the registry cannot be reached."""

    def make(folder: Path) -> None:
        venv.create(folder / "python", symlinks=True, with_pip=True)
        pip = [str(folder / "python" / "bin" / "python"), "-m", "pip", "install", "-q", "--retries", "0"]
        done = subprocess.run([*pip, "--only-binary", ":all:", "mpi4py==4.1.*"], capture_output=True, check=False)
        (folder / "lacks").write_bytes(done.stderr if done.returncode else b"")

    folder = made_once(factory, "mpi4py-wheel", make)
    lacks = (folder / "lacks").read_text()
    if lacks:
        pytest.skip(f"pip cannot get mpi4py's wheel here: {lacks.splitlines()[-1]}")
    return folder / "python" / "bin" / "python"


@pytest.mark.slow
def test_the_wheel_of_mpi4py(mpi: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    python = _wheel(tmp_path_factory)
    library = detection.find([], recording.COMPILERS[mpi]).library
    assert library is not None
    # The name that the wheel's module for MPICH is linked to, which Debian's has not.
    named = tmp_path / {"openmpi": "libmpi.so", "mpich": "libmpi.so.12"}[mpi]
    named.symlink_to(library)
    env = recording.environment(LD_LIBRARY_PATH=str(tmp_path), MPI4PY_LIBMPI=str(named))
    command = (recording.LAUNCHERS[mpi], "-n", "2", str(python), "-m", "mpi4py.bench", "ringtest")
    result = recording.record(tmp_path, *command, env=env)
    assert result.status == 0, result.err
    assert "(2 processes" in result.out
    trace = result.read()
    assert len(trace.on(0, "MPI_SEND", "MPI_ISEND")) == len(trace.on(1, "MPI_SEND", "MPI_ISEND")) > 0


@pytest.mark.slow
def test_the_wheel_of_mpi4py_under_another_launcher(
    openmpi: str, mpich: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each process is alone then, and says so; it must not fail because it is recorded."""
    python = _wheel(tmp_path_factory)
    library = detection.find([], recording.COMPILERS[openmpi]).library
    env = recording.environment(MPI4PY_LIBMPI=str(library))
    script = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1))"
    result = recording.record(tmp_path, recording.LAUNCHERS[mpich], "-n", "2", str(python), "-c", script, env=env)
    assert (result.status, result.out.split()) == (2, ["1", "1"]), result.err
    assert f"2 processes: {library} has Open MPI's binary interface" in result.err
