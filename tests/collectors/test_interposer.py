"""The interposer itself: all functions of the table, both names, no library of MPI behind it, and the cache."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.collectors import recording

from logpost.collectors import coarray, shmem
from logpost.collectors import mpi as detection
from logpost.collectors.pmpi import generate, interposer, prototypes
from logpost.collectors.shmem import generate as shmem_functions
from logpost.errors import InputError


def _dynamic(path: Path) -> str:
    return subprocess.run(["readelf", "-d", str(path)], capture_output=True, text=True, check=True).stdout


def _symbols(path: Path, option: str) -> dict[str, str]:
    """Dynamic functions of a library, or what it lacks: name -> address."""
    done = subprocess.run(["nm", "-D", option, str(path)], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[-1].partition("@")[0]: row[0] for row in rows if row[-2] in "TWwU"}


@pytest.fixture
def built(mpi: str) -> tuple[detection.Mpi, Path]:
    """The interposer for an MPI."""
    found = detection.find([], recording.COMPILERS[mpi])
    return found, interposer.build(found)


VERSIONS = {"LOGPOST_1", "GLIBC_2.2.5", "GLIBC_2.7", "GLIBC_2.17", "GLIBC_2.34"}
FOR_PROGRAMS = {
    f"logpost_{name}"
    for name in (
        "ask_for_archive",
        "cut_here",
        "mark_here",
        "region_enter",
        "region_leave",
        "switch_off",
        "switch_on",
    )
}
"""What logpost.h calls."""
MARKERS = {
    "InitializeInjectionNvtx2",
    *(f"nvtx{name}" for name in ("MarkA", "MarkEx", "RangePushA", "RangePushEx", "RangePop")),
    *(f"nvtxDomain{name}" for name in ("MarkEx", "RangePushEx", "RangePop")),
    *(f"__itt_{name}" for name in ("api_version", "domain_create", "string_handle_create", "task_begin", "task_end")),
}
"""What programs with NVTX ranges or ITT tasks look for."""
HOOKS = {"__cyg_profile_func_enter", "__cyg_profile_func_exit"}
"""What compilers put into functions on demand."""
SIGNALS = {"sigaction", "signal", "sigwait", "sigwaitinfo", "sigtimedwait", "signalfd"}
LOOKUP = {"dlsym", *SIGNALS} if platform.machine() == "x86_64" else set()
"""What finds the wrappers for programs that look functions up, and what takes the signal of samples."""


def test_every_function_of_the_library_has_a_wrapper_under_both_names(built: tuple[detection.Mpi, Path]) -> None:
    found, path = built
    assert found.library is not None
    library = _symbols(found.library, "--defined-only")
    wrapped = _symbols(path, "--defined-only")
    table = {f.name for f in prototypes.functions()}
    conversions = re.compile(
        r"MPI_\w+_(c2f|f2c|c2f08|f082c|f082f|f2f08|toint|fromint)(_c)?$|MPI_\w+_(FN|fn)$|MPI_CONVERSION"
    )
    functions = {name for name in library if re.match(r"MPI_[A-Z][a-z_]|MPI_T_", name) and not conversions.match(name)}
    functions = {name for name in functions if not re.match(r"MPI_F_|MPI_[A-Z]+_", name) or name.startswith("MPI_T_")}
    assert len(functions) > 380
    functions |= {name for name in library if re.match(r"MPIX_\w+_init$", name)}  # Open MPI 4.1's extension
    assert functions <= table, sorted(functions - table)
    for name in functions:
        assert wrapped[name] == wrapped[f"P{name}"], "one wrapper under both names"
    # A reduction to one image is recorded under a separate name, and is no separate function.
    coarrays = {f"_gfortran_caf_{name.removesuffix('_to')}" for name, _, _ in coarray.functions()}
    symmetric = shmem.library_of(found)  # OpenSHMEM's, for which only references of programs matter: under one name
    openshmem = shmem_functions.wrapped(_symbols(symmetric, "--defined-only")) if symmetric else frozenset()
    assert symmetric is None or len(openshmem) > 800
    visible = functions | {f"P{name}" for name in functions} | coarrays | openshmem | FOR_PROGRAMS | MARKERS | HOOKS
    visible |= LOOKUP
    assert set(wrapped) - VERSIONS == visible, "and nothing else is visible"


def test_it_needs_no_mpi(built: tuple[detection.Mpi, Path]) -> None:
    _, path = built
    assert not re.search(r"NEEDED.*mpi", _dynamic(path))
    assert not [name for name in _symbols(path, "--undefined-only") if "mpi" in name.lower()]
    # so any program can be started with it, MPI or not
    done = subprocess.run(
        ["true"], env={"LD_PRELOAD": str(path), "PATH": "/usr/bin:/bin"}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_table_has_every_function_of_mpi_3_1() -> None:
    """The standard's own list, as far as it can be counted: chapters with their numbers of functions."""
    names = {f.name for f in prototypes.functions()}
    for stem in ("Send", "Bsend", "Ssend", "Rsend"):
        assert {f"MPI_{stem}", f"MPI_{stem}_c", f"MPI_I{stem.lower()}", f"MPI_{stem}_init"} <= names
    collectives = [
        "Barrier",
        "Bcast",
        "Gather",
        "Gatherv",
        "Scatter",
        "Scatterv",
        "Allgather",
        "Allgatherv",
        "Alltoall",
    ]
    collectives += [
        "Alltoallv",
        "Alltoallw",
        "Reduce",
        "Allreduce",
        "Reduce_scatter",
        "Reduce_scatter_block",
        "Scan",
        "Exscan",
    ]
    for name in collectives:
        assert {f"MPI_{name}", f"MPI_I{name.lower()}"} <= names
        assert name == "Barrier" or f"MPI_{name}_c" in names
    for name in (
        "Neighbor_allgather",
        "Ineighbor_alltoallw",
        "Win_flush_local_all",
        "File_iread_at_all",
        "T_pvar_readreset",
        "Comm_split_type",
        "Dist_graph_create_adjacent",
        "Get_accumulate",
        "Mprobe",
        "Aint_diff",
        "Pcontrol",
        "Type_create_hindexed_block",
        "Comm_create_group",
        "Address",
        "Type_struct",
        "Errhandler_set",
    ):
        assert f"MPI_{name}" in names
    numbers = [f.number for f in prototypes.functions()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(generate.wrapper(f) for f in prototypes.functions()), "each has a wrapper"


def test_a_table_that_cannot_be_read_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "prototypes.txt"
    monkeypatch.setattr(prototypes, "TABLE", table)
    for text, complaint in (
        ("function call | int MPI_X(int", r"prototypes.txt: cannot read 'function call"),
        ("function call | int MPI_X(int *)", r"prototypes.txt: cannot read the parameter 'int \*'"),
    ):
        table.write_text(text + "\n")
        prototypes.functions.cache_clear()
        with pytest.raises(ValueError, match=complaint):
            prototypes.functions()
    table.write_text("function nonsense | int MPI_X(int a)\n")
    prototypes.functions.cache_clear()
    with pytest.raises(ValueError, match="MPI_X has the unknown hook 'nonsense'"):
        generate.wrappers({"MPI_X"})
    prototypes.functions.cache_clear()


def test_the_cache_is_keyed_by_sources_and_library(
    openmpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = detection.find([], recording.COMPILERS[openmpi])
    few = frozenset({"MPI_Init", "MPI_Finalize", "MPI_Send"})  # compiles sooner
    monkeypatch.setattr(shmem, "library_of", lambda target: None)
    monkeypatch.setattr(interposer, "exported_names", lambda library, includes: few)
    monkeypatch.setattr(interposer, "_OPTIONS", (*interposer._OPTIONS, "-O0"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = interposer.build(found)
    said: list[str] = []
    assert interposer.build(found, said.append) == first
    assert said == [], "built once"
    sources = tmp_path / "native"
    shutil.copytree(interposer.SOURCES, sources)
    (sources / "comm.c").write_text((sources / "comm.c").read_text() + "/* changed */\n")
    monkeypatch.setattr(interposer, "SOURCES", sources)
    assert interposer.build(found, said.append).parent.name != first.parent.name
    assert len(said) == 1
    assert "building the interposer for Open MPI" in said[0]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "with space"))
    with pytest.raises(InputError, match="set XDG_CACHE_HOME to a path without spaces"):
        interposer.build(found)


def test_a_header_that_does_not_compile_is_one_line(
    openmpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mpi.h").write_text("#error this is not an MPI\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    broken = detection.Mpi("openmpi", "0", (f"-I{tmp_path}",), None)
    with pytest.raises(InputError, match=r"does not compile: .*this is not an MPI"):
        interposer.build(broken)


def test_mpi_that_is_loaded_late_and_for_one_module_only(mpi: str, tmp_path: Path) -> None:
    plugin = recording.build("plugin.c", mpi, tmp_path, "-shared", "-fPIC")
    host = recording.build("host.c", mpi, tmp_path, "-ldl", compiler="cc")
    result = recording.run(mpi, tmp_path, 2, host, str(plugin), options=("--mpi", recording.COMPILERS[mpi]))
    assert result.status == 0, result.err
    assert result.out.splitlines() == ["MPI is not there"] * 2, "the preload must not pretend to be an MPI"
    trace = result.read()
    assert trace.calls(0) == ["MPI_Init", "MPI_Comm_rank", "MPI_Sendrecv", "MPI_Finalize"]
    assert len(trace.on(0, "MPI_SEND", "MPI_RECV")) == 2


def test_the_wrong_interposer_passes_everything_on(openmpi: str, mpich: str, tmp_path: Path) -> None:
    for program_mpi, wrong in ((openmpi, mpich), (mpich, openmpi)):
        folder = tmp_path / program_mpi
        folder.mkdir()
        program = recording.build("requests.c", program_mpi, folder)
        result = recording.run(program_mpi, folder, 2, program, options=("--mpi", recording.COMPILERS[wrong]))
        assert result.status == 2, "the program ran well, and there is no archive"
        assert "pass --mpi with the right mpicc" in result.err
        assert "nothing was recorded" in result.err
        assert not list(folder.glob("logpost_*"))
