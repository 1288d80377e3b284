"""An archive written a second time: with another clock, other ids, or definitions that make no sense."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "build" / "dev" / "tests" / "native" / "rewrite_archive"


def rewritten(anchor: Path, folder: Path, *how: object) -> Path:
    """The anchor file of the new archive in `folder`, which does not exist yet.

    Arguments:
        anchor: of the archive.
        folder: for the new one.
        how: as `tests/native/rewrite_archive.cpp` lists it: `"ticks", 1000`; `"apart"`; `"odd", 7`.
    """
    done = subprocess.run([PROGRAM, anchor, folder, *map(str, how)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / anchor.name
