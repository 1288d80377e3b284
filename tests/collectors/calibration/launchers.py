"""How the tests start calibration programs: on the installed MPIs, and on simulated platforms."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from logpost.collectors.calibration.build import build

MPIS = {"Open MPI": ("mpirun.openmpi", "mpicc.openmpi"), "MPICH": ("mpirun.mpich", "mpicc.mpich")}
# More ranks than this machine has cores, and root, are fine for a test.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
# A flow model whose times are latency + bytes / bandwidth, overheads that are what they say, calls that are free.
CLEAN = (
    "--cfg=smpi/simulate-computation:no",
    "--cfg=network/model:CM02",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=smpi/wtime:0",
    "--cfg=smpi/grow-injected-times:no",
    "--log=root.thresh:error",
)
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="{bandwidth}Bps" lat="{latency}s"
           sharing_policy="SPLITDUPLEX" loopback_bw="{loopback}Bps" loopback_lat="0s"/>
</platform>
"""


def require_mpi(name: str) -> tuple[str, str]:
    """Launcher and compiler of an MPI; skips when it is not installed."""
    launcher, compiler = MPIS[name]
    if shutil.which(launcher) is None or shutil.which(compiler) is None:
        pytest.skip(f"{launcher} and {compiler} are not installed (packaging/apt-test.txt has them)")
    return launcher, compiler


class Simulated:
    """A cluster: from host to host each message passes two links, each with half of L and the bandwidth 1/G."""

    def __init__(
        self,
        folder: Path,
        *,
        hosts: int = 2,
        L: float = 10e-6,
        G: float = 1e-9,
        o_s: float = 5e-6,
        o_r: float = 7e-6,
        eager: int = 65536,
        poll: float = 1e-7,
    ) -> None:
        if shutil.which("smpirun") is None or shutil.which("smpicc") is None:
            pytest.skip("smpirun and smpicc are not installed (libsimgrid-dev)")
        self.folder, self.hosts = folder, hosts
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "platform.xml").write_text(
            PLATFORM.format(last=hosts - 1, bandwidth=repr(1 / G), latency=repr(L / 2), loopback=repr(2 / G))
        )
        (folder / "hosts").write_text("".join(f"n{i}\n" for i in range(hosts)))
        self.settings = [
            *CLEAN,
            f"--cfg=smpi/os:0:{o_s!r}:0",
            f"--cfg=smpi/ois:0:{o_s!r}:0",
            f"--cfg=smpi/or:0:{o_r!r}:0",
            f"--cfg=smpi/iprobe:{poll!r}",
            f"--cfg=smpi/test:{poll!r}",
            f"--cfg=smpi/async-small-thresh:{eager}",
            f"--cfg=smpi/send-is-detached-thresh:{eager}",
        ]

    @property
    def launch(self) -> list[str]:
        place = ["-platform", str(self.folder / "platform.xml"), "-hostfile", str(self.folder / "hosts")]
        return ["smpirun", "-np", str(self.hosts), *place, *self.settings]

    def run(self, program: str, *arguments: str) -> list[dict[str, Any]]:
        """The points of one run; simulated time is free, so the budget does not end a visit."""
        return run(self.launch, "smpicc", program, self.folder, "--budget-s", "1000", "--batch", "4", *arguments)[1:]


def run(launch: Sequence[str], compiler: str, program: str, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """The lines of one run of a calibration program."""
    executable = build(compiler, [program])[program]
    output = folder / f"{program}.jsonl"
    command = [*launch, str(executable), "--output", str(output), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **ENVIRONMENT}
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return [json.loads(line) for line in output.read_text().splitlines()]


def pick(points: list[dict[str, Any]], family: str, **keys: object) -> dict[str, Any]:
    """The one point of a family with these keys."""
    found = [p for p in points if p["family"] == family and all(p[key] == value for key, value in keys.items())]
    assert len(found) == 1, f"{len(found)} points of {family} with {keys}"
    return found[0]
