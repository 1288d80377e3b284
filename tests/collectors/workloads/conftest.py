"""Running the workloads under each MPI of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from logpost.collectors.mpi import launcher_of
from logpost.collectors.workloads.build import build, launch_environment
from logpost.collectors.workloads.catalogue import Program, workload

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session", params=["mpicc.openmpi", "mpicc.mpich"])
def mpicc(request: pytest.FixtureRequest) -> str:
    """A compiler wrapper; one that is missing fails in CI and skips elsewhere."""
    wrapper: str = request.param
    if shutil.which(wrapper) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{wrapper} is missing, and CI must have it")
        pytest.skip(f"no {wrapper} here")
    return wrapper


@pytest.fixture(scope="session")
def executables(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Program, str], Path]:
    """Builds each program once per compiler, away from the user's cache."""
    folder = tmp_path_factory.mktemp("workloads")
    built: dict[tuple[str, str], Path] = {}

    def get(program: Program, compiler: str) -> Path:
        key = (program.name, compiler)
        if key not in built:
            built[key] = build(program, compiler, folder / compiler)
        return built[key]

    return get


def start(
    executable: Path, compiler: str, program: Program, arguments: tuple[str, ...], ranks: int, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs an executable on `ranks` processes, with its output captured."""
    environment = {
        **launch_environment(program),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        **settings,
    }
    command = [launcher_of(compiler, program.paradigm), "-n", str(ranks), str(executable), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def run_workload(executables: Callable[[Program, str], Path]) -> Run:
    """`run_workload(program, compiler, arguments, ranks=4, **environment)`."""

    def run(
        program: Program, compiler: str, arguments: tuple[str, ...], ranks: int = 4, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        return start(executables(program, compiler), compiler, program, arguments, ranks, **settings)

    return run


# 40 MB/s and 0.5 us per host: the Alewife's links. No overheads, and no measured host time.
CLUSTER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="20Mf" bw="40MBps" lat="0.5us"/>
</platform>
"""
SIMULATOR = (
    "smpi/simulate-computation:no",
    "network/model:CM02",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:0",
)


@pytest.fixture(scope="session")
def simulate(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], list[str]]:
    """`simulate(workload, ranks)`: the command that runs it on a simulated cluster; programs are built once."""
    folder = tmp_path_factory.mktemp("simulated")

    def command(name: str, ranks: int) -> list[str]:
        if not (folder / name).exists():
            files = [str(path) for path in workload(name).program().files()]
            flags = ["-std=gnu11", "-O2", "-ffp-contract=off", "-w"]
            subprocess.run(["smpicc", *flags, "-o", name, *files, "-lm"], cwd=folder, check=True)
        platform, hosts = folder / f"platform{ranks}.xml", folder / f"hosts{ranks}"
        platform.write_text(CLUSTER.format(last=ranks - 1))
        hosts.write_text("\n".join(f"n{i}" for i in range(ranks)))
        launcher = ["smpirun", "-np", str(ranks), "-platform", str(platform), "-hostfile", str(hosts)]
        settings = [f"--cfg={setting}" for setting in SIMULATOR]
        return [*launcher, "--log=root.thresh:critical", *settings, str(folder / name)]

    return command
