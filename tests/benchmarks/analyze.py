"""The split and the whole `logpost analyze`, as ratios to decoding and to a bare libotf2 scan of the same archive.

The split is measured in processor time of one thread against the decode's: the cost of messages, to which the bar
applies, and next to it the cost of members of collective operations. The whole is measured in wall time with as many
threads as there are cores. Bytes per communication event are those of the whole process's peak, less what an
interpreter with the same libraries imported needs; the definition of a communication event is that of `reader.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.reader import EVENTS, LOCATIONS, best, program, run, verdict

ROUNDS = 7
SPLIT_ROUNDS = 3
"""Each of them the best of so many."""
SPLIT_BAR = 0.3
WHOLE_BAR = 3.0
WHOLE_CONSTANT_S = 1.5
BYTES_BAR = 48.0

IMPORTS = (
    "import resource, logpost.analyzer.pipeline.build, logpost.analyzer.pipeline.rescope; "
    "import logpost.analyzer.findings.find; "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


@dataclass(frozen=True)
class Split:
    """Processor seconds of decode, split, accounting and of following the waits with one thread."""

    decode_s: float
    messages_s: float
    collectives_s: float
    account_s: float
    causes_s: float
    messages: int
    calls: int


def split(anchor: Path) -> Split:
    """One run of the native program `split_archive`, each time the best of its rounds."""
    done = subprocess.run(
        [program("split_archive"), anchor, "1", str(SPLIT_ROUNDS)], check=True, capture_output=True, text=True
    )
    words = done.stdout.split()
    decode_s, split_s, account_s = map(float, words[:3])
    collectives_s = float(words[8])
    return Split(
        decode_s, split_s - collectives_s, collectives_s, account_s, float(words[6]), int(words[3]), int(words[4])
    )


def analyze(anchor: Path, into: Path) -> tuple[float, int]:
    """Wall seconds of the command `logpost analyze`, and the peak resident kilobytes of its largest process."""
    shutil.rmtree(into, ignore_errors=True)  # the replacement of a run costs time as well, but is no analysis
    begin = time.perf_counter()
    command = [sys.executable, "-m", "logpost.cli.app", "analyze", str(anchor), "-o", str(into), "--quiet"]
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"logpost analyze ended with status {child.returncode}"
    return time.perf_counter() - begin, usage.ru_maxrss


def main() -> int:
    """Prints the table; returns 1 if a bar is missed."""
    libraries = int(subprocess.check_output([sys.executable, "-c", IMPORTS]))
    missed = False
    with tempfile.TemporaryDirectory(prefix="logpost-bench-") as name:
        folder = Path(name)
        print(
            f"{EVENTS / 1e6:.0f} M events; bars: split of messages ≤ {SPLIT_BAR} × decode, "
            f"analyze ≤ {WHOLE_BAR:.0f} × scan + {WHOLE_CONSTANT_S} s, ≤ {BYTES_BAR:.0f} B per communication event"
        )
        print(
            "locations  decode s  split s  split/decode     collectives/decode  account s  path, delays/decode"
            "  scan s  analyze s  limit s           B/comm. event"
        )
        for locations in LOCATIONS:
            archive = folder / f"halo{locations}"
            subprocess.run(
                [program("halo_archive"), archive, str(locations), str(EVENTS)], check=True, capture_output=True
            )
            anchor = archive / "traces.otf2"
            # The reader's own program counts the communication events; the count of analyze is in its run.
            events = run(program("read_archive"), anchor, "1").communication_events
            # In turns: a virtual machine may have another speed for a quarter of a minute.
            rounds = [(run(program("bare_scan"), anchor), analyze(anchor, folder / "halo.run")) for _ in range(ROUNDS)]
            scan, whole = best([scan for scan, _ in rounds]), [found for _, found in rounds]
            parts = min((split(anchor) for _ in range(SPLIT_ROUNDS)), key=lambda s: s.messages_s / s.decode_s)
            shutil.rmtree(archive)
            wall = min(seconds for seconds, _ in whole)
            limit = WHOLE_BAR * scan.seconds + WHOLE_CONSTANT_S
            per_event = (max(peak for _, peak in whole) - libraries) * 1024 / events
            ratio = parts.messages_s / parts.decode_s
            met = (ratio <= SPLIT_BAR, wall <= limit, per_event <= BYTES_BAR)
            missed = missed or not all(met)
            print(
                f"{locations:9d}  {parts.decode_s:8.2f}  {parts.messages_s:7.2f}  {ratio:5.2f} × {verdict(met[0]):8s}"
                f"  {parts.collectives_s / parts.decode_s:16.2f} ×"
                f"  {parts.account_s:9.2f}  {parts.causes_s / parts.decode_s:17.2f} ×"
                f"  {scan.seconds:6.2f}  {wall:9.2f}  {limit:7.2f} {verdict(met[1]):8s}"
                f"  {per_event:6.1f} {verdict(met[2])}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
