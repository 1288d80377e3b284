"""A file that appears whole or not at all: also when the disk is full, or the writer is ended in the middle."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logpost.errors import InputError


def write_whole(path: Path, text: str) -> None:
    """Write a text file in UTF-8 with newlines as they are.

    Raises:
        InputError: the file cannot be written; one that was there is as before.
    """
    try:
        with whole_file(path, text):
            pass
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InputError(f"{path} cannot be written: {reason}; choose another place") from error


@contextmanager
def whole_file(path: Path, text: str) -> Iterator[Path]:
    """The text in a new file beside `path`, for the block to check; it takes `path`'s place when the block ends.

    Where the block raises, or anything cannot be written (OSError), `path` is as before and the new file is gone. What
    is no regular file (a pipe, a terminal) is written to as it is.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")
        yield path
        return
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix, delete=False
    ) as file:
        written = Path(file.name)
    try:
        written.write_text(text, encoding="utf-8", newline="\n")
        yield written
        umask = os.umask(0)
        os.umask(umask)
        written.chmod(0o666 & ~umask)
        os.replace(written, path.resolve())
    finally:
        written.unlink(missing_ok=True)
