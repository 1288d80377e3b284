"""An archive of a run so far: the raw logs of a program that continues, as they are at one moment.

The program is not touched. Logs only grow, so a second name for each is enough; windows are copied, each before its log
gets that name: what leaves a window during the copy is in the log twice over, and the copy's header says where it ends.
Of a ring the slots are copied behind the windows, and the sum of what was overwritten last: slots that the sum has, and
slots behind the window, are passed over, and the rest is whole, unless the whole ring turned during the copy.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

from logpost.collectors import assemble

_HEADER = 64  # LP_FILE_HEADER
_FLUSHED_AND_OPEN = struct.Struct("=QQ")  # of struct lp_file_header, at byte 32
_STALE = 1  # LP_WINDOW_IS_STALE
_FIRST_NOTE = 64  # LP_FIRST_NOTE
_LOST = struct.Struct("=QQQQQ")  # of struct lp_lost: magic, process, updating, turn, newest
_RINGS = 3  # times that a ring may turn while it is copied
_TRIES = 100  # copying a window costs 0.1 ms; a thread moves to its next one after thousands of calls


@dataclass(frozen=True)
class Window:
    """What a thread's window holds; see ``rawlog.h``."""

    content: bytes
    flushed: int
    enter: int
    """When the call began that the thread was in last, in its clock's ticks; 0: none yet."""

    @property
    def inside(self) -> bool:
        """Whether the thread is still in that call: no record of it, or of a later one, is there."""
        at, end = _HEADER, len(self.content) - 16
        if not self.enter or self.flushed & _STALE:
            return False
        while at <= end:
            first, enter = struct.unpack_from("=QQ", self.content, at)
            kind, words = first & 0xFF, first >> 32 & 0xFFFF
            if not kind or not words:
                break
            if kind < _FIRST_NOTE and enter >= self.enter:
                return False
            at += words * 8
        return True


def state(path: Path) -> tuple[int, int]:
    """Bytes of the log that are in its file, and the begin of the last call (ticks), of a window on disk."""
    with path.open("rb") as file:
        file.seek(32)
        flushed, place = _FLUSHED_AND_OPEN.unpack(file.read(16))
        if not place:
            return flushed, 0
        file.seek(place)
        return flushed, struct.unpack("=Q", file.read(8))[0]


def read(path: Path) -> Window:
    """A window as it was at one moment, though its thread continues.

    Where the thread made calls all the while, the last one's begin is left out: what ended before it is not known.
    """
    for attempt in range(_TRIES):
        before = state(path)
        content = path.read_bytes()
        after = state(path)
        if before == after:
            return Window(content, *after)
        if attempt >= _TRIES // 2 and before[0] == after[0]:
            place = _FLUSHED_AND_OPEN.unpack_from(content, 32)[1]
            return Window(content[:place] + bytes(8) + content[place + 8 :], after[0], 0)
    raise OSError(f"{path} changes faster than it can be read")


def take(assembler: Path, raw: Path, output: Path, name: str) -> assemble.Archive:
    """Make the archive of the run so far; its directory's name ends with `name`."""
    copy = Path(tempfile.mkdtemp(prefix=".logpost_", suffix=".snapshot", dir=output))
    try:
        paths = sorted(raw.iterdir())
        for path in paths:
            if path.suffix not in (".raw", ".window", ".ring", ".lost", ".request") and path.is_file():
                shutil.copyfile(path, copy / path.name)
        for attempt in range(_RINGS):
            newest = {path: _LOST.unpack_from(path.read_bytes())[4] for path in paths if path.suffix == ".lost"}
            for path in paths:
                if path.suffix == ".raw":
                    _log(path, copy)
            if all(_ring(path, copy, turn) for path, turn in newest.items()):
                break
            if attempt == _RINGS - 1:
                raise OSError("the rings turn faster than they can be copied; keep more with --keep")
        about = json.loads((raw / "record.json").read_text())
        (copy / "record.json").write_text(json.dumps({**about, "time": f"{about['time']}_{name}"}))
        (copy / "so_far").touch()  # what the archive then says of itself
        return assemble.assemble(assembler, copy, output)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _ring(lost: Path, copy: Path, newest: int) -> bool:
    """Copy a ring and what it has overwritten; False where that includes slots newer than `newest`."""
    ring = lost.with_suffix(".ring")
    shutil.copyfile(ring, copy / ring.name)
    for _ in range(_TRIES):
        before = _updating(lost)
        content = lost.read_bytes()
        if before % 2 == 0 and before == _updating(lost):
            (copy / lost.name).write_bytes(content)
            return int(_LOST.unpack_from(content)[3]) <= newest
    raise OSError(f"{lost} changes faster than it can be read")


def _updating(lost: Path) -> int:
    with lost.open("rb") as file:
        return int(_LOST.unpack(file.read(_LOST.size))[2])


def _log(path: Path, copy: Path) -> None:
    (copy / path.name).unlink(missing_ok=True)  # of an earlier attempt
    window = path.with_suffix(".window")
    with contextlib.suppress(FileNotFoundError):  # the thread has ended: its log is whole
        (copy / window.name).write_bytes(read(window).content)
    try:
        os.link(path, copy / path.name)
    except OSError:  # a file system without second names
        shutil.copyfile(path, copy / path.name)
