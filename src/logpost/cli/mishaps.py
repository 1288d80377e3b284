"""What ends a verb and is no bug of it: a user's mistake, memory, a full disk, a damaged run. One line for each."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from logpost.address_space import way_out
from logpost.errors import InputError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


def sentence(error: BaseException, words: Iterable[str] = ()) -> str | None:
    """The line for what happened, with the way out; None for what only a bug explains. Runs that the words of the
    command line name are looked at before a bug is suspected."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"memory ran out; {way_out() or 'use a machine with more of it'}"
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "the output"
        from logpost.whole_file import cannot_write

        return str(cannot_write(where, error))
    if _of_a_damaged_table(error):
        return f"a table of the run is damaged: {' '.join(str(error).split())}; analyze the archive again"
    limited = way_out()
    if limited is not None and (isinstance(error, OSError | ImportError) or type(error).__name__ == "PanicException"):
        return f"{' '.join(str(error).split())}; {limited}"
    return _damaged_run(words)


def _damaged_run(words: Iterable[str]) -> str | None:
    from logpost.analyzer.run.place import MANIFEST

    for word in words:
        if (Path(word) / MANIFEST).is_file():
            from logpost.analyzer.run.soundness import damage

            if found := damage(Path(word)):
                return found
    return None


def _of_a_damaged_table(error: BaseException) -> bool:
    """Whether the table library says so of a Parquet file; it is not imported for the question."""
    kind = type(error)
    return kind.__module__.startswith("polars") and kind.__name__ == "ComputeError" and "parquet" in str(error)
