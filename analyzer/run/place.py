"""Check whether a run may be written to a path. Imports no table library, because it is called first."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from pathlib import Path

from logpost.errors import InputError
from logpost.whole_file import refuse_existing

MANIFEST = "manifest.json"
MACHINE = "machine.toml"

FLUSHED_AT_ONCE = 16
"""Threads, which do nothing but wait for the disk."""

_AT_FDCWD = -100  # of fcntl.h
_RENAME_EXCHANGE = 2  # of linux/fs.h


def refuse_bytes(place: Path) -> None:
    """Raise InputError for a path that holds bytes outside UTF-8: the table libraries cannot open files under it."""
    try:
        str(place).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{place}: the path of a run must be UTF-8; rename the directory, or change into it and name what is below"
        ) from None


def refuse_occupied(place: Path, *, force: bool) -> None:
    """Raise InputError when `place` holds something, unless it is a run (or empty) and `force` is set."""
    refuse_bytes(place)
    if not place.exists():
        return
    refuse_existing(place, force=force)
    if not (place / MANIFEST).is_file() and not (place.is_dir() and not any(place.iterdir())):
        raise InputError(f"{place} exists and is not a run; choose another place with -o")


def put_in_place(new: Path, place: Path, *, leave_replaced: bool = False) -> None:
    """Move the directory `new` to `place`, a directory next to it. What was there before is whole until the new one is
    in its place, and gone afterwards; or, with `leave_replaced`, gone or at `new`.
    """
    flush(new)
    sync(new)
    if not place.exists():
        new.rename(place)
    elif _exchanged(new, place):
        if not leave_replaced:
            shutil.rmtree(new)
    else:
        # A file system that cannot exchange: for an instant there is none, but both are whole.
        aside = new.with_name(f"{new.name}.old")
        place.rename(aside)
        new.rename(place)
        shutil.rmtree(aside)
    sync(place.parent)


def flush(directory: Path) -> None:
    """Flush the files of a directory to the disk: quick where they were flushed before."""
    # Side by side: a file system with a journal writes for all that wait what it would write for one after another.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(FLUSHED_AT_ONCE) as pool:
        for _ in pool.map(sync, directory.iterdir()):
            pass


def _exchanged(one: Path, other: Path) -> bool:
    """Whether the two could be exchanged in one step."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def sync(path: Path) -> None:
    """Flush what was written to the disk, where the file system supports it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
