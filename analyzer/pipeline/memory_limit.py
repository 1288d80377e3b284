"""The limit of an analysis's memory: what the user says, else three quarters of what there is for this process.

There is what the machine has, or less where the process's cgroup (version 1 or 2) or its Slurm job allows less. What
exceeds the limit is written to a file (`spill.hpp`). Imports no table library: the command line reads the option.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from logpost.errors import InputError

LEAST_BYTES = 400_000_000
"""What the libraries, two threads of libotf2 and the smaller tables take, which have no place in the file."""
SHARE = 0.75
"""Of the memory that there is; the rest is for the system's cache of files, and for others."""

_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def parse(text: str) -> int:
    """Bytes of `--memory 4GB`.

    Raises:
        InputError: no number with a unit of memory, or less than an analysis can do with.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(\w+)", text)
    if match is None or match[2] not in _UNITS:
        raise InputError(f"--memory {text} is no size; write a number and one of {', '.join(_UNITS)}, as in 4GB")
    size = round(float(match[1]) * _UNITS[match[2]])
    if size < LEAST_BYTES:
        raise InputError(
            f"--memory {text} is less than the libraries of an analysis take; give it at least "
            f"{LEAST_BYTES / 10**6:.0f}MB"
        )
    return size


def default_bytes(
    environment: Mapping[str, str] = os.environ, root: Path = Path("/"), machine: int | None = None
) -> int:
    """The limit where the user names none: in the given environment, and system directories below `root`."""
    if machine is None:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return int(SHARE * min([machine, *_of_cgroups(root), *_of_slurm(environment)]))


def peak_bytes() -> int:
    """The largest resident memory of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _of_cgroups(root: Path) -> Iterable[int]:
    """The limits of the groups that this process is in, and of those above them."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _number, controllers, path = line.split(":", 2)
        if controllers == "":
            place, names = root / "sys/fs/cgroup", ["memory.max", "memory.high"]
        elif "memory" in controllers.split(","):
            place, names = root / "sys/fs/cgroup/memory", ["memory.limit_in_bytes"]
        else:
            continue
        # In a container the path may be that of the host, and its own group is mounted at the top.
        below = Path(path.lstrip("/"))
        for directory in [below, *below.parents]:
            for name in names:
                found = _number_in(place / directory / name)
                if found is not None:
                    yield found


def _number_in(file: Path) -> int | None:
    """None where there is no such file, or no limit ("max")."""
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def _of_slurm(environment: Mapping[str, str]) -> Iterable[int]:
    """The job's limit on this node; Slurm's 0 is all memory of it."""
    per_node = _megabytes(environment.get("SLURM_MEM_PER_NODE", ""))
    per_cpu = _megabytes(environment.get("SLURM_MEM_PER_CPU", ""))
    cpus = environment.get("SLURM_CPUS_ON_NODE", "")
    if per_node:
        yield per_node
    if per_cpu and cpus.isdecimal() and int(cpus):
        yield per_cpu * int(cpus)


def _megabytes(text: str) -> int:
    """Slurm's megabytes are of 2^20 bytes."""
    return int(text) * 2**20 if text.isdecimal() else 0
