"""Ranks that outnumber the cores: one that waits gives its core to another, with the collector and without."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


def environment(cache: Path) -> tuple[tuple[str, str], ...]:
    """The variables of a test whose ranks wait in UCX; nothing where no C compiler builds the library."""
    library = cache / "libgive_way.so"
    if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        whole = library.with_suffix(f".{os.getpid()}")  # other lanes build it, too
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(whole), str(SOURCE), "-ldl"]
        if subprocess.run(command, check=False).returncode:
            return ()
        whole.replace(library)
    return (("LD_PRELOAD", str(library)),)
