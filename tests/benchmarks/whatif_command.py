"""What a user waits for: whole `logpost whatif` commands, as ratios to LogGOPSim's process on the same schedule.

A schedule of about 10^6 messages ran by the stand-in's rules (`whatif_rate`); its archive is analyzed on a machine of
those values, with a crossbar of a node per rank. In the halo exchange, less than 1 % of the messages wait in the
network; in the all-to-all, nearly all wait for NICs. Questions: the first one of a run, which builds the graph; the
next one, which finds it in the run; `--quick`; a sweep of 32 latencies. The peer runs before each of them: processor
seconds of one run, the smallest of `ROUNDS`.

`LOGPOST_LOGGOPSIM` names the directory that has LogGOPSim and txt2bin; without it, the stand-in's time counts, by the
least measured factor between both. Needs build/dev/benchmarks/whatif_rate (CMake's -DLOGPOST_TESTS=ON).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks._peer import DIRECTORY, SLOWER, is_given, log_gop_sim, processor_seconds
from tests.benchmarks.whatif_speed import PROGRAM
from tests.machines.builders import stated

from logpost.analyzer.predict.whatif.extract import FILE

CASES = (
    ("halo", 32, 16_000),
    ("halo", 256, 1_953),
    ("halo", 1024, 488),
    ("all_to_all", 128, 62),
    ("all_to_all", 256, 15),
)
ROUNDS = 2
VALUES = {"halo": (2000, 500, 0, 0.1), "all_to_all": (2000, 500, 600, 0.1)}
"""L, o, g in ns and G in ns per byte"""
TABLES = """[topology]
kind = "crossbar"
nodes = {nodes}
[loggp.other_node]
L = {L}
o_s = {o}
o_r = {o}
g = {g}
G = {G}
"""


@dataclass(frozen=True)
class Question:
    """A command, whether it is the first of its run, and its bars: over the peer's time, and MB at the peak."""

    name: str
    options: tuple[str, ...]
    first: bool
    halo: float
    all_to_all: float
    peak_mb: float


ALONE = ("--no-contention",)
SWEEP = ("--sweep", "L=x1:x10:32")
ASK = ("--set", "L=x4")
QUESTIONS = (
    Question("first, no contention", (*ASK, *ALONE), True, 1.5, 1.5, 250),
    Question("next, no contention", (*ASK, *ALONE), False, 0.5, 0.5, 250),
    Question("next, --quick", (*ASK, *ALONE, "--quick"), False, 0.5, 0.5, 250),
    Question("first, contention", ASK, True, 2, 6, 500),
    Question("next, contention", ASK, False, 2, 6, 500),
    Question("sweep of 32, no contention", (*SWEEP, *ALONE), False, 4, 4, 250),
    Question("sweep of 32, contention", SWEEP, False, 30, 30, 500),
)


def peer_of(pattern: str, ranks: int, steps: int, folder: Path) -> Callable[[], tuple[float, int]]:
    """What runs LogGOPSim, or its stand-in."""
    case = [str(PROGRAM), pattern, str(ranks), str(steps)]
    if not is_given():
        return lambda: (SLOWER * float(subprocess.check_output([*case, "stand_in"])), 0)
    L, o, g, G = (str(round(1000 * value)) for value in VALUES[pattern])
    return log_gop_sim(case, ("-L", L, "-o", o, "-g", g, "-G", G), folder)


def run_of(pattern: str, ranks: int, steps: int, folder: Path) -> Path:
    """The schedule's archive, analyzed."""
    archive, run, machine = folder / "archive", folder / "a.run", folder / "machine.toml"
    subprocess.run([PROGRAM, pattern, str(ranks), str(steps), "archive", archive], check=True)
    L, o, g, G = VALUES[pattern]
    machine.write_text(stated("benchmark", ("ns", "ns/B", "B"), TABLES.format(nodes=ranks, L=L, o=o, g=g, G=G)))
    logpost = [sys.executable, "-m", "logpost.cli.app"]
    subprocess.run([*logpost, "analyze", archive, "-m", machine, "-o", run, "--quiet"], check=True)
    return run


def ask(run: Path, question: Question, peer: Callable[[], tuple[float, int]]) -> tuple[float, float, float, float]:
    """Its time over the peer's, its seconds, and megabytes of both at the peak."""
    best = (float("inf"), 0.0, 0.0, 0.0)
    for _ in range(ROUNDS):
        if question.first:
            for kept in (*run.glob("graph*.bin"), *run.glob(FILE)):
                kept.unlink()
        theirs, their_kb = peer()
        ours, our_kb = processor_seconds(
            [sys.executable, "-m", "logpost.cli.app", "whatif", str(run), *question.options]
        )
        best = min(best, (ours / theirs, ours, our_kb / 1e3, their_kb / 1e3))
    return best


def main(options: Sequence[str] = ()) -> int:
    """Print the table, of all cases or of one (`--case halo-32`); 1 where a bar is missed."""
    wanted = options[1:]
    if not PROGRAM.is_file():
        print(f"{PROGRAM} is missing: cmake -S . -B build/dev -DLOGPOST_TESTS=ON, then build it", file=sys.stderr)
        return 1
    print(f"peer: {'LogGOPSim' if is_given() else f'{SLOWER:g} x its stand-in ({DIRECTORY} is not set)'}")
    missed = 0
    for pattern, ranks, steps in CASES:
        if wanted and f"{pattern}-{ranks}" not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="logpost-bench-") as name:
            peer, run = peer_of(pattern, ranks, steps, Path(name)), run_of(pattern, ranks, steps, Path(name))
            for question in QUESTIONS:
                ratio, seconds, mb, their_mb = ask(run, question, peer)
                bar = question.halo if pattern == "halo" else question.all_to_all
                met = ratio <= bar and mb <= question.peak_mb
                missed += not met
                print(
                    f"{pattern:10} {ranks:5} {question.name:27} {seconds:7.2f} s  {ratio:6.2f} x, bar {bar:4g}  "
                    f"{mb:6.0f} MB, bar {question.peak_mb:g} (peer {their_mb:.0f}){'' if met else ': MISSED'}",
                    flush=True,
                )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
