"""How fast and how lean what-if replays are, as ratios within one run.

The peer is LogGOPSim where `LOGPOST_LOGGOPSIM` names its directory: the same schedule, under the same parameters, as a
GOAL file; CPU seconds of the whole process, whose schedule is mapped into memory. Next to it, and instead of it where
it is not given, runs a stand-in (`event_replay.hpp`): the same algorithm under the rules of our replay, and so
the same finish times (tests/native/event_replay_test.cpp). It is faster than LogGOPSim, which has more kinds of
operations: the bars are about LogGOPSim, and its time is then the stand-in's by the least ratio that was measured.

Our replay and the peer run in turns. Times are CPU seconds of one thread, the smallest; what two threads gain is the
median of pairs on the clock, one thread and two, next to the same gain of plain additions, which shows what the
processors share. Bytes are those
of the graph, and of the resident set's peak while it is built, without the program that it is built from; an event is
an Enter or Leave of a call, or an end of a message. The limit of a replay is to read the graph once; that of the peak
is the graph itself.

Needs build/dev/benchmarks/whatif_rate (CMake's -DLOGPOST_TESTS=ON).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import median

from tests.benchmarks._peer import DIRECTORY, SLOWER, is_given, log_gop_sim

PROGRAM = Path(__file__).resolve().parents[2] / "build/dev/benchmarks/whatif_rate"
CASES = (
    ("halo", 32, 16_000),
    ("halo", 256, 7_820),
    ("halo", 4096, 120),
    ("all_to_all", 256, 8),
    ("all_to_all", 512, 2),
)
MACHINES = {
    "halo": ("-L", "2000000", "-o", "500000", "-g", "0", "-G", "0"),
    "all_to_all": ("-L", "2000000", "-o", "500000", "-g", "600000", "-G", "100"),
}
"""what `whatif_rate` runs the patterns on, as LogGOPSim's options: picoseconds"""
OPERATIONS = 10_000_000
"""computations, sends and receives of `halo` on 256 ranks"""
ROUNDS = 8
"""a replay fills its core: another process there makes it 1.6 times as slow for some minutes, the stand-in hardly"""

RATE_BAR = 30.0
"""messages a second of a replay over the peer's, without contention (`halo`)"""
QUEUED_BAR = 6.0
"""the same with NICs that queue (`all_to_all`)"""
FLAT_BAR = 1.5
"""greatest rate of the halo exchange over the smallest, from 32 to 4,096 ranks"""
LANES_BAR = 3.0
THREADS_BAR = 1.7 / 2
"""how much faster two threads are, over what they give additions: 2 where no processor shares its core"""
BYTES_BAR = 40.0
LOSS_BAR = 0.15
SWEEP_BAR = 10.0
"""seconds of a sweep over 32 latencies of that many operations, on two threads"""


@dataclass(frozen=True)
class Rate:
    """The cost of one case: seconds, and bytes per event."""

    messages: float
    stand_in: float
    building: float
    one: float
    eight: float
    sweep_on_two: float
    reading: float
    peak: float
    graph: float
    gain: float
    """of two threads: how much faster they sweep than one, measured in pairs"""
    adding_gain: float
    """the same of additions that do not wait for each other"""
    log_gop_sim: float = float("inf")
    """infinite: not measured"""

    @property
    def peer(self) -> float:
        """Seconds of LogGOPSim; where that is not installed, the least that it needs by the stand-in's."""
        return SLOWER * self.stand_in if self.log_gop_sim == float("inf") else self.log_gop_sim


def summed_up(rates: list[Rate]) -> Rate:
    """Of each figure, the smallest; of gains, which are medians of pairs, the median."""
    values = {field.name: [getattr(one, field.name) for one in rates] for field in fields(Rate)}
    return Rate(**{name: median(some) if name.endswith("gain") else min(some) for name, some in values.items()})


def measured() -> dict[tuple[str, int], Rate]:
    """Runs the program, and the peer, on all cases in turns: a slow minute of the machine is one of every case."""
    found: dict[tuple[str, int], list[Rate]] = {(pattern, ranks): [] for pattern, ranks, _ in CASES}
    with tempfile.TemporaryDirectory() as place:
        peers = {}
        for pattern, ranks, steps in CASES:
            folder = Path(place) / f"{pattern}-{ranks}"
            folder.mkdir()
            peers[pattern, ranks] = log_gop_sim([PROGRAM, pattern, str(ranks), str(steps)], MACHINES[pattern], folder)
        for _ in range(ROUNDS):
            for pattern, ranks, steps in CASES:
                case: list[str | Path] = [PROGRAM, pattern, str(ranks), str(steps)]
                printed = subprocess.run(case, check=True, capture_output=True, text=True).stdout.split()
                one = replace(Rate(*map(float, printed)), log_gop_sim=peers[pattern, ranks]()[0])
                found[pattern, ranks].append(one)
    return {case: summed_up(rates) for case, rates in found.items()}


def main() -> int:
    """Print the table; 1 where a bar is missed."""
    if not PROGRAM.is_file():
        print(f"{PROGRAM} is missing: cmake -S . -B build/dev -DLOGPOST_TESTS=ON, then build it", file=sys.stderr)
        return 1
    heads = ("ranks", "M messages/s", "x LogGOPSim", "x stand-in", "x reading", "built", "8 : 1", "2 threads")
    print("{:11}{:>6}{:>14}{:>13}{:>12}{:>11}{:>8}{:>7}{:>11}".format("pattern", *heads), f"{'B/event':>8}{'peak':>7}")
    rates = measured()
    for (pattern, ranks), one in rates.items():
        against = "-" if one.log_gop_sim == float("inf") else f"{one.log_gop_sim / one.one:.1f}"
        print(
            f"{pattern:11}{ranks:>6}{one.messages / one.one / 1e6:>14.1f}{against:>13}{one.stand_in / one.one:>12.1f}"
            f"{one.one / one.reading:>11.1f}{one.building / one.stand_in:>8.1f}{one.eight / one.one:>7.2f}"
            f"{one.gain:>11.2f} {one.graph:>8.1f}{one.peak:>7.1f}",
            flush=True,
        )
    print("x reading: the time of a replay over that of reading its graph once, which is its limit")
    print("B/event, peak: of the graph, which is the limit; and of the memory used while it is built")
    print("built: the time to build the graph, once, over that of one run of the stand-in")
    halo = [one for (pattern, _), one in rates.items() if pattern == "halo"]
    queued = [one for (pattern, _), one in rates.items() if pattern != "halo"]
    speeds = [one.messages / one.one for one in halo]
    loss = 1 - (queued[1].messages / queued[1].one) / (queued[0].messages / queued[0].one)
    peer = "LogGOPSim's" if is_given() else f"{SLOWER:g} x the stand-in's time ({DIRECTORY} is not set)"
    adding = min(2.0, median(r.adding_gain for r in rates.values()))
    bars = (
        (f"messages a second over {peer}, no contention", min(h.peer / h.one for h in halo), RATE_BAR, True),
        ("the same where NICs queue", min(q.peer / q.one for q in queued), QUEUED_BAR, True),
        ("fastest over slowest, 32 to 4,096 ranks", max(speeds) / min(speeds), FLAT_BAR, False),
        ("all-to-all, loss from 256 to 512 ranks", loss, LOSS_BAR, False),
        ("8 settings over one", max(r.eight / r.one for r in rates.values()), LANES_BAR, False),
        (
            f"two threads, over the {adding:.2f} that they give additions",
            min(r.gain for r in rates.values()) / adding,
            THREADS_BAR,
            True,
        ),
        (
            f"seconds of 32 latencies of {OPERATIONS / 1e6:g} million operations, two threads",
            rates["halo", 256].sweep_on_two,
            SWEEP_BAR,
            False,
        ),
        ("peak bytes per event", max(r.peak for r in rates.values()), BYTES_BAR, False),
    )
    missed = 0
    for name, value, bar, at_least in bars:
        met = value >= bar if at_least else value <= bar
        missed += not met
        print(f"{name}: {value:.2f}, bar {'>=' if at_least else '<='} {bar:g}{'' if met else ': MISSED'}")
    return int(missed > 0)
