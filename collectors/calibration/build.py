"""The calibration programs for one MPI: compiled when they are first needed, then kept in the cache.

`programs/` has a C file for each program; `programs/harness/` and `programs/timed/` (what is timed) are compiled into
every program. The cache key is compiler wrapper, its date, flags and the sources' hash, so an update of either side
makes a new folder and never a stale one.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from logpost.collectors import build as cache
from logpost.errors import InputError

PROGRAMS = Path(__file__).parent / "programs"
PARTS = ("harness", "timed")
FLAGS = ("-std=c11", "-O2", "-w")


def programs() -> list[str]:
    """The programs' names."""
    return sorted(path.stem for path in PROGRAMS.glob("*.c"))


def build(compiler: str, names: Sequence[str] | None = None) -> dict[str, Path]:
    """Executables by program name, compiled where the cache has none.

    Raises InputError when the compiler is missing or fails, with its first error.
    """
    wrapper = shutil.which(compiler)
    if wrapper is None:
        raise InputError(
            f"{compiler} is not on PATH: install libopenmpi-dev or libmpich-dev, load your site's MPI module, "
            "or pass the compiler with --compiler"
        )
    sources = sorted(PROGRAMS.rglob("*.[ch]"))
    key = cache.key_of(sources, (*cache.identity_of(wrapper), *FLAGS), below=PROGRAMS)
    folder = cache.cache_directory() / "calibration" / key
    return {name: _kept(wrapper, name, folder) for name in (names or programs())}


def compile_program(compiler: str, source: Path, target: Path) -> None:
    """Compile one C file with the harness of the calibration programs and what they time.

    Raises InputError when the compiler fails, with its first error, and OSError when it cannot be started.
    """
    folders = [PROGRAMS / name for name in PARTS]
    sources = map(str, (source, *(path for folder in folders for path in sorted(folder.glob("*.c")))))
    cache.run_compiler(
        [compiler, *FLAGS, *(f"-I{folder}" for folder in folders), "-o", str(target), *sources, "-lm"],
        f"{compiler} could not compile the calibration program {source.stem}",
    )


def _kept(wrapper: str, name: str, folder: Path) -> Path:
    def make(place: Path) -> None:
        compile_program(wrapper, PROGRAMS / f"{name}.c", place / name)

    return cache.kept(folder / name, make) / name
