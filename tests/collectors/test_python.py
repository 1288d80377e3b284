"""Programs in Python: call sites and samples are Python functions with their lines, without the interpreter's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.collectors import recording

PROGRAM = recording.PROGRAMS / "python_calls.py"
VERSIONS = [(3, minor) for minor in range(9, 14)]  # those whose frames are known
UNKNOWN = (3, 8)


def _interpreter(version: tuple[int, int]) -> str | None:
    """An interpreter of this version: the one that runs, one of the search path, or one that pyenv built."""
    if sys.version_info[:2] == version:
        return sys.executable
    name = "python{}.{}".format(*version)
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    built = sorted((root / "versions").glob(f"*/bin/{name}"))
    found = [str(path) for path in built] or [path for path in [shutil.which(name)] if path is not None]
    return next((path for path in found if subprocess.run([path, "-c", "import ctypes"]).returncode == 0), None)


def _of_version(version: tuple[int, int]) -> str:
    found = _interpreter(version)
    if found is None:
        pytest.skip("no Python {}.{}".format(*version))
    return found


@pytest.fixture(params=VERSIONS, ids="{0[0]}.{0[1]}".format)
def version(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param  # type: ignore[no-any-return]


def _line(words: str) -> str:
    for number, text in enumerate(PROGRAM.read_text().splitlines(), 1):
        if text.endswith(f"# at {words}"):
            return f"{PROGRAM.name}:{number}"
    raise AssertionError(words)


def _library(mpi: str) -> str:
    """The MPI library that a compiler wrapper links to."""
    compiler = shutil.which(recording.COMPILERS[mpi])
    assert compiler is not None
    name = {"openmpi": "libmpi.so", "mpich": "libmpich.so"}[mpi]
    shown = subprocess.run([compiler, "-show"], capture_output=True, text=True, check=True).stdout
    folders = [Path(folder) for folder in re.findall(r"-L(\S+)", shown)] + [Path("/usr/lib/x86_64-linux-gnu")]
    return str(next(path for folder in folders for path in sorted(folder.glob(f"{name}*"))))


def _record(mpi: str, folder: Path, *options: str, python: str = sys.executable) -> recording.Result:
    command = (recording.LAUNCHERS[mpi], "-n", "1", python, str(PROGRAM), _library(mpi))
    result = recording.record(folder, *command, options=options)
    assert result.status == 0, result.err
    return result


def test_calls_are_at_lines_of_python_functions(version: tuple[int, int], openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, python=_of_version(version)).read()
    _check_call_sites(trace, version)


def test_calls_are_at_lines_of_python_functions_under_mpich(mpich: str, tmp_path: Path) -> None:
    _check_call_sites(_record(mpich, tmp_path).read(), sys.version_info[:2])


def _check_call_sites(trace: recording.Trace, version: tuple[int, int]) -> None:
    of_class = "Solver." if version >= (3, 11) else ""  # before, code objects have no qualified name
    solve = f"<module> ({_line('solve')}) / solve"
    step = f"{solve} ({_line('loop')}) / {of_class}step ({_line('step')}) / MPI_Barrier"
    other = f"{solve} ({_line('once')}) / {of_class}naïve ({_line('naïve')}) / MPI_Barrier"
    listed = f"{solve} ({_line('key')}) / {of_class}key ({_line('sorted')}) / MPI_Barrier"
    found = [site for site in trace.call_sites(0) if site.endswith("MPI_Barrier")]
    assert found == [step] * 5 + [other, listed]
    assert re.fullmatch(r"(lib)?python[\w.]* / MPI_Finalize", trace.call_sites(0)[-1])
    names = " ".join(trace.defined("CALLING_CONTEXT"))
    assert "_PyEval" not in names, "the interpreter's own functions are left out"


def test_samples_are_in_python_functions(version: tuple[int, int], openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, "--sample", "500", python=_of_version(version)).read()
    found = Counter(e.text.split('"')[1].partition("@")[0] for e in trace.on(0, "CALLING_CONTEXT_SAMPLE"))
    assert found["relax"] > 3, "0.5 s of processor time; a crowded virtual machine has a few of its 125 ticks"
    assert found["relax"] > 0.9 * sum(found.values())


def test_an_unknown_version_is_stated_once(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path, python=_of_version(UNKNOWN))
    assert result.err.count("calls have no Python functions: of Python 3.8.") == 1
    assert len([site for site in result.read().call_sites(0) if site.endswith("MPI_Barrier")]) == 7


def test_without_stacks_there_are_none(openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, "--stack", "0").read()
    assert set(trace.call_sites(0)) == {""}
