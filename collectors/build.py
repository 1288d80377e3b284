"""Compile helpers for the user's machine and keep them in a cache.

Each result is in a folder of the cache, named by a hash of everything that it depends on: sources, flags,
compiler. An update of any of them makes a new folder and never a stale one. A folder appears whole or not at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from logpost.errors import InputError

LONGEST_WAIT = 120.0
"""Seconds to wait for another process that fills the same folder."""


def cache_directory() -> Path:
    """Where logpost keeps what it compiles: ``$XDG_CACHE_HOME/logpost``, by default below ``~/.cache``."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root).absolute() / "logpost"


def key_of(files: Iterable[Path], words: Sequence[str] = (), below: Path | None = None) -> str:
    """A short hash of some files and words.

    Args:
        files: counted by name (by path below `below`, where that is given) and content.
        words: whatever else the result depends on: flags, compilers, versions.
        below: the folder that file names are relative to.
    """
    digest = hashlib.sha256("\0".join(words).encode())
    for path in files:
        name = path.relative_to(below).as_posix() if below is not None else path.name
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def identity_of(compiler: str) -> tuple[str, ...]:
    """Words for `key_of` that change when a compiler (or a wrapper such as mpicc) is replaced."""
    return compiler, os.path.realpath(compiler), str(os.stat(compiler).st_mtime_ns)


def c_compiler(purpose: str = "helpers are compiled for your MPI") -> list[str]:
    """The C compiler: ``$CC``, else cc, gcc or clang.

    Raises InputError that says what to install, and for what purpose.
    """
    found = _compiler("CC", ("cc", "gcc", "clang"))
    if found is None:
        raise InputError(
            f"no C compiler was found, and {purpose}: install gcc "
            "(Debian and Ubuntu: apt install gcc; clusters: module load gcc) or set CC"
        )
    return found


def cxx_compiler() -> list[str] | None:
    """The C++ compiler: ``$CXX``, else c++, g++ or clang++; nothing when there is none."""
    return _compiler("CXX", ("c++", "g++", "clang++"))


def _compiler(variable: str, names: Sequence[str]) -> list[str] | None:
    words = shlex.split(os.environ.get(variable) or "")
    if words and shutil.which(words[0]):
        return words
    return next(([name] for name in names if shutil.which(name)), None)


def run_compiler(command: Sequence[str], trouble: str) -> None:
    """Run a compiler or linker. Raises InputError, `trouble` and its first error, when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).splitlines()
        reason = next((line for line in lines if "error" in line or "undefined" in line), lines[0] if lines else "")
        raise InputError(f"{trouble}: {reason or f'no message, exit status {done.returncode}'}")


def kept(folder: Path, make: Callable[[Path], None]) -> Path:
    """A folder of the cache, filled by `make` when it is not there yet; it appears whole or not at all.

    A process that needs the folder while another process fills it waits for that.

    Raises InputError when the cache cannot be written to, and whatever `make` raises.
    """
    if folder.exists():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder.with_name(f"{folder.name}.lock")), tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            if folder.exists():
                return folder
            inside = Path(scratch) / "made"
            inside.mkdir()
            make(inside)
            try:
                inside.rename(folder)
            except OSError:  # another process was faster
                if not folder.exists():
                    raise
    except OSError as error:
        raise InputError(f"cannot write to the cache {folder.parent}: {error}; set XDG_CACHE_HOME") from error
    return folder


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits until no other process is in it with this file, but no longer than `LONGEST_WAIT`, and removes that in the
    end. A process that does not wait, also where the file system has no locks, does the work twice, and nothing
    breaks."""
    with path.open("a") as lock:
        end = time.monotonic() + LONGEST_WAIT
        while not _locked(lock.fileno()) and time.monotonic() < end:
            time.sleep(0.05)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(file: int) -> bool:
    """Whether the file is this process's now, or will never be."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # no locks there
    return True
