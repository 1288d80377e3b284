"""Atomic writes: a file appears whole or not at all, even when the disk is full or the writer is killed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logpost.errors import InputError


def cannot_write(path: Path | str, error: OSError, way_out: str = "choose another place") -> InputError:
    """The error message for a path that cannot be written: what, why, and the way out."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return InputError(f"{path} cannot be written: {reason}; {way_out}")


def permit(path: Path, *, directory: bool = False) -> None:
    """Give what was made as a temporary file or directory the permissions that new ones have here (umask)."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod((0o777 if directory else 0o666) & ~umask)


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise InputError when something is at `path`, unless `force` is set; a pipe or a terminal may be written to.

    Whatever writes for a user asks here first, before minutes of work.
    """
    is_dangling_link = path.is_symlink() and not path.exists()
    if force or not (is_dangling_link or path.is_file() or path.is_dir()):
        return
    raise InputError(f"{path} already exists; pass --force to overwrite it, or choose another place")


def write_whole(path: Path, text: str) -> None:
    """Write a text file in UTF-8 with newlines as they are.

    Raises:
        InputError: the file cannot be written; one that was there is as before.
    """
    try:
        with whole_file(path, text):
            pass
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def whole_file(path: Path, text: str) -> Iterator[Path]:
    """The text in a new file next to `path`, for the block to check; it takes `path`'s place when the block ends.

    Where the block raises, or anything cannot be written (OSError), `path` is as before and the new file is gone. What
    is no regular file (a pipe, a terminal) is written to as it is.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")
        yield path
        return
    # Where the file is and not where a link to it is: a file cannot be moved from one file system to another.
    place = Path(os.path.realpath(path))
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=place.parent, prefix=f".{path.stem}-", suffix=path.suffix, delete=False
    ) as file:
        written = Path(file.name)
    try:
        written.write_text(text, encoding="utf-8", newline="\n")
        yield written
        permit(written)
        os.replace(written, place)
    finally:
        written.unlink(missing_ok=True)
