"""Recording with the stand-in of Score-P on PATH: stand_in/ does what version 8.4 documents."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.cli.command import logpost

STAND_IN = Path(__file__).parent / "stand_in"


def build(folder: Path, *prefix: str) -> Path:
    """Compile the program, with a prefix of the compiler or without."""
    target = folder / "app"
    done = subprocess.run(
        [*prefix, "cc", "-o", str(target), str(STAND_IN / "app.c")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


def record(cwd: Path, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """`logpost record --with scorep WORDS` with the stand-in on PATH."""
    path = f"{STAND_IN}{os.pathsep}{os.environ['PATH']}"
    return logpost("record", "--with", "scorep", *words, cwd=cwd, **{"PATH": path, **environment})
