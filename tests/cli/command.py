"""The command line in a process of its own, on the sources that are under test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def logpost(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `logpost ARGUMENTS` and wait for it."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-m", "logpost.cli.app", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def imported(*arguments: object, cwd: Path | None = None) -> set[str]:
    """The modules that Python has when `logpost ARGUMENTS` has ended."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr))\n"
        "sys.argv[0] = 'logpost'\n"
        "from logpost.cli.app import main\n"
        "main()\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())
