"""The recorder: raw log, clock, threads and stacks of a process, in C, for every collector that runs inside a program.

It knows no communication library. A collector compiles these files together with its wrappers (`recorder.h` says what
it must give), and the assembler reads what they leave (`rawlog.h`).
"""

from __future__ import annotations

from pathlib import Path

NATIVE = Path(__file__).parent / "native"
FILES = (
    "account.c",
    "log.c",
    "lost.c",
    "network.c",
    "process.c",
    "python.c",
    "regions.c",
    "frames.c",
    "sampler.c",
    "ring.c",
    "skipped.c",
    "stacks.c",
    "sums.c",
    "switch.c",
)

IO_FILES = ("io.c",)
"""Of the calls of the C library on files, where these are recorded."""


def sources() -> list[Path]:
    """Every file that a collector's compiled form depends on."""
    return sorted(NATIVE.glob("*.[ch]"))
