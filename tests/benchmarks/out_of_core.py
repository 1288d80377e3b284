"""An analysis beyond its limit of memory against one without: peak, time, and the same run; then what reads that run.

    python -m tests.benchmarks out_of_core --events 100000000 --locations 16384 --memory 2GB --folder DIRECTORY

Both analyses run alternately, `ROUNDS` times each; the ratio is of the best processor times and wall times. The archive
and the runs (1.4 and 0.7 GB) are made in the folder, which must be on a disk, and removed. Peaks of readers are those
of whole processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.reader import program, verdict

ROUNDS = 2
TIME_BAR = 1.4
READERS_BAR = 1.5e9
"""Bytes of memory for whatever reads the run."""
READERS = {
    "report": ["report", "RUN"],
    "report --models": ["report", "RUN", "--models"],
    "report --html": ["report", "RUN", "--html", "OUT.html", "--force"],
    "compare": ["compare", "RUN", "RUN"],
    "export csv": ["export", "RUN", "--to", "csv", "-o", "OUT.tables"],
    "export goal": ["export", "RUN", "--to", "goal", "-o", "OUT.goal"],
    "export perfetto": ["export", "RUN", "--to", "perfetto", "-o", "OUT.pftrace"],
}


@dataclass(frozen=True)
class Cost:
    """The cost of a process."""

    wall_s: float
    processor_s: float
    peak_bytes: int


def logpost(*words: str) -> Cost:
    """One command, with the processes that it starts."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "logpost.cli.app", *words]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"{' '.join(words)} ended with status {child.returncode}"
    return Cost(time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def different(one: Path, other: Path) -> list[str]:
    """Files of two runs that differ, but for what the manifest says of memory."""
    found = [
        file.name
        for file in sorted(one.iterdir())
        if file.name != "manifest.json" and file.read_bytes() != (other / file.name).read_bytes()
    ]
    manifests = [json.loads((run / "manifest.json").read_text()) | {"memory": None} for run in (one, other)]
    return found + ["manifest.json"] * (manifests[0] != manifests[1])


def main(options: Sequence[str] = ()) -> int:
    """Prints the tables; returns 1 if a bar is missed."""
    parser = argparse.ArgumentParser(prog="out_of_core")
    parser.add_argument("--events", default="100000000")
    parser.add_argument("--locations", default="16384")
    parser.add_argument("--memory", default="2GB", help="the limit, in GB or MB")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(options)
    limit = float(chosen.memory[:-2]) * {"GB": 1e9, "MB": 1e6}[chosen.memory[-2:]]
    with tempfile.TemporaryDirectory(prefix="logpost-bench-", dir=chosen.folder) as name:
        folder = Path(name)
        archive = folder / "halo"
        subprocess.run(
            [program("halo_archive"), archive, chosen.locations, chosen.events], check=True, capture_output=True
        )
        free, limited = folder / "free.run", folder / "limited.run"
        took: dict[Path, list[Cost]] = {free: [], limited: []}
        for _ in range(chosen.rounds):
            for run, limits in ((free, ()), (limited, ("--memory", chosen.memory))):
                took[run].append(logpost("analyze", str(archive), "-o", str(run), "--force", "--quiet", *limits))
        print(f"{int(chosen.events) / 1e6:.0f} M events, {chosen.locations} locations; limit {chosen.memory}")
        for run, name in ((free, "without"), (limited, "within")):
            memory = json.loads((run / "manifest.json").read_text())["memory"]
            print(
                f"{name:8s} {min(t.wall_s for t in took[run]):6.1f} s wall  "
                f"{min(t.processor_s for t in took[run]):6.1f} s processor  peak {memory['peak_bytes'] / 1e6:5.0f} MB  "
                f"in the file {memory['spilled_bytes'] / 1e6:5.0f} MB",
                flush=True,
            )
        peak = max(t.peak_bytes for t in took[limited])
        wall, processor = (
            min(getattr(t, kind) for t in took[limited]) / min(getattr(t, kind) for t in took[free])
            for kind in ("wall_s", "processor_s")
        )
        differing = different(free, limited)
        met = [peak <= limit, wall <= TIME_BAR, not differing]
        print(f"peak {peak / 1e6:.0f} MB ≤ {limit / 1e6:.0f} MB {verdict(met[0])}")
        print(f"time {wall:.2f} × wall, {processor:.2f} × processor ≤ {TIME_BAR} {verdict(met[1])}")
        print(f"files that differ: {', '.join(differing) or 'none'} {verdict(met[2])}", flush=True)
        for name, words in READERS.items():
            out = str(folder / "OUT")
            one = logpost(*(word.replace("RUN", str(limited)).replace("OUT", out) for word in words))
            met.append(one.peak_bytes <= READERS_BAR)
            print(f"{name:16s} {one.wall_s:6.1f} s  peak {one.peak_bytes / 1e6:5.0f} MB {verdict(met[-1])}", flush=True)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
