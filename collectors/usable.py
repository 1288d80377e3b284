"""Which collectors can be used on this machine, and how to get what they need: one row each.

`logpost doctor` shows the table. A row's probes look for programs and libraries by name; only the interposer of MPI is
compiled, because nothing less shows that it can be.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from logpost.collectors import assemble, mpi
from logpost.collectors.pmpi import interposer
from logpost.collectors.scorep import installation
from logpost.collectors.testbed import build as testbed
from logpost.errors import InputError

Probe = Callable[[], tuple[str, str]]
"""Returns (what was found, what is missing); one of them may be empty."""


@dataclass(frozen=True)
class Collector:
    """A collector: what it records, what it needs and where that comes from."""

    name: str
    records: str
    probes: tuple[Probe, ...]
    apt: str
    module: str
    spack: str
    part: str = ""
    """The module of logpost that it is; empty: always there."""


@dataclass(frozen=True)
class Usability:
    """The outcome of looking for a collector's needs; `missing` is empty where it is usable."""

    name: str
    records: str
    usable: bool
    found: str
    missing: str
    apt: str
    module: str
    spack: str

    @property
    def way_out(self) -> str:
        """How to get what is missing; empty where nothing is, or nothing helps."""
        ways = {"apt install": self.apt, "module load": self.module, "spack install": self.spack}
        return "; ".join(f"{how} {what}" for how, what in ways.items() if what and not self.usable)


def programs(*names: str) -> Probe:
    """Whether these are on PATH."""

    def probe() -> tuple[str, str]:
        found = {name: shutil.which(name) for name in names}
        return ", ".join(path for path in found.values() if path), _not_on_path([n for n in names if not found[n]])

    return probe


def _not_on_path(names: list[str]) -> str:
    return f"{', '.join(names)} not on PATH" if names else ""


def _interposer(abi: str) -> Probe:
    def probe() -> tuple[str, str]:
        try:
            target = _mpi(abi)
            interposer.build(target)
        except InputError as error:
            return "", str(error)
        return str(target), ""

    return probe


def _mpi(abi: str) -> mpi.Mpi:
    """The MPI of a binary interface: the one on PATH if it is that, else the one that Debian names so."""
    try:
        default = mpi.find([])
    except InputError:
        default = None
    return default if default is not None and default.abi == abi else mpi.find([], abi)


def _assembler() -> tuple[str, str]:
    try:
        assemble.find_assembler()
    except InputError as error:
        return "", str(error)
    return "", ""


def _coarrays() -> tuple[str, str]:
    """OpenCoarrays: its wrapper on PATH or where Debian keeps it, else its shared library."""
    wrapper = shutil.which("caf") or next(map(str, sorted(Path("/usr/lib").glob("*/open-coarrays/*/bin/caf"))), None)
    libraries = (ctypes.util.find_library(name) for name in ("caf_mpi", "caf_openmpi", "caf_mpich"))
    found = wrapper or next((library for library in libraries if library), "")
    return found, "" if found else "neither caf nor libcaf_mpi was found"


def _score_p() -> tuple[str, str]:
    there = installation.find()
    if there is not None:
        return str(there), ""
    return "", _not_on_path(installation.missing()) or "scorep-config does not answer"


def _simgrid() -> tuple[str, str]:
    try:
        testbed.find_smpimain()
        return f"{testbed.find_smpicc()} ({testbed.version()})", ""
    except InputError:
        return "", "smpicc, smpimain not on PATH"


COLLECTORS = (
    Collector(
        "openmpi",
        "MPI programs on Open MPI: record",
        (_interposer(mpi.OPENMPI), _assembler),
        "openmpi-bin libopenmpi-dev libotf2-trace-dev",
        "openmpi otf2",
        "openmpi otf2",
    ),
    Collector(
        "mpich",
        "MPI programs on MPICH and its kin (Intel MPI, Cray MPICH): record",
        (_interposer(mpi.MPICH), _assembler),
        "mpich libmpich-dev libotf2-trace-dev",
        "mpich otf2",
        "mpich otf2",
    ),
    Collector(
        "openshmem",
        "OpenSHMEM programs on Open MPI: record -- oshrun",
        (programs("oshcc", "oshrun"), _assembler),
        "openmpi-bin libopenmpi-dev libotf2-trace-dev",
        "openmpi (with OpenSHMEM); otf2",
        "openmpi fabrics=ucx",
        "logpost.collectors.shmem",
    ),
    Collector(
        "coarrays",
        "Fortran coarrays on OpenCoarrays: record -- cafrun",
        (_coarrays, _assembler),
        "libcoarrays-openmpi-dev gfortran libotf2-trace-dev",
        "opencoarrays otf2",
        "opencoarrays otf2",
        "logpost.collectors.coarray",
    ),
    Collector(
        "gasnet",
        "trace files of UPC, UPC++ and Chapel programs (GASNET_TRACEFILE): import gasnet",
        (_assembler,),
        "libotf2-trace-dev g++",
        "otf2",
        "otf2",
        "logpost.collectors.gasnet",
    ),
    Collector(
        "scorep",
        "programs that are instrumented with Score-P: record --with scorep",
        (_score_p,),
        "",
        "Score-P",
        "scorep +mpi",
    ),
    Collector(
        "testbed",
        "C programs in simulated time on SimGrid: testbed run",
        (_simgrid, _assembler),
        "libsimgrid-dev libotf2-trace-dev",
        "simgrid otf2",
        "simgrid +smpi; otf2",
    ),
)


def look(collector: Collector) -> Usability:
    """Whether a collector can be used here."""
    if collector.part and importlib.util.find_spec(collector.part) is None:
        lacks = "this version of logpost has no such collector"
        return Usability(collector.name, collector.records, False, "", lacks, "", "", "")
    results = [probe() for probe in collector.probes]
    found, missing = ("; ".join(text for text in column if text) for column in zip(*results, strict=True))
    ways = (collector.apt, collector.module, collector.spack) if missing else ("", "", "")
    return Usability(collector.name, collector.records, not missing, found, missing, *ways)


def survey() -> list[Usability]:
    """Every collector, in the order of the table."""
    return [look(collector) for collector in COLLECTORS]
