"""Programs in Python: call sites and samples are Python functions with their lines, without the interpreter's own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.collectors import recording

PROGRAM = recording.PROGRAMS / "python_calls.py"
KNOWN = sys.version_info[:2] == (3, 11)


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


def _record(mpi: str, folder: Path, *options: str) -> recording.Result:
    command = (recording.LAUNCHERS[mpi], "-n", "1", sys.executable, str(PROGRAM), _library(mpi))
    result = recording.record(folder, *command, options=options)
    assert result.status == 0, result.err
    return result


@pytest.mark.skipif(not KNOWN, reason="frames of this Python are not known")
def test_calls_are_at_lines_of_python_functions(mpi: str, tmp_path: Path) -> None:
    trace = _record(mpi, tmp_path).read()
    solve = f"<module> ({_line('solve')}) / solve"
    step = f"{solve} ({_line('loop')}) / Solver.step ({_line('step')}) / MPI_Barrier"
    other = f"{solve} ({_line('once')}) / Solver.naïve ({_line('naïve')}) / MPI_Barrier"
    found = [site for site in trace.call_sites(0) if site.endswith("MPI_Barrier")]
    assert found == [step] * 5 + [other]
    names = " ".join(trace.defined("CALLING_CONTEXT"))
    assert "_PyEval" not in names, "the interpreter's own functions are left out"


@pytest.mark.skipif(not KNOWN, reason="frames of this Python are not known")
def test_samples_are_in_python_functions(openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, "--sample", "500").read()
    found = Counter(e.text.split('"')[1].partition("@")[0] for e in trace.on(0, "CALLING_CONTEXT_SAMPLE"))
    assert found["relax"] > 20, "0.5 s of processor time, at 4 ms per tick of the system's clock"
    assert found["relax"] > 0.9 * sum(found.values())


@pytest.mark.skipif(KNOWN, reason="frames of this Python are known")
def test_an_unknown_version_is_stated_once(openmpi: str, tmp_path: Path) -> None:
    result = _record(openmpi, tmp_path)
    assert result.err.count("calls have no Python functions: of Python") == 1


def test_without_stacks_there_are_none(openmpi: str, tmp_path: Path) -> None:
    trace = _record(openmpi, tmp_path, "--stack", "0").read()
    assert set(trace.call_sites(0)) == {""}
