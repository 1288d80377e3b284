"""How fast and how lean the reader is, as ratios within one run.

Peers, on the same generated halo exchange (`halo_archive.c`, 44 events per step and rank, 14 of them not of
communication calls):

* `bare_scan.c`: libotf2's C interface with empty callbacks, clock offsets and mapping tables on, one thread. The limit.
* the Python reader: the package `otf2` that libotf2's authors publish (PyPI `otf2`, Debian `python3-otf2`), iterating
  over the events of a smaller archive of the same pattern, because it needs minutes for the large one.

Times are the smallest of several interleaved rounds: on a shared machine that is the one least disturbed. What two
threads can gain depends on whether the machine has a second core to give: every round also runs two bare scans at once,
and where these gain less than 1.9 ×, the bar of 1.7 × is scaled by that (0.85 × the gain of the two scans).
Bytes per communication event = (peak resident set of the reader − that of the bare scan) / communication events; a
communication event is the Enter or Leave of a communication call, or a communication record (MpiSend, MpiIrecvRequest,
MpiCollectiveBegin, ...) inside one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVENTS = 20_000_000
LOCATIONS = (32, 256, 4096)
ROUNDS = 7
PYTHON_EVENTS = 500_000
EVENTS_PER_STEP = 44
MESSAGES_PER_STEP = 3
"""Two Isend and one Send per rank and step."""

SCAN_BAR = 1.8
THREADS_BAR = 1.7
IDLE = 1.9
"""Gain of two bare scans at once from which on the machine counts as having two cores to give."""
PYTHON_BAR = 40.0
BYTES_BAR = 48.0

PYTHON_SCAN = """
import sys, time
import otf2
begin = time.perf_counter()
with otf2.reader.open(sys.argv[1]) as trace:
    events = sum(1 for _ in trace.events)
print(time.perf_counter() - begin, events, 0)
"""


@dataclass(frozen=True)
class Measured:
    """One run of one program: wall seconds, events read, peak resident kilobytes; the reader adds two counts."""

    seconds: float
    events: int
    peak_kb: int
    communication_events: int = 0
    matched: int = 0


@dataclass(frozen=True)
class Row:
    """The figures of one archive, each the best of its rounds."""

    locations: int
    scan: Measured
    one: Measured
    two: Measured
    two_scans_seconds: float

    @property
    def two_scans(self) -> float:
        """What the machine gives: throughput of two bare scans at once over that of one."""
        return 2 * self.scan.seconds / self.two_scans_seconds

    @property
    def threads_bar(self) -> float:
        """How much faster two threads must be, on a machine as busy as this one."""
        return THREADS_BAR if self.two_scans >= IDLE else THREADS_BAR / 2 * self.two_scans

    @property
    def of_scan(self) -> float:
        """decode + fold + match over the bare scan, one thread each."""
        return self.one.seconds / self.scan.seconds

    @property
    def two_threads(self) -> float:
        """How much faster two threads are than one."""
        return self.one.seconds / self.two.seconds

    @property
    def bytes_per_event(self) -> float:
        """Peak bytes per communication event beyond what libotf2 itself needs, one thread."""
        return (self.one.peak_kb - self.scan.peak_kb) * 1024 / self.one.communication_events


def program(name: str) -> Path:
    """A built benchmark program. Raises FileNotFoundError with the way to build it."""
    folder = Path(os.environ.get("LOGPOST_BENCHMARKS", ROOT / "build" / "dev" / "benchmarks"))
    path = folder / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is not built; run: make setup (or set LOGPOST_BENCHMARKS to its directory)")
    return path


def run(*command: str | Path) -> Measured:
    """Runs a program that prints seconds, events, peak kilobytes [, communication events, matched messages]."""
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    words = done.stdout.split()
    return Measured(float(words[0]), *(int(word) for word in words[1:]))


def scan_twice(anchor: Path) -> float:
    """Seconds until both of two bare scans, begun at once, are done."""
    both = [
        subprocess.Popen([program("bare_scan"), anchor], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(2)
    ]
    return max(float(scan.communicate()[0].split()[0]) for scan in both)


def best(runs: list[Measured]) -> Measured:
    """The fastest round."""
    return min(runs, key=lambda measured: measured.seconds)


def measure(folder: Path, locations: int, events: int, rounds: int = ROUNDS) -> Row:
    """Generates an archive below `folder`, reads it in interleaved rounds, checks what was read, and removes it."""
    archive = folder / f"halo{locations}"
    written = int(subprocess.check_output([program("halo_archive"), archive, str(locations), str(events)]))
    anchor = archive / "traces.otf2"
    runs: dict[str, list[Measured]] = {"scan": [], "one": [], "two": []}
    twice: list[float] = []
    for _ in range(rounds):
        twice.append(scan_twice(anchor))
        runs["scan"].append(run(program("bare_scan"), anchor))
        runs["one"].append(run(program("read_archive"), anchor, "1"))
        runs["two"].append(run(program("read_archive"), anchor, "2"))
    shutil.rmtree(archive)
    messages = written // EVENTS_PER_STEP * MESSAGES_PER_STEP
    for measured in (*runs["scan"], *runs["one"], *runs["two"]):
        assert measured.events == written, f"{measured.events} events read of {written}"
    for measured in (*runs["one"], *runs["two"]):
        assert measured.matched == messages, f"{measured.matched} messages matched of {messages}"
    return Row(locations, best(runs["scan"]), best(runs["one"]), best(runs["two"]), min(twice))


def python_with_otf2() -> str | None:
    """An interpreter that can import otf2: this one, or the system's (Debian's python3-otf2)."""
    for interpreter in (sys.executable, "/usr/bin/python3"):
        found = subprocess.run([interpreter, "-c", "import otf2"], capture_output=True, check=False)
        if found.returncode == 0:
            return interpreter
    return None


def measure_python(folder: Path) -> tuple[Measured, Measured] | None:
    """(Python reader, our reader at one thread) on a smaller archive; None: no Python reader is installed."""
    interpreter = python_with_otf2()
    if interpreter is None:
        return None
    archive = folder / "halo_python"
    subprocess.run([program("halo_archive"), archive, "32", str(PYTHON_EVENTS)], check=True, capture_output=True)
    anchor = archive / "traces.otf2"
    theirs = run(interpreter, "-c", PYTHON_SCAN, anchor)
    ours = best([run(program("read_archive"), anchor, "1") for _ in range(ROUNDS)])
    shutil.rmtree(archive)
    assert theirs.events == ours.events
    return theirs, ours


def verdict(good: bool) -> str:
    """Whether a figure meets its bar."""
    return "met" if good else "MISSED"


def main() -> int:
    """Prints the table; returns 1 if a bar is missed."""
    missed = False
    with tempfile.TemporaryDirectory(prefix="logpost-bench-") as name:
        folder = Path(name)
        print(
            f"{EVENTS / 1e6:.0f} M events, best of {ROUNDS} rounds; bars: scan ratio ≤ {SCAN_BAR}, two threads ≥ "
            f"{THREADS_BAR} ×, ≤ {BYTES_BAR:.0f} B per communication event"
        )
        print("locations  scan M/s  read M/s  read/scan          2 threads   (2 scans)          peak MB  B/comm. event")
        for locations in LOCATIONS:
            row = measure(folder, locations, EVENTS)
            met = (row.of_scan <= SCAN_BAR, row.two_threads >= row.threads_bar, row.bytes_per_event <= BYTES_BAR)
            missed = missed or not all(met)
            print(
                f"{locations:9d}  {row.scan.events / row.scan.seconds / 1e6:8.1f}"
                f"  {row.one.events / row.one.seconds / 1e6:8.1f}"
                f"  {row.of_scan:5.2f} × {verdict(met[0]):8s}"
                f"  {row.two_threads:5.2f} × ({row.two_scans:4.2f} ×) {verdict(met[1]):8s}"
                f"  {row.one.peak_kb / 1024:9.0f}  {row.bytes_per_event:6.1f} {verdict(met[2])}",
                flush=True,
            )
        compared = measure_python(folder)
    if compared is None:
        print("Python reader: not installed (pip install otf2, or apt install python3-otf2); bar not measured")
    else:
        theirs, ours = compared
        ratio = theirs.seconds / ours.seconds
        missed = missed or ratio < PYTHON_BAR
        print(
            f"Python otf2, {theirs.events / 1e6:.1f} M events, 32 locations: {theirs.events / theirs.seconds / 1e6:.2f}"
            f" M events/s; our reader {ours.events / ours.seconds / 1e6:.1f}; {ratio:.0f} × (bar {PYTHON_BAR:.0f} ×:"
            f" {verdict(ratio >= PYTHON_BAR)})"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
