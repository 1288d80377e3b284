"""The assembler, which makes an OTF2 archive of raw logs: finding it, running it, and recovering crashed recordings."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from logpost.collectors import interposer
from logpost.errors import InputError

_PROGRAM = "logpost-assemble"
_MISSING = (
    "libotf2 was not found, which writes the archive: install libotf2-trace-dev and g++ (Debian, Ubuntu: apt install "
    "libotf2-trace-dev g++), or load the module (module load otf2) so that otf2-config is on PATH"
)


@dataclass(frozen=True)
class Archive:
    """An archive that was made: its directory and the assembler's summary (see ``logpost-assemble``)."""

    path: Path
    summary: dict[str, object]

    @property
    def warnings(self) -> list[str]:
        """What the assembler could not use."""
        found = self.summary.get("warnings")
        return [str(w) for w in found] if isinstance(found, list) else []


def find_assembler(say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the assembler that was installed with logpost, or build one from its sources.

    Raises InputError that names the package when libotf2 or the C++ compiler is missing.
    """
    beside = Path(__file__).parent / "pmpi" / _PROGRAM
    installed = Path(sysconfig.get_paths()["platlib"]) / "logpost" / "collectors" / "pmpi" / _PROGRAM
    for path in (beside, installed):
        if _is_current(path):
            return path
    return _build(say)


def _sources() -> list[Path]:
    folder = interposer.SOURCES
    return sorted([*(folder / "assembler").glob("*.[ch]pp"), folder / "rawlog.h"])


def _key() -> str:
    """Return the hash of the assembler's sources, as CMakeLists.txt puts it into the program."""
    hashes = "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in _sources())
    return hashlib.sha256(hashes.encode()).hexdigest()


def _is_current(path: Path) -> bool:
    """Whether the program is there, starts (it cannot without libotf2) and was built from the sources beside us."""
    if not path.exists():
        return False
    try:
        done = subprocess.run([str(path), "--sources"], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == _key()


def _otf2_flags() -> list[str]:
    config = os.environ.get("OTF2_CONFIG") or shutil.which("otf2-config")
    flags: list[str] = []
    if config is None:
        return ["-lotf2"]
    for option in ("--cflags", "--ldflags", "--libs"):
        done = subprocess.run([config, option], capture_output=True, text=True, check=False)
        flags += done.stdout.split()
    return flags + [f"-Wl,-rpath,{flag[2:]}" for flag in flags if flag.startswith("-L")]


def _build(say: Callable[[str], None]) -> Path:
    folder = interposer.SOURCES / "assembler"
    compiler = next((c for c in (os.environ.get("CXX"), "c++", "g++", "clang++") if c and shutil.which(c)), None)
    if not folder.is_dir():
        raise InputError(f"{_PROGRAM} does not start: {_MISSING}")
    if compiler is None:
        raise InputError(f"no C++ compiler to build {_PROGRAM} with: {_MISSING}")
    path = interposer.cache_directory() / f"assemble-{_key()[:16]}" / _PROGRAM
    if _is_current(path):
        return path
    say("building the assembler (once, some seconds)")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch) / _PROGRAM
        command = [compiler, "-std=c++20", "-O2", f'-DLOGPOST_SOURCES="{_key()}"', "-o", str(made)]
        command += [*map(str, sorted(folder.glob("*.cpp"))), *_otf2_flags()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not made.exists():
            if "otf2" in done.stderr:
                raise InputError(_MISSING)
            raise InputError(f"{_PROGRAM} does not compile: {done.stderr.splitlines()[:1]}")
        made.replace(path)
    return path


def assemble(assembler: Path, raw: Path, parent: Path) -> Archive:
    """Make the archive of a directory of raw logs; it appears in ``parent`` whole or not at all.

    Raises InputError with the assembler's message; the raw logs are left alone.
    """
    about = _about(raw)
    parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".logpost_{about['program']}_", suffix=".partial", dir=parent))
    try:
        done = subprocess.run(
            [str(assembler), str(raw), str(partial / "a")], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            message = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise InputError(f"no archive was made of {raw}: {message}")
        summary = json.loads(done.stdout)
        name = f"logpost_{about['program']}_{summary['ranks']}_{about['time']}"
        final = _move_to_a_free_name(partial / "a", parent / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Archive(final, summary)


def _move_to_a_free_name(made: Path, wanted: Path) -> Path:
    """Move a directory to a name that no other has, though others do the same at this moment."""
    final, attempt = wanted, 1
    while True:
        if not final.exists():
            try:
                return made.rename(final)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
        attempt += 1
        final = wanted.with_name(f"{wanted.name}_{attempt}")


def _about(raw: Path) -> dict[str, str]:
    try:
        found = json.loads((raw / "record.json").read_text())
        return {"program": str(found["program"]), "time": str(found["time"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"program": re.sub(r"\W", "_", raw.stem) or "program", "time": "recovered"}


def raw_directories(directory: Path) -> list[Path]:
    """Return the raw recordings that ``--recover DIR`` means: DIR itself or those right below it."""
    if (directory / "functions.txt").is_file():
        return [directory]
    found = sorted(p.parent for p in directory.glob("*.raw/functions.txt"))
    if not found:
        raise InputError(
            f"{directory} holds no raw logs: give the directory logpost_..._....raw that a recording left behind"
        )
    return found


def running(raw: Path) -> list[int]:
    """Return the processes of this host that still write to a directory of raw logs."""
    found = []
    for path in raw.glob("*.window"):
        match = re.fullmatch(r"(.+)\.(\d+)\.[0-9a-f]+\.\d+\.window", path.name)
        if match is None or match[1] != socket.gethostname():
            continue
        try:
            if path.name in (Path("/proc") / match[2] / "maps").read_text():
                found.append(int(match[2]))
        except OSError:
            continue
    return found
