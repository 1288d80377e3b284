"""Whether a program is instrumented with Score-P, and how to relink one that is not."""

from __future__ import annotations

import mmap
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

# The measurement library names this variable in its messages, so a statically linked program holds it; a dynamically
# linked one names the libraries.
_TRACES = (b"libscorep_", b"SCOREP_TOTAL_MEMORY")
_WRAPPERS = (
    # libraries of a program -> compiler wrapper that it was linked by, CMake's variable
    (re.compile(r"liboshmem|libsma"), "oshcc", "C"),
    (re.compile(r"libmpi_mpifh|libmpi_usempi|libmpifort|libgfortran"), "mpif90", "Fortran"),
    (re.compile(r"libmpi_cxx|libmpicxx|libstdc\+\+"), "mpicxx", "CXX"),
)


def is_instrumented(program: Path, environment: Mapping[str, str]) -> bool:
    """Whether Score-P measures an ELF program: it is linked with it, or its libraries are, or they are preloaded."""
    if "libscorep_" in environment.get("LD_PRELOAD", ""):
        return True
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if any(content.find(trace) >= 0 for trace in _TRACES):
            return True
    return "libscorep_" in _libraries(program)


def how_to_relink(program: Path) -> str:
    """The sentence that names what must be relinked, and how."""
    libraries = _libraries(program)
    wrapper, language = next(((name, lang) for pattern, name, lang in _WRAPPERS if pattern.search(libraries)), ("", ""))
    wrapper, language = wrapper or "mpicc", language or "C"
    return (
        f"{program} is not instrumented with Score-P: link it with the prefix scorep, and compile with it what shall "
        f"appear as user functions: scorep {wrapper} -o {program.name} ... (make: 'scorep {wrapper}' in place of "
        f"{wrapper}; CMake: SCOREP_WRAPPER=off cmake -DCMAKE_{language}_COMPILER=scorep-{wrapper}, then make); "
        "logpost record without --with needs no relinking"
    )


def _libraries(program: Path) -> str:
    try:
        done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
