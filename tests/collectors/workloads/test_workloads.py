"""Every workload runs under Open MPI and MPICH, checks its own result, and notices a damaged message."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
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
    common = ("--iterations", "2", "--cycle-ns", "0", "--parts", "4", "--degree", "8", "--receive", "poll")
    variants: list[tuple[tuple[str, ...], int]] = [
        ((), 1),
        ((), 4),
        (("--order", "improved"), 4),
        (("--order", "improved", "--spread", "staggered"), 3),
        (("--mechanism", "bulk"), 2),
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
    assert wrong.stderr.splitlines() == [f"{entry.name}: unknown option --no-such; --help lists the options"]


def write_matrix(path: Path, header: str, entries: Sequence[tuple[float, ...]], n: int) -> Path:
    lines = [header, "% a comment", f"{n} {n} {len(entries)}"]
    path.write_text("\n".join([*lines, *(" ".join(f"{x:g}" for x in entry) for entry in entries)]) + "\n")
    return path


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="no MPICH here")
def test_iccg_reads_matrix_market_files(run_workload: Run, tmp_path: Path) -> None:
    # A chain of 5 rows: 4 edges, in chunks of one row all between different ranks.
    chain = [(i, i, 2.0) for i in range(1, 6)] + [(i + 1, i, -1.0) for i in range(1, 5)]
    real = write_matrix(tmp_path / "real.mtx", "%%MatrixMarket matrix coordinate real symmetric", chain, 5)
    # The pattern of the same chain, upper triangle and no diagonal.
    edges: list[tuple[float, ...]] = [(i, i + 1) for i in range(1, 5)]
    pattern = write_matrix(tmp_path / "p.mtx", "%%MatrixMarket matrix coordinate pattern symmetric", edges, 5)
    # Indefinite: the second pivot 1 - 2^2 is negative. Scaled to a unit diagonal the entry stays 2, and the diagonal is
    # doubled from 1 + 0.001 on until (1 + shift)^2 > 4: shift = 0.001 x 2^10 = 1.024.
    bad: list[tuple[float, ...]] = [(1, 1, 1.0), (2, 1, 2.0), (2, 2, 1.0)]
    indefinite = write_matrix(tmp_path / "i.mtx", "%%MatrixMarket matrix coordinate real symmetric", bad, 2)
    for path, expected in (
        (real, "5 rows, 4 edges, 4 between ranks, shift 0"),
        (pattern, "5 rows, 4 edges, 4 between ranks, shift 0"),
        (indefinite, "2 rows, 1 edges, 1 between ranks, shift 1.024"),
    ):
        arguments = ("--matrix", str(path), "--chunk", "1", "--solves", "1")
        done = run_workload(workload("iccg").program(), "mpicc.mpich", arguments, 2)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="no MPICH here")
def test_iccg_partitioned_by_its_graph_cuts_few_edges_and_solves_the_same(run_workload: Run, tmp_path: Path) -> None:
    # Two chains 1-3-5-7 and 2-4-6-8 that are dealt by turns: in chunks of one row both cross at every edge or at none;
    # in chunks of four rows (1 2 3 4 | 5 6 7 8) each is cut once. Bisection finds that no edge need be cut.
    edges = [(i, i, 4.0) for i in range(1, 9)] + [(i + 2, i, -1.0) for i in range(1, 7)]
    chains = write_matrix(tmp_path / "c.mtx", "%%MatrixMarket matrix coordinate real symmetric", edges, 8)
    checksums = []
    for partition, cut in (("rows", 2), ("graph", 0)):
        arguments = ("--matrix", str(chains), "--solves", "1", "--partition", partition)
        done = run_workload(workload("iccg").program(), "mpicc.mpich", arguments, 2)
        assert done.returncode == 0, done.stderr
        assert f"8 rows, 6 edges, {cut} between ranks" in done.stdout
        checksums.append(done.stdout.split("checksum")[1].split()[0])
    assert checksums[0] == checksums[1]


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="no MPICH here")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "cannot be opened"),
        ("%%MatrixMarket matrix array real general\n2 2\n", "is not a Matrix Market file "),
        ("%%MatrixMarket matrix coordinate real symmetric\n% only comments\n", "has no valid line of sizes"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n", "ends early or has an invalid line"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n3 1 4\n", "ends early or has an invalid line"),
    ],
)
def test_iccg_refuses_other_files(
    executables: Callable[[Program, str], Path], tmp_path: Path, text: str | None, complaint: str
) -> None:
    path = tmp_path / "matrix.mtx"
    if text is not None:
        path.write_text(text)
    command = [str(executables(workload("iccg").program(), "mpicc.mpich")), "--matrix", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"iccg: {path}: {complaint}")
    assert len(done.stderr.splitlines()) == 1
