"""The machine that the experiments were run on, for the note to their results."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path

from logpost import __version__


def host_lines() -> list[str]:
    """Processor, system, versions of what was used, and the day."""
    return [
        f"logpost {__version__}, {datetime.date.today().isoformat()}",
        f"{_processor()}, {len(os.sched_getaffinity(0))} cores, {platform.system()} {platform.machine()}",
        *(line for line in (_first_line("smpirun", "--version"), _first_line("mpirun", "--version")) if line),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next((line.strip() for line in done.stdout.splitlines() if line.strip()), "")
