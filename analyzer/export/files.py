"""Atomic exports: written next to the final path and moved there when complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from logpost.errors import InputError
from logpost.whole_file import cannot_write, permit, refuse_existing

Progress = Callable[[str, int, int], None]
"""report(phase, done, total)."""


@contextmanager
def atomic_output(final: Path, *, force: bool, directory: bool) -> Iterator[Path]:
    """A temporary file or directory that becomes `final` when the block ends without an exception.

    What is no regular file (a pipe, a device) stays what it is and gets the bytes; of a link, so does the link.

    Raises:
        InputError: `final` exists and `force` is not given, or is of the other kind, or it cannot be written.
    """
    if final.exists() or final.is_symlink():
        refuse_existing(final, force=force)
        if final.is_dir() != directory:
            kind = "not a directory" if directory else "a directory"
            raise InputError(f"{final} is {kind}; choose another place with -o")
        if directory and any(final.iterdir()) and not (final / "columns.csv").is_file():
            raise InputError(f"{final} is not an earlier export; choose another place with -o")
    place = Path(os.path.realpath(final))
    through = place.exists() and not place.is_file() and not place.is_dir()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=None if through else place.parent))
    except OSError as error:
        raise cannot_write(final, error, "choose another place with -o") from error
    try:
        work = made if directory else made / final.name
        yield work
        if through:
            with work.open("rb") as source, place.open("wb") as target:
                shutil.copyfileobj(source, target)
            return
        permit(work, directory=directory)
        if directory and place.exists():
            shutil.rmtree(place)
        work.replace(place)
    except OSError as error:
        raise cannot_write(final, error, "choose another place with -o") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
