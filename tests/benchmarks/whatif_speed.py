"""How fast and how lean what-if replays are, as ratios within one run.

The peer is a stand-in for LogGOPSim (`event_replay.hpp`): the same algorithm under the rules of our replay, and so the
same finish times (tests/native/event_replay_test.cpp). LogGOPSim itself does 1.1 M messages a second on 32 ranks where
the stand-in does 4 M: it reads a schedule, and has more kinds of operations.

Times are CPU seconds of one thread, the smallest of three; those of one and two threads are seconds on the clock, and
mean little while others use the machine. Bytes are those of the graph, and of the resident set's peak while it is
built, without the program that it is built from; an event is an Enter or Leave of a call, or an end of a message.

Needs build/dev/benchmarks/whatif_rate (CMake's -DLOGPOST_TESTS=ON).
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "build/dev/benchmarks/whatif_rate"
CASES = (
    ("halo", 32, 16_000),
    ("halo", 256, 2_000),
    ("halo", 4096, 120),
    ("all_to_all", 256, 8),
    ("all_to_all", 512, 2),
)

RATE_BAR = 30.0
"""messages a second of a replay over the stand-in's, without contention (`halo`)"""
QUEUED_BAR = 6.0
"""the same with NICs that queue (`all_to_all`)"""
FLAT_BAR = 1.5
"""greatest rate of the halo exchange over the smallest, from 32 to 4,096 ranks"""
LANES_BAR = 3.0
THREADS_BAR = 1.7
BYTES_BAR = 40.0
LOSS_BAR = 0.15


@dataclass(frozen=True)
class Rate:
    """What one case took; seconds, and bytes per event."""

    messages: float
    by_events: float
    building: float
    one: float
    eight: float
    sweep: float
    sweep_on_two: float
    peak: float
    graph: float


def measured(pattern: str, ranks: int, steps: int) -> Rate:
    """Runs the program on one case."""
    found = subprocess.run(
        [PROGRAM, pattern, str(ranks), str(steps)], check=True, capture_output=True, text=True
    ).stdout.split()
    return Rate(*map(float, found))


def main() -> int:
    """Print the table; 1 where a bar is missed."""
    if not PROGRAM.is_file():
        print(f"{PROGRAM} is missing: cmake -S . -B build/dev -DLOGPOST_TESTS=ON, then build it", file=sys.stderr)
        return 1
    print(
        f"{'pattern':11}{'ranks':>6}{'M messages/s':>14}{'x stand-in':>12}{'built':>8}{'8 : 1':>7}{'2 threads':>11}",
        end="",
    )
    print(f"{'B/event':>9}{'peak':>7}")
    rates: dict[tuple[str, int], Rate] = {}
    for pattern, ranks, steps in CASES:
        one = rates[pattern, ranks] = measured(pattern, ranks, steps)
        print(
            f"{pattern:11}{ranks:>6}{one.messages / one.one / 1e6:>14.1f}{one.by_events / one.one:>12.1f}"
            f"{one.building / one.by_events:>8.1f}{one.eight / one.one:>7.2f}{one.sweep / one.sweep_on_two:>11.2f}"
            f"{one.graph:>9.1f}{one.peak:>7.1f}",
            flush=True,
        )
    print("built: the time to build the graph, once, over that of one run of the stand-in")
    halo = [one for (pattern, _), one in rates.items() if pattern == "halo"]
    queued = [one for (pattern, _), one in rates.items() if pattern != "halo"]
    speeds = [one.messages / one.one for one in halo]
    loss = 1 - (queued[1].messages / queued[1].one) / (queued[0].messages / queued[0].one)
    bars = (
        (
            "messages a second over the stand-in's, no contention",
            min(h.by_events / h.one for h in halo),
            RATE_BAR,
            True,
        ),
        ("the same where NICs queue", min(q.by_events / q.one for q in queued), QUEUED_BAR, True),
        ("fastest over slowest, 32 to 4,096 ranks", max(speeds) / min(speeds), FLAT_BAR, False),
        ("all-to-all, loss from 256 to 512 ranks", loss, LOSS_BAR, False),
        ("8 settings over one", max(r.eight / r.one for r in rates.values()), LANES_BAR, False),
        ("two threads", max(r.sweep / r.sweep_on_two for r in rates.values()), THREADS_BAR, True),
        ("peak bytes per event", max(r.peak for r in rates.values()), BYTES_BAR, False),
    )
    missed = 0
    for name, value, bar, at_least in bars:
        met = value >= bar if at_least else value <= bar
        missed += not met
        print(f"{name}: {value:.2f}, bar {'>=' if at_least else '<='} {bar:g}{'' if met else ': MISSED'}")
    return int(missed > 0)
