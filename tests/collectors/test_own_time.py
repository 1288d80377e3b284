"""What an archive states of the recorder's own time: it grows with the calls, and is a part of the program."""

from __future__ import annotations

import re
import time
from pathlib import Path

from tests.collectors import recording

CLOCK_NS = 5
"""Two readings of a clock last longer on any processor."""


def _own_ns(trace: recording.Trace) -> int:
    found = re.search(r"LOGPOST::RECORDING_NS\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    return int(found[1]) if found else 0


def test_the_recorders_time_grows_with_the_calls_and_is_within_them(mpi: str, tmp_path: Path) -> None:
    program = recording.build("keeps.c", mpi, tmp_path)
    stated = []
    for rounds in (1_000, 20_000):
        begin = time.monotonic_ns()
        done = recording.run(mpi, tmp_path / str(rounds), 2, program, str(rounds))
        lasted = time.monotonic_ns() - begin
        assert done.status == 0, done.err
        trace = done.read()
        stated.append(_own_ns(trace))
        assert CLOCK_NS * sum(len(trace.calls(rank)) for rank in (0, 1)) < stated[-1] < 2 * lasted
    assert stated[1] > 2 * stated[0]
