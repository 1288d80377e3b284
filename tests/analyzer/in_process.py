"""`supervise.analyze` without its process: tests that analyze sound archives pay for the analysis, not for imports.

`test_supervise.py` tests the process, and `tests/cli/test_analyze.py` the way from the command line through it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.contradictions import check

from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.spill_place import spill_for
from logpost.analyzer.pipeline.worker import built
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.place import refuse_occupied


def analyze(
    request: Request,
    on_progress: Callable[[str, int, int], None] = lambda _phase, _done, _total: None,
    *,
    held: bool = True,
    faulty: bool = False,
) -> Path:
    """Analyze an archive; the path of the finished run. The report is `held` against the tables. Unless the run may be
    `faulty`, no part of logpost fails."""
    refuse_occupied(Path(request.run), force=request.force)
    spill = spill_for(request.run, request.memory, request.spill)
    source = ReadAhead(request.archive, request.threads, request.clock, spill, request.shards)
    unfinished: list[Path] = []
    run = built(request, source, on_progress, unfinished.append)
    shutil.rmtree(unfinished[0], ignore_errors=True)  # the run that was replaced
    finished = Run.open(run)
    assert faulty or not finished.manifest.faults, finished.manifest.faults
    if held:
        check(finished)
    return run
