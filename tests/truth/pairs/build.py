"""Builds both variants of a pair with Open MPI; what is missing here is an error that names it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.real_network import NoNetworkError, network

from logpost.collectors import mpi as detection

from .catalogue import PROGRAMS, Pair

COMPILERS = {"C": "mpicc.openmpi", "Fortran": "mpif90.openmpi"}
LAUNCHER = "mpirun.openmpi"
MPI4PY = "mpi4py==4.1.*"
"""Wheels of this version load whatever MPI `MPI4PY_LIBMPI` names."""
BUFFERS = {"OMPI_MCA_btl_tcp_sndbuf": "16384", "OMPI_MCA_btl_tcp_rcvbuf": "65536"}
"""Of TCP, in bytes: a send of more waits for the link, as it does for a NIC."""


class MissingError(Exception):
    """A compiler, launcher or package that a pair needs."""


@contextmanager
def launcher(pair: Pair, folder: Path) -> Iterator[tuple[str, ...]]:
    """What launches the ranks of a pair, while its network is there."""
    if pair.network is None:
        yield (LAUNCHER,)
        return
    try:
        with network(folder, pair.network, pair.ranks) as net:
            yield net.launch
    except NoNetworkError as reason:
        raise MissingError(f"no network: {reason}") from reason


def build(pair: Pair, folder: Path, launch: Sequence[str] = (LAUNCHER,)) -> tuple[list[str], list[str]]:
    """The commands of the variant with the loss and of the one without."""
    if shutil.which(LAUNCHER) is None:
        raise MissingError(f"{LAUNCHER} is not installed (apt install openmpi-bin)")
    launch = [*launch, "-n", str(pair.ranks)]
    if pair.language == "Python":
        command = [*launch, sys.executable, str(pair.source)]
        return command, [*command, "fixed"]
    compiler = COMPILERS[pair.language]
    if shutil.which(compiler) is None:
        raise MissingError(f"{compiler} is not installed (packaging/apt-test.txt has it)")
    commands = []
    for variant, options in (("lossy", []), ("fixed", ["-DFIXED"])):
        place = folder / pair.name / variant
        place.mkdir(parents=True, exist_ok=True)
        further = [str(PROGRAMS / "pair_module.F90")] if pair.language == "Fortran" else []
        program = place / pair.name
        flags = ["-g", "-O1", "-fno-optimize-sibling-calls", *options]
        done = subprocess.run(
            [compiler, *flags, "-o", str(program), *further, str(pair.source)],
            cwd=place,  # gfortran writes the module's file there
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{pair.source.name} does not build:\n{done.stderr}")
        commands.append([*launch, str(program)])
    return commands[0], commands[1]


def environment_of_ranks() -> dict[str, str]:
    """Variables of Open MPI where ranks may outnumber cores: ranks that wait give way."""
    return {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
    }


def environment(pair: Pair, cache: Path) -> dict[str, str]:
    """Variables of a run of a pair: those of Open MPI, and of mpi4py for Python."""
    found = environment_of_ranks()
    if pair.network is not None:
        found |= BUFFERS
    if pair.language == "Python":
        library = detection.find([], COMPILERS["C"]).library
        found |= {"PYTHONPATH": os.pathsep.join((str(_mpi4py(cache)), *filter(None, sys.path)))}
        found |= {"MPI4PY_LIBMPI": str(library)}
    return found


def _mpi4py(cache: Path) -> Path:
    """The folder of mpi4py's wheel, which has no MPI inside; fetched once."""
    folder = cache / "mpi4py"
    if not (folder / "mpi4py").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--retries", "0", "--only-binary", ":all:"]
        done = subprocess.run([*pip, "--target", str(folder), MPI4PY], capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingError(f"pip cannot get {MPI4PY}: {done.stderr.strip().splitlines()[-1]}")
    return folder
