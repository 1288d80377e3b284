"""Find which MPI a command uses: the library that its program links, or the MPI of its launcher.

Three binary interfaces exist (sonames in brackets): Open MPI's (``libmpi.so.40``), MPICH's (``libmpi.so.12``, Debian's
``libmpich.so.12``; Intel MPI, MVAPICH2 and Cray's share it) and that of MPI-5 (``libmpi_abi.so.1``). An interposer
built for the wrong one would crash the program, so it is found out before anything is built.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from logpost.collectors import build
from logpost.errors import InputError

OPENMPI, MPICH, STANDARD = "openmpi", "mpich", "abi"
NAMES = {OPENMPI: "Open MPI", MPICH: "MPICH", STANDARD: "the MPI-5 standard interface"}
PACKAGES = {OPENMPI: "libopenmpi-dev", MPICH: "libmpich-dev", STANDARD: "libmpich-dev (5.0 or newer)"}

SHMEM_LAUNCHERS = ("oshrun", "shmemrun")
_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "srun", *SHMEM_LAUNCHERS)
_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|julia|octave|Rscript|bash|sh|zsh|env|nice|numactl|taskset|time)[\d.]*$"
)


@dataclass(frozen=True)
class Mpi:
    """An MPI to record: its binary interface, its headers and its library."""

    abi: str
    version: str
    includes: tuple[str, ...]
    library: Path | None

    def __str__(self) -> str:
        """Name and version as people write them."""
        return f"{NAMES[self.abi]} {self.version}".strip()


def _output(command: Sequence[str], timeout_s: float = 30.0) -> str:
    """Return the standard output of a command, or nothing when it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def abi_of_soname(name: str) -> str | None:
    """Return the binary interface that a file name of an MPI library stands for."""
    if name.startswith("libmpi_abi.so"):
        return STANDARD
    if re.match(r"libmpi(ch|_\w+)?\.so\.12\b", name):
        return MPICH
    if re.match(r"libmpi\.so\.(40|20)\b", name):
        return OPENMPI
    return None


def is_launcher(word: str) -> bool:
    """Whether a command's first word is mpirun, mpiexec, oshrun or one of their relatives."""
    return Path(word).name.startswith(_LAUNCHERS)


def launcher_abi(word: str) -> str | None:
    """Ask a launcher which MPI it belongs to."""
    path = shutil.which(word) if is_launcher(word) else None
    return None if path is None else _abi_of_launcher(path)


@cache
def _abi_of_launcher(path: str) -> str | None:
    """By its place: PATH may change while a process lives."""
    text = _output([path, "--version"])
    if "Open MPI" in text or "OpenRTE" in text or "PRRTE" in text:
        return OPENMPI
    if "HYDRA" in text or "MPICH" in text or "Intel(R) MPI" in text:
        return MPICH
    return None


def is_elf(path: Path) -> bool:
    """Whether a file is a compiled program or library."""
    try:
        with path.open("rb") as f:
            return f.read(4) == b"\x7fELF"
    except OSError:
        return False


def _executables(command: Sequence[str]) -> Iterator[tuple[int, Path]]:
    """Yield the words of a command that name executable files, with their places."""
    for place, word in enumerate(command):
        if word.startswith("-") or word.isdigit():
            continue
        found = shutil.which(word)
        if found is not None and Path(found).is_file():
            yield place, Path(found)


def programs(command: Sequence[str]) -> list[Path]:
    """The words of a command that name executable files."""
    return [path for _, path in _executables(command)]


_TOOLS = {
    "mpi": "install openmpi-bin and libopenmpi-dev (or mpich and libmpich-dev), or load your site's MPI module",
    "shmem": "install openmpi-bin and libopenmpi-dev, or load a module with OpenSHMEM",
}
_DEFAULT_LAUNCHERS = {"mpi": "mpirun", "shmem": "oshrun"}
_WRAPPERS = (
    # launcher's name begins with -> wrappers to try
    ("smpirun", ("smpicc",)),
    ("mpirun.openmpi", ("mpicc.openmpi", "mpicc")),
    ("mpiexec.openmpi", ("mpicc.openmpi", "mpicc")),
    ("orterun", ("mpicc.openmpi", "mpicc")),
    ("prterun", ("mpicc",)),
    ("mpirun.mpich", ("mpicc.mpich", "mpicc")),
    ("mpiexec.mpich", ("mpicc.mpich", "mpicc")),
    ("mpiexec.hydra", ("mpicc.mpich", "mpicc")),
    ("", ("mpicc",)),
)


def find_tool(command: str, paradigm: str = "mpi") -> str:
    """Full path of a compiler wrapper or launcher. Raises InputError that says what to install."""
    found = shutil.which(command)
    if found is None:
        raise InputError(f"{command} is not on PATH: {_TOOLS[paradigm]}")
    return found


def launcher_of(compiler: str, paradigm: str = "mpi") -> str:
    """The launcher of a wrapper's MPI: `mpicc.mpich` -> `mpirun.mpich`, `/opt/x/bin/mpicc` -> `/opt/x/bin/mpirun`."""
    path = Path(find_tool(compiler, paradigm))
    name = path.name.replace("mpicc", "mpirun", 1).replace("oshcc", "oshrun", 1)
    return str(path.with_name(name)) if path.with_name(name).exists() else _DEFAULT_LAUNCHERS[paradigm]


def compiler_of(launcher: str) -> str:
    """The wrapper of a launcher's MPI: next to it, else on PATH (`/opt/x/bin/mpirun` -> `/opt/x/bin/mpicc`).

    Raises InputError when the launcher or the wrapper is not there, with what to install.
    """
    path = shutil.which(launcher)
    if path is None:
        raise InputError(f"{launcher} is not on PATH; give the launcher of your MPI, e.g. mpirun -n 2")
    candidates = next(wrappers for start, wrappers in _WRAPPERS if Path(path).name.startswith(start))
    neighbours = [str(Path(path).with_name(name)) for name in candidates]
    for found in (*(wrapper for wrapper in neighbours if os.access(wrapper, os.X_OK)), *map(shutil.which, candidates)):
        if found:
            return found
    raise InputError(
        f"no {candidates[0]} for {launcher}: install libopenmpi-dev or libmpich-dev, load your site's MPI module, "
        "or name the compiler with --compiler"
    )


def is_interpreter(path: Path) -> bool:
    """Whether a program runs what other files say: Python, a shell, numactl."""
    return _INTERPRETERS.fullmatch(path.name) is not None


def program_of(command: Sequence[str]) -> Path | None:
    """The executable that a command runs, by a launcher or directly."""
    first = 1 if command and is_launcher(command[0]) else 0
    return next((path for place, path in _executables(command) if place >= first), None)


def program_name(command: Sequence[str]) -> str:
    """Return the program's name for the archive: ``mpirun -n 4 python3 heat.py`` records ``heat``."""
    first = 1 if command and is_launcher(command[0]) else 0
    name = Path(command[0]).name if command else "program"
    for place, path in _executables(command):
        if place < first:
            continue
        name = path.name
        if not _INTERPRETERS.fullmatch(name):
            break
        scripts = [w for w in command[place + 1 :] if not w.startswith("-") and Path(w).is_file()]
        if scripts:
            name = Path(scripts[0]).stem
            break
    return re.sub(r"[^\w.+-]", "_", name) or "program"


def linked_libraries(path: Path) -> list[Path]:
    """Return the libraries that an ELF file is linked to, as the dynamic loader finds them."""
    if not is_elf(path):
        return []
    lines = _output(["ldd", str(path)]).splitlines()
    targets = [line.partition(" => ")[2].split(" (")[0].strip() for line in lines]
    return [Path(target) for target in targets if target.startswith("/")]


def linked_library(path: Path) -> Path | None:
    """Return the MPI library that an ELF file is linked to, as the dynamic loader finds it."""
    return next((library for library in linked_libraries(path) if abi_of_soname(library.name)), None)


def is_static(path: Path) -> bool:
    """Whether an ELF file has no dynamic loader, so that nothing can be preloaded into it."""
    return is_elf(path) and b"ld-linux" not in path.read_bytes()[:8192] and not _output(["ldd", str(path)])


def _compilers(command: Sequence[str], choice: str | None) -> Iterator[str]:
    """Yield candidates for the mpicc that belongs to a command, the most likely first."""
    if choice:
        yield from (choice, f"mpicc.{choice}")
        if choice == STANDARD:
            yield "mpicc_abi"
        return
    launcher = shutil.which(command[0]) if command and is_launcher(command[0]) else None
    if launcher:
        for path in (Path(launcher), Path(launcher).resolve()):
            suffix = path.name.partition(".")[2]
            for name in ("mpicc" + (f".{suffix}" if suffix else ""), "mpicc", "mpicc_abi"):
                yield str(path.parent / name)
    yield from ("mpicc", "mpicc.openmpi", "mpicc.mpich", "mpicc_abi")


_PROBE = """#include <mpi.h>
#if defined(OPEN_MPI)
logpost_abi openmpi OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined(MPICH_VERSION)
logpost_abi mpich MPICH_VERSION
#elif defined(MPI_ABI_VERSION)
logpost_abi abi MPI_ABI_VERSION.MPI_ABI_SUBVERSION
#endif
"""


def _preprocess(includes: Sequence[str]) -> tuple[str, str] | None:
    """Return (binary interface, version) that the mpi.h of some include flags declares."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "probe.c"
        source.write_text(_PROBE)
        text = _output([*build.c_compiler(), "-E", "-P", *includes, str(source)])
    match = re.search(r"^logpost_abi (\w+) (.*)$", text, re.MULTILINE)
    return (match[1], re.sub(r"[\s\"()]", "", match[2])) if match else None


def _flags(compiler: str) -> list[str]:
    for option in ("-show", "--showme"):
        text = _output([compiler, option])
        if text.strip():
            return shlex.split(text.splitlines()[0])
    return []


def _library_of(compiler: str) -> Path | None:
    """Return the library that an mpicc links to, found by linking."""
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "probe.c", Path(scratch) / "probe.so"
        source.write_text("#include <mpi.h>\nint probe(void) { return MPI_Init(0, 0); }\n")
        _output([compiler, "-shared", "-fPIC", "-o", str(target), str(source)])
        return linked_library(target) if target.exists() else None


def _include_directories(library: Path | None, abi: str) -> Iterator[Path]:
    """Yield where an MPI without an mpicc may keep its mpi.h."""
    for lib in [library.parent, library.resolve().parent] if library else []:
        for root in (lib, lib.parent, lib.parent.parent):
            yield root / "include"
            yield root / "openmpi" / "include"
            yield root / "include" / (f"{lib.name}/mpich" if abi == MPICH else "openmpi")


def find(command: Sequence[str], choice: str | None = None) -> Mpi:
    """Find the MPI that a command will use.

    ``choice`` is an mpicc, or ``openmpi``, ``mpich`` or ``abi``. Without it the program's own library decides, then the
    launcher, then the mpicc on PATH. Raises InputError with the package to install when its headers are missing.
    """
    build.c_compiler("the interposer is compiled for your MPI")
    library = next((lib for _, path in _executables(command) if (lib := linked_library(path))), None)
    abi = abi_of_soname(library.name) if library else None
    if choice:  # the user's choice wins; the interposer steps aside if it is wrong
        abi = choice if choice in NAMES else None
    elif abi is None and command:
        abi = launcher_abi(command[0])
    tried = []
    for compiler in dict.fromkeys(_compilers(command, choice)):
        if shutil.which(compiler) is None:
            continue
        includes = tuple(flag for flag in _flags(compiler) if flag.startswith(("-I", "-isystem", "-D")))
        known = _preprocess(includes)
        if known is None:
            continue
        tried.append(f"{compiler} ({NAMES[known[0]]})")
        if abi is None or known[0] == abi:
            if library is None or abi_of_soname(library.name) != known[0]:
                library = _library_of(compiler)
            return Mpi(known[0], known[1], includes, library)
    if abi is not None and (choice is None or choice in NAMES):
        for directory in _include_directories(library, abi):
            if (directory / "mpi.h").is_file():
                known = _preprocess((f"-I{directory}",))
                if known and known[0] == abi:
                    return Mpi(abi, known[1], (f"-I{directory}",), library)
    if choice and choice not in NAMES:
        raise InputError(f"--mpi {choice} is not an mpicc that compiles mpi.h; give the path of your MPI's mpicc")
    if abi is None:
        raise InputError(
            "no MPI was found for this command: its program and launcher name none, and no mpicc is on "
            "PATH; load your MPI's module or pass --mpi PATH/OF/mpicc"
        )
    seen = f" (found only {', '.join(tried)})" if tried else ""
    raise InputError(
        f"the program uses {NAMES[abi]}, whose mpi.h was not found{seen}: install {PACKAGES[abi]} "
        "(Debian, Ubuntu) or load its module, or pass --mpi PATH/OF/mpicc"
    )
