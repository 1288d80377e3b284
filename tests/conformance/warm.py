"""`logpost` without its start: what it imports is imported here once, and each use is a fork.

Half of the time of a short test would go into importing the same modules in three processes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from unittest import mock

IMPORTED = (
    "logpost.cli.app",
    "logpost.cli.record",
    "logpost.collectors.record",
    "logpost.analyzer.pipeline.build",
    "logpost.analyzer.pipeline.read_ahead",
    "logpost.analyzer.pipeline.worker",
)
# As for the process that `analyze` starts: no threads of linear algebra, which a fork would lose.
SETTINGS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1"}


def up() -> None:
    """Import what the uses need."""
    with mock.patch.dict(os.environ, SETTINGS):
        for name in IMPORTED:
            import_module(name)


def record(*words: str) -> Callable[[], int]:
    """`logpost record` with these words."""

    def work() -> int:
        from logpost.cli.app import main

        sys.argv = ["logpost", "record", *words]
        main()
        return 0

    return work


def analyze(archive: Path, run: Path) -> Callable[[], int]:
    """What `logpost analyze --force` does in its child process; says the same lines, and `reason` finds the error."""

    def work() -> int:
        from logpost.analyzer.pipeline.request import Request
        from logpost.analyzer.pipeline.worker import main

        return main(os.dup(1), lambda: json.dumps(asdict(Request(str(archive), str(run), force=True))))

    return work


def reason(output: str) -> str:
    """Why an archive was not analyzed, by what `analyze` said; empty where it said none."""
    last = output.strip().rpartition("\n")[2]
    try:
        return str(json.loads(last).get("error", ""))
    except (ValueError, AttributeError):
        return last
