"""What `record --io` adds to a call on a file, without call paths; what these add is in the note."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks._overhead import MPIS, Row, environment, recording

_SOURCE = Path(__file__).with_name("files.c")


def rows() -> Iterator[Row]:
    """Of a small read, a large one, and calls of a stream whose buffer suffices."""
    for name, (mpicc, mpirun) in MPIS.items():
        if shutil.which(mpicc) is None or shutil.which(mpirun) is None:
            print(f"{name} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "files"
            subprocess.run([mpicc, "-O2", "-w", "-o", str(program), str(_SOURCE)], check=True)
            run = [mpirun, "-n", "1", str(program), f"{folder}/data"]
            plain = recording(Path(folder), "--io", "--sample", "0")
            alone, recorded, located = (
                dict(re.findall(r"(\w+)_ns=([\d.]+)", done.stdout))
                for words in (run, [*plain, *run], [*recording(Path(folder), "--io"), *run])
                for done in [subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)]
            )
        for what, key in (
            ("read of 1 byte", "byte"),
            ("pread of 64 KiB", "block"),
            ("fread of 8 bytes in the buffer", "buffered"),
            ("getc in the buffer", "character"),
            ("fprintf in the buffer", "printed"),
        ):
            without, with_it, path = (float(figures[key]) for figures in (alone, recorded, located))
            yield Row(f"files, {name}", what, without, with_it, note=f"; call path {path - with_it:.0f} ns more")
