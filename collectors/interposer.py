"""The interposer for one MPI: compiled when it is first needed, then kept in the cache.

The cache key is binary interface, version, exported names and the sources' hash, so an update of either side makes a
new file and never a stale one. The library is linked to no MPI.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from logpost.collectors import mpi
from logpost.collectors.pmpi import generate
from logpost.errors import InputError

SOURCES = Path(__file__).parent / "pmpi" / "native"
_FILES = ("log.c", "resolve.c", "comm.c", "layout.c", "runtime.c")
_OPTIONS = (
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-O2",
    "-fPIC",
    "-shared",
    "-fno-semantic-interposition",
    "-w",
    "-Wfatal-errors",
)


def cache_directory() -> Path:
    """Return where logpost keeps what it builds: ``$XDG_CACHE_HOME/logpost``."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root).absolute() / "logpost"


def exported_names(library: Path | None, includes: tuple[str, ...]) -> frozenset[str]:
    """Return the MPI functions that a library defines; without one, those that its mpi.h declares."""
    known = {f.name for f in generate.functions()}
    if library is not None and shutil.which("nm"):
        done = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
        names = {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines() if line.strip()}
        if "PMPI_Init" in names or "MPI_Init" in names:
            return frozenset(n for n in known if n in names or f"P{n}" in names)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "probe.c"
        source.write_text("#include <mpi.h>\n")
        command = [*mpi.c_compiler(), "-E", "-P", *includes, str(source)]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return frozenset(known & set(re.findall(r"\b(MPI_\w+)\s*\(", text)))


def sources_key(files: Iterable[Path], extra: str = "") -> str:
    """Return a short hash of some files' names and contents."""
    digest = hashlib.sha256(extra.encode())
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def build(target: mpi.Mpi, say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the interposer for an MPI, compiling it when the cache has none.

    Raises InputError when it does not compile, with the first line of the compiler's complaint.
    """
    names = exported_names(target.library, target.includes)
    files = [*SOURCES.glob("*.h"), *(SOURCES / "interposer").glob("*.*"), generate.TABLE, Path(generate.__file__)]
    key = sources_key(sorted(files), " ".join([*_OPTIONS, *sorted(names)]))
    version = re.sub(r"[^\w.]", "_", target.version)
    path = cache_directory() / f"pmpi-{target.abi}-{version}-{key}" / "liblogpost_pmpi.so"
    if path.exists():
        return path
    if re.search(r"[\s:]", str(path)):
        raise InputError(f"LD_PRELOAD cannot name {path}: set XDG_CACHE_HOME to a path without spaces and colons")
    say(f"building the interposer for {target} (once, some seconds)")
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent.parent) as scratch:
            wrappers, made = Path(scratch) / "wrappers.c", Path(scratch) / "out" / path.name
            made.parent.mkdir()
            wrappers.write_text(generate.wrappers(names))
            folder = SOURCES / "interposer"
            command = [*mpi.c_compiler(), *_OPTIONS, *target.includes, f"-I{folder}", "-o", str(made), str(wrappers)]
            command += [str(folder / name) for name in _FILES]
            command += [f"-Wl,--version-script={folder / 'export.map'}", "-ldl", "-lpthread"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise InputError(f"the interposer for {target} does not compile: {_first_error(done.stderr)}")
            made.parent.chmod(0o755)
            try:
                made.parent.rename(path.parent)
            except OSError:  # someone else was faster
                if not path.exists():
                    raise
    except OSError as error:
        raise InputError(f"cannot write to the cache {path.parent.parent}: {error}; set XDG_CACHE_HOME") from error
    return path


def _first_error(text: str) -> str:
    lines = text.splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else "no message")
