"""Every workload runs under Open MPI and MPICH, checks its own result, and notices a damaged message."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from logpost.collectors.workloads.catalogue import WORKLOADS, Program, Workload, workload

if TYPE_CHECKING:
    from tests.collectors.workloads.conftest import Run

pytestmark = pytest.mark.mpi

QUICK = [
    pytest.param(entry, arguments, id=f"{entry.name}-{k}")
    for entry in WORKLOADS
    for k, arguments in enumerate(entry.quick)
]


@pytest.mark.parametrize(("entry", "arguments"), QUICK)
def test_runs_on_four_ranks(run_workload: Run, mpicc: str, entry: Workload, arguments: tuple[str, ...]) -> None:
    done = run_workload(entry.program(), mpicc, arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{entry.name}: 4 ranks")
    assert "wrong" not in done.stderr


@pytest.fixture(scope="session")
def corrupting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preload that flips a bit in some messages, built for MPICH."""
    library = tmp_path_factory.mktemp("corrupt") / "corrupt.so"
    source = Path(__file__).with_name("corrupt.c")
    subprocess.run(["mpicc.mpich", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="no MPICH here")
@pytest.mark.parametrize("entry", WORKLOADS, ids=lambda entry: entry.name)
def test_notices_a_damaged_message(run_workload: Run, corrupting: Path, entry: Workload) -> None:
    done = run_workload(entry.program(), "mpicc.mpich", entry.quick[0], LD_PRELOAD=str(corrupting))
    assert done.returncode == 1, done.stdout + done.stderr
    complaints = [line for line in done.stderr.splitlines() if line.startswith(entry.name)]
    assert len(complaints) == 1
    assert re.match(rf"{entry.name}: wrong result on rank \d: ", complaints[0])


def checksum(output: str) -> str:
    found = re.search(r"checksum ([0-9a-f]{16})", output)
    assert found, output
    return found[1]


def test_em3d_gives_one_result_whatever_the_order_mechanism_and_number_of_ranks(run_workload: Run, mpicc: str) -> None:
    program = workload("em3d").program()
    common = ("--iterations", "2", "--cycle-ns", "0", "--parts", "4", "--receive", "poll")
    variants: list[tuple[tuple[str, ...], int]] = [
        ((), 1),
        ((), 2),
        ((), 4),
        (("--order", "improved"), 4),
        (("--order", "improved", "--spread", "staggered"), 3),
        (("--mechanism", "bulk", "--order", "improved"), 4),
        (("--mechanism", "put", "--capacity", "0"), 2),
    ]
    sums = {checksum(run_workload(program, mpicc, common + extra, ranks).stdout) for extra, ranks in variants}
    assert len(sums) == 1
    # Another graph is another result, so the checksum does depend on the data.
    other = run_workload(program, mpicc, (*common, "--seed", "2"), 4)
    assert checksum(other.stdout) not in sums


@pytest.mark.skipif(shutil.which("oshcc") is None, reason="no OpenSHMEM here")
def test_em3d_over_openshmem_gives_the_result_of_mpi(run_workload: Run) -> None:
    entry = workload("em3d")
    arguments = ("--iterations", "2", "--cycle-ns", "0", "--parts", "4")
    shmem = run_workload(entry.program("em3d_shmem"), "oshcc", arguments)
    assert shmem.returncode == 0, shmem.stderr
    mpi = run_workload(entry.program(), "mpicc", arguments)
    assert checksum(shmem.stdout) == checksum(mpi.stdout)


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="no MPICH here")
@pytest.mark.parametrize("entry", WORKLOADS, ids=lambda entry: entry.name)
def test_help_and_bad_usage(executables: Callable[[Program, str], Path], entry: Workload) -> None:
    # Without a launcher: one process, and much faster.
    executable = str(executables(entry.program(), "mpicc.mpich"))
    shown = subprocess.run([executable, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == 0
    assert "options (defaults in brackets):" in shown.stdout
    wrong = subprocess.run([executable, "--no-such"], capture_output=True, text=True, timeout=60, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.splitlines() == [f"{entry.name}: no option --no-such; --help lists them"]
