"""From a launch command to a samples file: quick runs on real MPIs and simulated clusters, and what users do wrong."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from logpost.collectors.calibration import build as building
from logpost.collectors.calibration import measure as measuring
from logpost.collectors.calibration.build import build
from logpost.collectors.calibration.grid import DEFAULT, THOROUGH, Grid, listed, peers
from logpost.collectors.calibration.launch import run_program
from logpost.collectors.calibration.measure import measure
from logpost.collectors.mpi import compiler_of
from logpost.errors import InputError
from logpost.machines.calibration.samples import FAMILIES, read
from logpost.machines.calibration.statistics import SPELLS

from .launchers import ENVIRONMENT, MPIS, Simulated, require_mpi

TINY = Grid(
    sizes=(8, 1024),
    signature_sizes=(8,),
    bursts=(1, 4, 64),
    burst_sizes=(8,),
    burst_lengths=(1, 8),
    depth_sizes=(8,),
    gap_sizes=(1024,),
    layout_sizes=(256, 1024),
    strides=(64,),
    largest_eager=16384,
)

ELSEWHERE = {"one_to_many", "many_to_one", "used_layout", "one_sided", "distance", "across"}
"""Families that need more ranks than two, or hosts, or are measured while recording."""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in ENVIRONMENT.items():
        monkeypatch.setenv(name, text)


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPIS)
def test_quick_calibration(mpi: str, tmp_path: Path) -> None:
    launcher, compiler = require_mpi(mpi)
    reported: list[tuple[str, float, str]] = []
    found = measure(
        [launcher, "-n", "2"],
        output=tmp_path / "samples.jsonl",
        grid=TINY,
        budget_s=1,
        passes=2,
        batch=8,
        report=lambda *news: reported.append(news),
    )
    assert read(tmp_path / "samples.jsonl") == found
    assert os.listdir(tmp_path) == ["samples.jsonl"]
    assert Path(found.host.compiler).name == compiler
    assert found.host.launcher == f"{launcher} -n 2"
    # Every family that two ranks can measure, every point in two launches.
    assert {p.family for p in found.points} == set(FAMILIES) - ELSEWHERE
    assert {len(p.time.rounds_s) for p in found.points if p.family == "signature"} == {2}
    assert {p["burst"] for p in found.of("signature", delta_s=0.0)} == {1, 4, 64}
    fractions = [fraction for _, fraction, _ in reported]
    assert fractions == sorted(fractions)
    assert (reported[0][0], reported[-1][0], fractions[-1]) == ("build", "done", 1.0)


def test_points_next_to_the_eager_limit(tmp_path: Path) -> None:
    """The first pass finds that 1000 bytes wait for their receive: T(n) gets 999 and 1000, log3P 992 and 1000."""
    cluster = Simulated(tmp_path, eager=1000)
    # What is left of the budget is counted in this machine's seconds: enough for two passes on a busy one.
    found = measure(cluster.launch, output=tmp_path / "s", grid=TINY, budget_s=30, passes=2, batch=4)
    assert [p.bytes for p in found.of("one_way")] == [8, 1024, 999, 1000]
    contiguous = found.of("layout", transfer="remote", form="contiguous")
    assert [p.bytes for p in contiguous] == [256, 992, 1000, 1024]
    # o_s + L + (999 + 16) G + o_r = 5 + 10 + 1.015 + 7 below, L + (1000 + 16) G above
    below, above = (found.of("one_way", bytes=size)[0].time.median_s for size in (999, 1000))
    assert (below, above) == pytest.approx((23.015e-6, 11.016e-6))
    assert all(p.time.reached for p in found.of("one_way"))


@pytest.mark.parametrize(("ranks", "crowds", "patterns"), [(3, {2}, {2}), (4, {3}, {2, 4})])
def test_simulated_cluster_with_more_ranks(ranks: int, crowds: set[int], patterns: set[int], tmp_path: Path) -> None:
    cluster = Simulated(tmp_path, hosts=ranks)
    found = measure(cluster.launch, output=tmp_path / "s", grid=TINY, budget_s=1, passes=2, batch=4)
    # peers() of the first pass knows the number of ranks: of four, 1-to-3 and 3-to-1, patterns of 2 and of 4.
    assert {p["peers"] for p in found.of("one_to_many")} == crowds
    assert {p["peers"] for p in found.of("many_to_one")} == crowds
    assert {p["peers"] for p in found.of("pattern_gap")} == patterns
    assert found.localities() == ["self", "other_node"]
    assert found.host.clock == "MPI_Wtime (simulated)"


def test_time_ends_the_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass is two seconds: after the fewest passes a budget of one second is over, and no further one starts."""
    clock = iter(range(10_000))
    started: list[str] = []

    def launch(command: list[str], patience_s: float) -> None:
        started.append(command[0])
        output = Path(command[command.index("--output") + 1])
        host = {"family": "host", "ranks": 2, "hosts": ["a", "b"], "cpus": ["0", "0"], "sockets": [0, 0]}
        host |= {"mpi_library": "m", "clock": "c", "clock_resolution_s": 1e-9, "date": "d"}
        output.write_text(json.dumps(host) + "\n")

    monkeypatch.setattr(measuring, "run_program", launch)
    monkeypatch.setattr(measuring, "build", lambda compiler: dict.fromkeys(measuring.ORDER, Path("program")))
    monkeypatch.setattr(measuring, "compiler_of", lambda launcher: "mpicc")
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    measure(["mpirun"], output=tmp_path / "s", budget_s=1)
    per_pass = len(set(measuring.ORDER) - {"contention"})
    assert len(started) == SPELLS * per_pass - (SPELLS - measuring.PROTOCOL_PASSES)


@pytest.mark.mpi
def test_one_rank(tmp_path: Path) -> None:
    launcher, _ = require_mpi("Open MPI")
    with pytest.raises(InputError, match=r"status 2: calibration: .* at least 2 ranks: .*another MPI"):
        measure([launcher, "-n", "1"], output=tmp_path / "s", grid=TINY)
    assert os.listdir(tmp_path) == []


@pytest.mark.mpi
def test_compiler_of_another_mpi(tmp_path: Path) -> None:
    """Programs of MPICH under Open MPI's launcher are two programs of one rank each."""
    launcher, _ = require_mpi("Open MPI")
    _, other = require_mpi("MPICH")
    with pytest.raises(InputError, match="pass the right one with --compiler"):
        measure([launcher, "-n", "2"], output=tmp_path / "s", compiler=other, grid=TINY)


def test_no_launch_command() -> None:
    with pytest.raises(InputError, match="no launch command; give it after --"):
        measure([])


def test_no_such_launcher(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-such-mpirun is not on PATH"):
        measure(["no-such-mpirun"], output=tmp_path / "s")


def test_no_passes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="passes = 0 must be at least 1"):
        measure(["true"], output=tmp_path / "s", passes=0)


@pytest.mark.mpi
def test_no_folder(tmp_path: Path) -> None:
    launcher, _ = require_mpi("Open MPI")
    with pytest.raises(InputError, match=r"cannot write to .*nowhere.*another output file"):
        measure([launcher, "-n", "2"], output=tmp_path / "nowhere" / "s")


def test_a_program_that_aborts_under_a_simulator(tmp_path: Path) -> None:
    """smpirun's status is 0 then; the program's own line is what the user gets."""
    cluster = Simulated(tmp_path, hosts=1)
    with pytest.raises(InputError, match=r"smpirun ended .*calibration: needs at least 2 ranks"):
        measure(cluster.launch, output=tmp_path / "s", grid=TINY)


def _script(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo one >&2; echo 'no slots left' >&2; exit 3", "ended with status 3: no slots left$"),
        ("kill -SEGV $$", "ended by SIGSEGV: no message"),
        ("exit 0", "left no samples in .*rank 0 .* this folder"),
        ('while [ "$1" != --output ]; do shift; done; : > $2', "left overhead-1.jsonl empty"),
        ("while [ \"$1\" != --output ]; do shift; done; echo '{' > $2", "overhead-1.jsonl, line 1 is not JSON"),
    ],
)
def test_failing_launchers(script: str, message: str, tmp_path: Path) -> None:
    _, compiler = require_mpi("Open MPI")
    launcher = _script(tmp_path, "launch", script)
    with pytest.raises(InputError, match=message):
        measure([launcher], output=tmp_path / "s", compiler=compiler, grid=TINY)
    assert os.listdir(tmp_path) == ["launch"]


def test_launcher_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = _script(tmp_path, "launch", "exec sleep 60")
    with pytest.raises(InputError, match="did not finish in 0 s"):
        run_program([launcher, "program"], 0.2)


def test_compiler_next_to_the_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = _script(tmp_path, "mpicc", "")
    assert compiler_of(_script(tmp_path, "mpirun", "")) == here
    assert compiler_of(_script(tmp_path, "mpiexec.hydra", "")) == here
    assert compiler_of(_script(tmp_path, "srun", "")) == here
    simulated = _script(tmp_path, "smpicc", "")
    assert compiler_of(_script(tmp_path, "smpirun", "")) == simulated
    other = tmp_path / "bin"
    other.mkdir()
    on_path = _script(other, "mpicc", "")
    lonely = tmp_path / "lonely"
    lonely.mkdir()
    monkeypatch.setenv("PATH", str(other))
    assert compiler_of(_script(lonely, "mpirun", "")) == on_path
    monkeypatch.setenv("PATH", str(lonely))
    with pytest.raises(InputError, match=r"no mpicc for .*install libopenmpi-dev or libmpich-dev"):
        compiler_of(str(lonely / "mpirun"))


def test_compiler_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no-such-cc is not on PATH: install libopenmpi-dev"):
        build("no-such-cc")


def test_compiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wrapper = _script(tmp_path, "cc", "echo 'x.c:1: error: mpi.h: No such file' >&2; exit 1")
    with pytest.raises(InputError, match=r"not compile .* program overhead: x\.c:1: error: mpi\.h"):
        build(wrapper, ["overhead"])
    assert not [name for _, _, names in os.walk(tmp_path / "cache") for name in names]


def test_cache_key_follows_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built once; a changed source or wrapper is built anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wrapper = _script(tmp_path, "cc", f'echo x >> {tmp_path}/calls; while [ "$1" != -o ]; do shift; done; : > "$2"')
    first = build(wrapper, ["burst"])["burst"]
    assert build(wrapper, ["burst"])["burst"] == first
    assert (tmp_path / "calls").read_text() == "x\n"
    changed = tmp_path / "programs"
    shutil.copytree(building.PROGRAMS, changed)
    monkeypatch.setattr(building, "PROGRAMS", changed)
    assert build(wrapper, ["burst"])["burst"] == first
    with (changed / "harness" / "parts.h").open("a") as file:
        file.write("\n")
    assert build(wrapper, ["burst"])["burst"] != first
    assert (tmp_path / "calls").read_text() == "x\nx\n"


def test_grids() -> None:
    for grid in (DEFAULT, THOROUGH):
        for sizes in (grid.sizes, grid.bursts, grid.layout_sizes, grid.strides):
            assert list(sizes) == sorted(set(sizes))
        assert all(size % grid.block == 0 for size in (*grid.layout_sizes, *grid.strides))
        assert min(grid.strides) > grid.block
    assert set(DEFAULT.layout_sizes) <= set(THOROUGH.layout_sizes)
    assert peers(2) == (2,)
    assert peers(7) == (2, 4, 6)
    assert listed([8, 1e-6, 1048576]) == "8,1e-06,1048576"
