"""Find the Score-P on PATH: `scorep`, `scorep-config` and `scorep-info` of one installation."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

TOOLS = ("scorep", "scorep-config", "scorep-info")
WAY_OUT = (
    "load its module (module load Score-P), install it (spack install scorep +mpi; Debian has no package) or put its "
    "bin folder on PATH"
)


@dataclass(frozen=True)
class Installation:
    """A Score-P: its version and the compilers that it was configured with."""

    version: str
    mpicc: str
    """The MPI compiler of the installation; empty: it was built without MPI."""

    def __str__(self) -> str:
        """Name, version and MPI, as people write them."""
        return f"Score-P {self.version} ({f'MPI by {self.mpicc}' if self.mpicc else 'without MPI'})"


def missing() -> list[str]:
    """The tools of Score-P that are not on PATH."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def find() -> Installation | None:
    """The Score-P on PATH, or None when a tool is not there or does not answer."""
    if missing():
        return None
    version = _output(["scorep-config", "--version"])
    return Installation(version.split()[-1], _output(["scorep-config", "--mpicc"])) if version else None


def _output(command: Sequence[str]) -> str:
    """The first line that a tool prints, or nothing when it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().partition("\n")[0].strip() if done.returncode == 0 else ""
