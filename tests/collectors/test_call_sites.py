"""Where in the code each call is: C, C++, Fortran, shared objects, position-independent or not, stripped or not."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

_LACKS = {"cut_call_paths", "unnamed_callers"}
_NO_FRAMES = ("-O2", "-g", "-fomit-frame-pointer")


def _line(source: str, words: str) -> str:
    """`sites.c:12`, the line that ends in `at WORDS`."""
    for number, text in enumerate((recording.PROGRAMS / source).read_text().splitlines(), 1):
        if re.search(rf"at {words}( \*/)?$", text):
            return f"{source}:{number}"
    raise AssertionError(f"{source} has no line {words}")


def _sites(mpi: str, folder: Path, program: Path, *options: str) -> list[str]:
    result = recording.run(mpi, folder / "out", 1, program, options=options)
    assert result.status == 0, result.err
    return list(result.read().call_sites(0))


def _expected() -> list[str]:
    """The calls of sites.c in order."""
    at = {words: _line("sites.c", words) for words in ("first", "second", "barrier", "init", "level", "loop")}
    at |= {words: _line("sites.c", words) for words in ("inlined", "last", "finalize")}

    def pair(caller: str) -> list[str]:
        return [f"main ({at[caller]}) / twice ({at[one]}) / MPI_Allreduce" for one in ("first", "second")]

    found = [f"main ({at['init']}) / MPI_Init", f"main ({at['level']}) / MPI_Pcontrol", *pair("loop") * 40]
    found += [f"main ({at['inlined']}) / inlined ({at['barrier']}) / MPI_Barrier", *pair("last")]
    return [*found, f"main ({at['finalize']}) / MPI_Finalize"]


@pytest.mark.parametrize("kind", [("-fPIE", "-pie"), ("-fno-pie", "-no-pie")], ids=["pie", "fixed"])
def test_every_call_without_frame_pointers(mpi: str, kind: tuple[str, ...], tmp_path: Path) -> None:
    program = recording.build("sites.c", mpi, tmp_path, *_NO_FRAMES, *kind)
    assert _sites(mpi, tmp_path, program) == _expected()


def test_without_debugging_information_functions_and_offsets_distinguish_places(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("sites.c", openmpi, tmp_path, "-O2", "-g0")
    found = _sites(openmpi, tmp_path, program)
    assert re.fullmatch(r"main \(sites\+0x[0-9a-f]+:0\) / MPI_Init", found[0])
    pair = found[2:4]
    assert all(re.fullmatch(r"main \(sites\+0x\w+:0\) / twice \(sites\+0x\w+:0\) / MPI_Allreduce", one) for one in pair)
    assert pair[0] != pair[1]
    assert set(found[2:82]) == set(pair)


def test_a_stripped_program_has_offsets(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("sites.c", openmpi, tmp_path, *_NO_FRAMES)
    subprocess.run(["strip", str(program)], check=True)
    found = _sites(openmpi, tmp_path, program)
    assert re.fullmatch(r"sites\+0x[0-9a-f]+ / MPI_Init", found[0])
    assert len(set(found[2:82])) == 2


def test_a_shared_object_and_its_program(mpi: str, tmp_path: Path) -> None:
    library = recording.build("sites_library.c", mpi, tmp_path, *_NO_FRAMES, "-shared", "-fPIC")
    program = recording.build("sites_host.c", mpi, tmp_path, *_NO_FRAMES, str(library))
    found = _sites(mpi, tmp_path, program)
    call, barrier = _line("sites_host.c", "call"), _line("sites_library.c", "barrier")
    assert found[1] == f"main ({call}) / synchronize ({barrier}) / MPI_Barrier"


def test_templates_have_their_full_names(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("sites.cpp", openmpi, tmp_path, *_NO_FRAMES, compiler="mpicxx.openmpi")
    caller, function, call = _sites(openmpi, tmp_path, program)[1].split(" / ")
    assert caller == f"main ({_line('sites.cpp', 'exchange')})"
    assert function.startswith("field::Field<double, 3>::exchange(std::vector<double")
    assert function.endswith(f" ({_line('sites.cpp', 'reduce')})")
    assert call == "MPI_Allreduce"


def test_fortran_through_its_bindings(mpi: str, tmp_path: Path) -> None:
    compiler = {"openmpi": "mpif90.openmpi", "mpich": "mpif90.mpich"}[mpi]
    program = recording.build(
        "sites.f90", mpi, tmp_path, *_NO_FRAMES, "-fno-inline", f"-J{tmp_path}", compiler=compiler
    )
    found = _sites(mpi, tmp_path, program)
    reduce, barrier, exchange = (_line("sites.f90", words) for words in ("reduce", "barrier", "exchange"))
    for line, call in ((reduce, "MPI_Allreduce"), (barrier, "MPI_Barrier")):
        (path,) = [one for one in found if one.endswith(f" / {call}")]
        assert path.endswith(f" ({exchange}) / halo::exchange ({line}) / {call}")


def test_how_many_callers_are_kept(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("sites.c", openmpi, tmp_path, *_NO_FRAMES)
    direct = _sites(openmpi, tmp_path / "one", program, "--stack", "1")
    assert direct[2] == f"twice ({_line('sites.c', 'first')}) / MPI_Allreduce"
    assert set(_sites(openmpi, tmp_path / "none", program, "--stack", "0")) == {""}


def _stated(result: recording.Result) -> dict[str, int]:
    """What the archive states that its call paths lack."""
    names = "CUT_CALL_PATHS|UNNAMED_CALLERS"
    found = re.findall(rf"LOGPOST::({names})\nProperty value +(\d+)", result.read().info)
    return {name: int(count) for name, count in found}


@pytest.mark.parametrize("kept", [0, 1, 2, 16])
def test_calls_with_more_callers_than_are_kept_are_counted(kept: int, openmpi: str, tmp_path: Path) -> None:
    """twice() makes two calls, 40 + 1 times; the others are main()'s own, outside of which is the C library's start."""
    program = recording.build("sites.c", openmpi, tmp_path, *_NO_FRAMES)
    result = recording.run(openmpi, tmp_path / "out", 1, program, options=("--stack", str(kept)))
    assert _stated(result) == ({"CUT_CALL_PATHS": 2 * 41} if kept == 1 else {})


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the program's code is x86-64's")
def test_the_report_lists_calls_whose_path_lacks_callers(openmpi: str, tmp_path: Path) -> None:
    """down() calls itself n times, n = 10 to 20: n + 1 frames and main() are more than 16 from n = 15 on."""
    program = recording.build("deep.c", openmpi, tmp_path, "-O1", "-g", "-fno-optimize-sibling-calls")
    result = recording.run(openmpi, tmp_path / "out", 1, program)
    assert _stated(result) == {"CUT_CALL_PATHS": 6, "UNNAMED_CALLERS": 1}
    assert [site.count("down ") for site in result.read().call_sites(0)[1:12]] == [*range(11, 16), *[16] * 6]
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    listed = {one.name: (one.count, one.blame) for one in run.manifest.quality if one.name in _LACKS}
    assert listed == {"cut_call_paths": (6, "recording"), "unnamed_callers": (1, "recording")}


def test_the_level_of_detail_is_a_parameter_of_its_call(openmpi: str, tmp_path: Path) -> None:
    program = recording.build("sites.c", openmpi, tmp_path, "-O2")
    trace = recording.run(openmpi, tmp_path / "out", 1, program).read()
    ((event,),) = trace.within(0, "MPI_Pcontrol")
    assert event.kind == "PARAMETER_INT64"
    assert '"logpost:pcontrol_level"' in event.text
    assert event.number("Value") == 3


def test_two_calls_of_one_function_are_two_callpaths(openmpi: str, tmp_path: Path) -> None:
    from logpost.analyzer.archive import _native
    from logpost.analyzer.pipeline.tables.archive import _callpaths

    program = recording.build("sites.c", openmpi, tmp_path, *_NO_FRAMES)
    result = recording.run(openmpi, tmp_path / "out", 1, program)
    trace = _native.read(str(result.archive), 1, _native.Progress(), _native.ClockMode.offsets)
    rows = _callpaths(trace)
    reductions = rows.filter(rows["path"].str.ends_with("/ main / twice / MPI_Allreduce"))
    places = [f"{Path(file).name}:{line}" for file, line in reductions.select("file", "line").iter_rows()]
    assert sorted(places) == sorted(_line("sites.c", words) for words in ("first", "second") for _ in range(2)), (
        "twice is called from two lines of main, and reduces in two lines"
    )
    levels = trace.detail_levels()
    assert [list(levels[key]) for key in ("location", "call", "level")] == [[0], [1], [3]]
