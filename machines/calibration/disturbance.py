"""Detect disturbances during a calibration: other load, shared processors, two speeds.

Other load: a calibration on a busy machine measures the scheduler. Single rounds then last many times as long as
others, without any pattern that an interval over a few rounds could hold. What a quiet machine does from round to round
(clock, placement) stays within a small factor.

More ranks than processors: what they do at the same time waits for turns.

Two speeds: all messages between ranks are slower for several rounds, because the processors were moved apart, a clock
changed or a neighbour started. The intervals hold both; a reader should know why they are wide.
"""

from __future__ import annotations

import statistics

from logpost.machines.calibration.samples import DELAYED, Host, Samples
from logpost.machines.calibration.statistics import rank

FACTOR = 10.0
"""Longest over shortest round of a point that only other load explains."""
SHARE = 0.05
"""Share of such points from which the calibration is not to be trusted. Quiet runs had at most 2 %, busy ones 9 %."""
APART = 1.5
"""Slower over faster rounds that are two speeds. Rounds of one speed differ by less than 1.2."""


def warning(samples: Samples) -> str:
    """Warnings about disturbances; none on a quiet machine."""
    return "; ".join(filter(None, (_disturbed(samples), _two_speeds(samples), _crowded(samples.host))))


def _disturbed(samples: Samples) -> str:
    # The protocol's points wait on purpose, and are divided by more than their time.
    timed = [p.time.rounds_s for p in samples.points if p.family not in DELAYED]
    points = [rounds for rounds in timed if len(rounds) > 2 and min(rounds) > 0.0]
    wild = sum(max(rounds) > FACTOR * min(rounds) for rounds in points)
    if not points or wild <= SHARE * len(points):
        return ""
    return (
        f"other load disturbed the measurement: {wild} of {len(points)} points took more than {FACTOR:.0f} times as "
        "long in one round as in another; measure again on a quiet machine"
    )


def _two_speeds(samples: Samples) -> str:
    messages = [p.time.rounds_s for p in samples.points if p.family in ("one_way", "round_trip")]
    k = max(map(len, messages), default=0)
    points = [rounds for rounds in messages if len(rounds) == k and min(rounds) > 0.0]
    # Rounds too few for a separate interval cannot distinguish two speeds from single wild ones.
    if rank(k) == 0 or not points:
        return ""
    # A round's time over the median round, for most messages.
    middles = [statistics.median(rounds) for rounds in points]
    relative = sorted(
        statistics.median(rounds[j] / middle for rounds, middle in zip(points, middles, strict=True)) for j in range(k)
    )
    # The widest step between two rounds parts the fast ones from the slow ones; so few that no interval reaches over
    # them, or one alone, are no speed.
    fewest = max(2, rank(k))
    steps = {fast: relative[fast] / relative[fast - 1] for fast in range(fewest, k - fewest + 1)}
    fast = max(steps, key=steps.__getitem__)
    if steps[fast] < APART:
        return ""
    times = statistics.median(relative[fast:]) / statistics.median(relative[:fast])
    bound = all(len(_processors(cpus)) == 1 for cpus in samples.host.cpus)
    binding = "" if bound else "bind the ranks to cores (--bind-to core), "
    return (
        f"the machine had two speeds: messages between ranks took {times:.1f} times as long in {k - fast} of {k} "
        f"rounds as in the others, and intervals reach over both; for one speed {binding}keep the nodes to yourself, "
        "or measure where processors are not virtual"
    )


def _crowded(host: Host) -> str:
    for name in dict.fromkeys(host.hosts):
        here = [_processors(cpus) for h, cpus in zip(host.hosts, host.cpus, strict=True) if h == name]
        processors = set().union(*here)
        if len(here) > len(processors) > 0:
            return (
                f"{len(here)} ranks share {len(processors)} processors of {name}: what more ranks than those do at the "
                "same time includes the scheduler's time slices; start at most one rank per processor"
            )
    return ""


def _processors(cpus: str) -> set[int]:
    """Of a list as in "0-3,8"; none where it is not known."""
    found: set[int] = set()
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            return set()
        found.update(range(int(first), int(last or first) + 1))
    return found
