"""Find and run the assembler, which makes an OTF2 archive of raw logs; recover crashed recordings."""

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from logpost.collectors import build as cache
from logpost.collectors import recorder
from logpost.errors import InputError

if TYPE_CHECKING:
    from logpost.machines.calibration.while_recording import Outcome

_PROGRAM = "logpost-assemble"
_NATIVE = Path(__file__).parent / "assembler" / "native"
_MISSING = (
    "libotf2, which writes the archive, was not found: install libotf2-trace-dev and g++ (Debian, Ubuntu: apt install "
    "libotf2-trace-dev g++), or load the module (module load otf2) so that otf2-config is on PATH"
)


@dataclass(frozen=True)
class Archive:
    """An archive that was made: its directory and the assembler's summary (see ``logpost-assemble``)."""

    path: Path
    summary: dict[str, object]
    calibration: Outcome | None = None
    """The outcome of measuring the machine while recording; None: not requested."""

    @property
    def warnings(self) -> list[str]:
        """What the assembler could not use."""
        found = self.summary.get("warnings")
        return [str(w) for w in found] if isinstance(found, list) else []


def find_assembler(say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the assembler that was installed with logpost, or build one from its sources.

    Raises InputError that names the package when libotf2 or the C++ compiler is missing.
    """
    in_tree = Path(__file__).parent / "assembler" / _PROGRAM
    installed = Path(sysconfig.get_paths()["platlib"]) / "logpost" / "collectors" / "assembler" / _PROGRAM
    for path in (in_tree, installed):
        if _is_current(path):
            return path
    return _build(say)


def _sources() -> list[Path]:
    return [*sorted(_NATIVE.glob("*.[ch]pp")), recorder.NATIVE / "rawlog.h"]


def _key() -> str:
    """Return the hash of the assembler's sources, as CMakeLists.txt puts it into the program."""
    hashes = "".join(hashlib.sha256(path.read_bytes()).hexdigest() for path in _sources())
    return hashlib.sha256(hashes.encode()).hexdigest()


def _is_current(path: Path) -> bool:
    """Whether the program exists, starts (it cannot without libotf2) and was built from these sources."""
    if not path.exists():
        return False
    try:
        done = subprocess.run([str(path), "--sources"], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == _key()


def otf2_flags() -> list[str]:
    """What compiles and links a program that writes archives."""
    config = os.environ.get("OTF2_CONFIG") or shutil.which("otf2-config")
    flags: list[str] = []
    if config is None:
        return ["-lotf2"]
    for option in ("--cflags", "--ldflags", "--libs"):
        done = subprocess.run([config, option], capture_output=True, text=True, check=False)
        flags += done.stdout.split()
    return flags + [f"-Wl,-rpath,{flag[2:]}" for flag in flags if flag.startswith("-L")]


def _build(say: Callable[[str], None]) -> Path:
    compiler = cache.cxx_compiler()
    if not _NATIVE.is_dir():
        raise InputError(f"{_PROGRAM} does not start: {_MISSING}")
    if compiler is None:
        raise InputError(f"no C++ compiler to build {_PROGRAM} with: {_MISSING}")
    target = cache.cache_directory() / f"assemble-{_key()[:16]}"
    if _is_current(target / _PROGRAM):
        return target / _PROGRAM
    shutil.rmtree(target, ignore_errors=True)  # one that libotf2 has left
    say("building the assembler (once, for some seconds)")

    def make(place: Path) -> None:
        command = [*compiler, "-std=c++20", "-O2", f'-DLOGPOST_SOURCES="{_key()}"', f"-I{recorder.NATIVE}"]
        command += ["-o", str(place / _PROGRAM)]
        command += [*map(str, sorted(_NATIVE.glob("*.cpp"))), *otf2_flags()]
        try:
            cache.run_compiler(command, f"{_PROGRAM} does not compile")
        except InputError as error:
            raise InputError(_MISSING) if "otf2" in str(error) else error from None

    return cache.kept(target, make) / _PROGRAM


def assemble(assembler: Path, raw: Path, parent: Path) -> Archive:
    """Make the archive of a directory of raw logs; it appears in ``parent`` whole or not at all.

    Raises InputError with the assembler's message; the raw logs are left alone.
    """
    about = _about(raw)
    parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".logpost_{about['program']}_", suffix=".partial", dir=parent))
    try:
        summary = summary_of([str(assembler), str(raw), str(partial / "a")], f"no archive was made of {raw}")
        name = f"logpost_{about['program']}_{summary['ranks']}_{about['time']}"
        final = _move_to_a_free_name(partial / "a", parent / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Archive(final, summary)


def summary_of(command: Sequence[str], complaint: str) -> dict[str, object]:
    """Run the assembler; what it prints of the archive that it made.

    Raises InputError with `complaint` and the assembler's message.
    """
    # What it quotes of a file need not be UTF-8.
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        message = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise InputError(f"{complaint}: {message}")
    summary: dict[str, object] = json.loads(done.stdout)
    return summary


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
            f"{directory} holds no raw logs; give the directory logpost_..._....raw that a recording left behind"
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
