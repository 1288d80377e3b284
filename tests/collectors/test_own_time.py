"""What an archive states of the recorder's own time."""

from __future__ import annotations

import re
import time
from pathlib import Path

from tests.collectors import recording

CLOCK_NS = 5
"""Two readings of a clock last longer on any processor."""


def _stated_ps(trace: recording.Trace) -> int:
    found = re.search(r"LOGPOST::CALL_RECORDING_PS\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    return int(found[1]) if found else 0


def test_recording_a_call_lasts_longer_than_its_clock_and_less_than_the_program(mpi: str, tmp_path: Path) -> None:
    program = recording.build("keeps.c", mpi, tmp_path)
    begin = time.monotonic_ns()
    done = recording.run(mpi, tmp_path, 2, program, "20000")
    lasted = time.monotonic_ns() - begin
    assert done.status == 0, done.err
    trace = done.read()
    each = _stated_ps(trace) / 1000
    assert CLOCK_NS < each < lasted / len(trace.calls(0))
