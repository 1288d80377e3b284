"""The library that is preloaded where ranks outnumber the cores."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests import give_way

# Stands for UCX: `worker` is how much there was to do.
UCX = "unsigned ucp_worker_progress(unsigned long worker) { return (unsigned)worker; }"
YIELD = "int yielded; int sched_yield(void) { ++yielded; return 0; }"
# The MPI of an interpreter is loaded out of sight of what is preloaded.
PROGRAM = """
import ctypes, sys
ucx = ctypes.CDLL(sys.argv[1], mode=0)
everywhere = ctypes.CDLL(None)
print(*[everywhere.ucp_worker_progress(work) for work in (0, 3, 0)], ctypes.c_int.in_dll(everywhere, "yielded").value)
"""


def shared(file: Path, text: str, *options: str) -> Path:
    command = ["cc", "-shared", "-fPIC", *options, "-x", "c", "-", "-o", str(file)]
    subprocess.run(command, input=text, text=True, check=True)
    return file


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_rank_that_finds_nothing_to_do_gives_way_and_one_that_does_not(tmp_path: Path) -> None:
    ucx = shared(tmp_path / "libucp.so.0", UCX, "-Wl,-soname,libucp.so.0")
    counted = shared(tmp_path / "yield.so", YIELD)
    ((name, library),) = give_way.environment(tmp_path)
    assert name == "LD_PRELOAD"
    environment = {**os.environ, "LD_PRELOAD": f"{counted}:{library}"}
    command = [sys.executable, "-c", PROGRAM, str(ucx)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    # What UCX returns is passed on; of three calls two had nothing to do.
    assert said.split() == ["0", "3", "0", "2"]


def test_where_no_compiler_builds_it_ranks_run_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(give_way, "SOURCE", tmp_path / "none.c")
    (tmp_path / "none.c").write_text("no C")
    assert give_way.environment(tmp_path) == ()
