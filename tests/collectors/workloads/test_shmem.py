"""The OpenSHMEM forms compute what the MPI forms compute, on four elements, and notice a damaged access."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from logpost.collectors.workloads.catalogue import Program, workload

if TYPE_CHECKING:
    from tests.collectors.workloads.conftest import Run

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("oshcc") is None, reason="no OpenSHMEM here"),
]

SMALL: dict[str, tuple[str, ...]] = {
    "em3d": ("--iterations", "2", "--cycle-ns", "0", "--nodes", "200", "--degree", "8"),
    "unstruc": ("--nodes", "300", "--iterations", "2"),
    "iccg": ("--brick", "4", "--solves", "2"),
    "moldyn": ("--cells", "6", "--steps", "2", "--rebuild", "1"),
}
MECHANISMS = ("put", "shared", "prefetch")


def shmem(name: str) -> Program:
    return workload(name).program(f"{name}_shmem")


def checksum(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    found = re.search(r"checksum ([0-9a-f]{16})", done.stdout)
    assert found, done.stdout
    return found[1]


@pytest.mark.parametrize("name", SMALL)
def test_gives_the_result_of_mpi(run_workload: Run, name: str) -> None:
    expected = checksum(run_workload(workload(name).program(), "mpicc", SMALL[name]))
    for mechanism in MECHANISMS:
        done = run_workload(shmem(name), "oshcc", (*SMALL[name], "--mechanism", mechanism))
        assert checksum(done) == expected, mechanism
        assert done.stdout.startswith(f"{name}_shmem: 4 ranks, ")
    # Other data, another result: the checksum does depend on them.
    assert checksum(run_workload(shmem(name), "oshcc", (*SMALL[name], "--seed", "2"))) != expected


def test_rows_dealt_to_single_elements_solve_the_same(run_workload: Run) -> None:
    # Every edge connects two elements, rows are ready in another order, and words are shared by 3 producers.
    whole = checksum(run_workload(shmem("iccg"), "oshcc", (*SMALL["iccg"], "--mechanism", "shared")))
    single = ("--chunk", "1", "--mechanism", "shared")
    assert checksum(run_workload(shmem("iccg"), "oshcc", (*SMALL["iccg"], *single))) == whole


@pytest.mark.parametrize(
    ("pattern", "mechanism", "peers"),
    [
        ("A", "blocking-put", ("--topology", "point")),
        ("A", "get", ("--topology", "congestion")),
        ("B", "put", ("--topology", "multiple", "--schedule", "contiguous")),
        ("C", "get", ("--topology", "multiple", "--schedule", "interleaved")),
        ("C", "put", ("--topology", "congestion")),
        ("D", "put", ("--topology", "all-to-all", "--schedule", "same")),
        ("E", "get", ("--topology", "all-to-all", "--schedule", "interleaved")),
        ("E", "put", ("--topology", "all-to-all", "--schedule", "contiguous")),
    ],
)
def test_overlap_templates(run_workload: Run, mechanism: str, pattern: str, peers: tuple[str, ...]) -> None:
    size = ("--repeat", "2", "--volume", "65536", "--size", "4096", "--burst", "3")
    done = run_workload(shmem("overlap"), "oshcc", (*size, "--pattern", pattern, "--mechanism", mechanism, *peers))
    assert done.returncode == 0, done.stderr
    burst = 1 if pattern == "A" else 3
    assert done.stdout.startswith(
        f"overlap_shmem: 4 ranks, pattern {pattern}, volume 65536, size 4096, burst {burst}, "
    )


def test_more_in_flight_than_contexts(run_workload: Run) -> None:
    # Two bursts of 20 pieces are 40 operations in flight, on 32 contexts.
    arguments = ("--repeat", "1", "--volume", "65536", "--size", "1024", "--burst", "20", "--pattern", "E")
    assert run_workload(shmem("overlap"), "oshcc", arguments).returncode == 0


@pytest.fixture(scope="module")
def corrupting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preload that flips a bit in the third access of each element."""
    library = tmp_path_factory.mktemp("corrupt") / "corrupt.so"
    source = Path(__file__).with_name("corrupt_shmem.c")
    subprocess.run(["oshcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        *((name, (*arguments, "--mechanism", "put")) for name, arguments in SMALL.items()),
        ("iccg", (*SMALL["iccg"], "--mechanism", "shared")),
        ("unstruc", (*SMALL["unstruc"], "--mechanism", "shared")),
        ("overlap", ("--repeat", "1", "--volume", "65536", "--mechanism", "put")),
    ],
)
def test_notices_a_damaged_access(run_workload: Run, corrupting: Path, name: str, arguments: tuple[str, ...]) -> None:
    done = run_workload(shmem(name), "oshcc", arguments, LD_PRELOAD=str(corrupting))
    assert done.returncode != 0
    complaints = [line for line in done.stderr.splitlines() if line.startswith(f"{name}_shmem: ")]
    assert len(complaints) == 1
    assert re.match(rf"{name}_shmem: wrong result on rank \d: ", complaints[0])


@pytest.mark.parametrize(
    ("name", "option", "complaint"),
    [
        ("em3d", ("--mechanism", "fine"), "--mechanism fine: must be one of put|shared|prefetch"),
        ("unstruc", ("--receive", "poll"), "unknown option --receive; --help lists the options"),
        ("moldyn", ("--cells", "2"), "--cells 2: must be an integer from 6 to 200"),
        ("overlap", ("--mechanism", "two-sided"), "--mechanism two-sided: must be one of get|put|blocking-put"),
        ("overlap", ("--size", "24"), "--size 24: must be a multiple of 8 and divide --volume 1048576"),
    ],
)
def test_a_wrong_option_is_one_line(
    executables: Callable[[Program, str], Path],
    run_workload: Run,
    name: str,
    option: tuple[str, ...],
    complaint: str,
) -> None:
    done = run_workload(shmem(name), "oshcc", option, 1)
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if name in line and "/" not in line] == [
        f"{name}_shmem: {complaint}"
    ]
    assert done.stdout == ""
