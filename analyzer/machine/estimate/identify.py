"""Alternate an estimate with the replay until the queues that it implies agree, and state which parts it cannot divide.

1. Settle. The replay puts queues on top of an estimate. Where both together are longer than what was measured, the
   deficit says by how much L, which holds all that nothing measured, is too long; L gives way and the replay is
   repeated, at most `ROUNDS` times.
2. Identify. A parameter that is only bounded may be anything within its bound. The replay is repeated with each such
   parameter at its bound, or as near to it as the measured times allow and `AT_BOUND` replays can show, and L as much
   shorter. A part of the messages, or of the ranks' time in calls, that these machines do not agree on is not
   identified: it is shown together with the others of which that is true, as transport that is not divided further.
   Where a deficit beyond noise stays after settling, so are the parts that changed while L gave way: nothing says how
   far it must.
3. Refuse. Where the deficit stays above `MUCH_DEFICIT` of all message time, the estimate contradicts the trace, and
   nothing that depends on it is divided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from logpost.analyzer.machine.estimate import Estimate, Unknown
from logpost.analyzer.run.manifest import MUCH_DEFICIT
from logpost.analyzer.run.schema import CATEGORIES, PARTS
from logpost.analyzer.run.wide import exact_sum
from logpost.machines import ReplayParameters
from logpost.machines.parameters import PARAMETERS
from logpost.replay._native import Analysis, Causes, Program, categories
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.graph.library import codes_of

ROUNDS = 6
"""Replays to settle an estimate at most."""
SMALL_DEFICIT = 0.01
"""Deficit over all message time that noise makes; an estimate with less is settled."""
DISAGREE = 0.05
"""Share of all message time, or of the time in calls, by which two possible machines differ in a part that is not
identified."""
NEAR = 0.1
"""Part of what L gives way that is not worth another replay."""
AT_BOUND = 4
"""Replays at most to get near a parameter's bound."""
REPLAYED = 1 << 14
"""Messages of a program that are replayed, from its middle: an estimate is replayed several times."""
ROWS = 1 << 16
"""Messages that are read at a time."""
NO_MESSAGES = (
    "there are one-sided transfers and no messages to estimate a machine from: what transfers wait for is known, "
    "and their transport is divided with --machine only"
)

OF_PARAMETER: Mapping[str, str] = {
    "o_s": "send_overhead",
    "o_r": "recv_overhead",
    "L": "latency",
    "G": "serialization",
}
"""The part that is nothing but a parameter's."""
QUEUES: Mapping[str, set[str]] = {"endpoint_contention": {"g", "G"}, "processor_queueing": {"o_r", "L", "G"}}
"""Queues, and the parameters that say how long they are."""
TRANSPORT = (
    "send_overhead",
    "middleware",
    "endpoint_contention",
    "latency",
    "serialization",
    "network_contention",
    "processor_queueing",
    "recv_overhead",
    "residual",
)
"""Parts that come from the machine's values."""
RENDEZVOUS: tuple[Unknown, ...] = ("largest", "all")
LATE = {"late_sender", "late_receiver"}
"""Facts about the calls, but for the time that a message needs, and for which of a call's messages is its last."""


@dataclass(frozen=True)
class Replayed:
    """Sums of one replay in ps: parts of all messages, categories of the ranks' time in calls."""

    parts: Mapping[str, int]
    exposed: Mapping[str, int]
    deficit: int
    too_long: float
    """what most messages with a deficit lack, 0 where few have one"""

    @property
    def deficit_share(self) -> float:
        """Over all message time."""
        return self.deficit / max(1, sum(self.parts.values()))

    def share(self, part: str) -> float:
        """Of all message time, or of the time in calls, whichever is larger."""
        return max(times[part] / max(1, sum(times.values())) for times in (self.parts, self.exposed))

    def differs(self, other: Replayed) -> set[str]:
        """Categories in which another replay differs by more than `DISAGREE`."""
        found = set()
        for mine, theirs in ((self.parts, other.parts), (self.exposed, other.exposed)):
            whole = max(1, sum(mine.values()))
            found |= {name for name, time in mine.items() if abs(time - theirs[name]) > DISAGREE * whole}
        return found


@dataclass(frozen=True)
class Identified:
    """The machine to split with, and what of its split is identified."""

    parameters: ReplayParameters
    undivided: tuple[str, ...]
    refused: bool
    notes: tuple[str, ...]

    def shown(self, *, refused: bool) -> tuple[str, ...]:
        """The categories to show as one; of a refused estimate all that come from the machine."""
        return _in_order({*self.undivided, *TRANSPORT}) if refused else self.undivided


def identify(
    estimate: Estimate,
    replay: Callable[[ReplayParameters], Replayed],
    *,
    strided: bool,
    one_sided: bool = False,
    threads: int = 1,
) -> Identified:
    """Settle an estimate and find out which parts it divides.

    Args:
        estimate: from the trace's calls alone.
        replay: sums of the split under a machine.
        strided: some messages are strided, and an estimate knows no middleware latency.
        one_sided: there are one-sided transfers, which an estimate from messages alone does not know.
        threads: concurrent replays.
    """
    if not estimate.classes:
        unknown = _in_order(TRANSPORT) if estimate.notes or one_sided else ()
        return Identified(estimate.parameters(), unknown, refused=False, notes=(NO_MESSAGES,) if one_sided else ())
    first = replay(estimate.parameters())
    less, rounds, base = _settle(first, lambda less: replay(estimate.parameters(less=less)))
    parameters = estimate.parameters(less=less)
    notes = [f"estimate and replay agree after {rounds} replay{'s' if rounds > 1 else ''}"]
    unmeasured = estimate.unmeasured
    undivided = {part for name, part in OF_PARAMETER.items() if name in unmeasured}
    if strided:
        undivided |= {"middleware", "send_overhead", "recv_overhead"}
    # Replays of other possible machines do not depend on each other.
    doubts: list[Callable[[], tuple[set[str], int]]] = []
    if "L" in unmeasured:

        def without_latency() -> tuple[set[str], int]:
            # Without L all of it is residual, with all of L some is a deficit; both show whether it decides which rank
            # was the late one.
            shortest = replay(estimate.parameters(less=float("inf")))
            return (base.differs(shortest) | base.differs(first)) & LATE, 1

        doubts.append(without_latency)
    if estimate.protocol_unknown:
        # The limit lies anywhere: where small messages have no handshake, a large one may be waited for last.
        for some in RENDEZVOUS:
            doubts.append(partial(_with_handshakes, estimate, some, less, base, replay))
    for name in ("o_s", "o_r", "g", "G"):
        if name in unmeasured:
            doubts.append(partial(_at_bound, estimate, name, less, base, replay))
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        doubtful = list(pool.map(lambda doubt: doubt(), doubts))
    machines = sum(tried for _, tried in doubtful)
    undivided = undivided.union(*(parts for parts, _ in doubtful))
    if base.deficit_share > SMALL_DEFICIT:
        undivided |= base.differs(first)
    # Transfers last as long as L and G say, and nothing settles those with them where only messages bound them.
    transport_unknown = not estimate.transport_measured or (one_sided and bool({"L", "G"} & unmeasured))
    if transport_unknown or "residual" in undivided or base.share("residual") > DISAGREE:
        # What L holds, or nothing explains, may be a queue whose service nothing measured.
        undivided |= {"residual", *(queue for queue, of in QUEUES.items() if unmeasured & of)}
    refused = base.deficit_share > MUCH_DEFICIT
    if refused:
        undivided |= set(TRANSPORT)
    undivided &= {*TRANSPORT, *LATE}
    if machines:
        notes.append(f"{machines} replays at the bounds of {', '.join(sorted(unmeasured & set(PARAMETERS)))}")
    return Identified(parameters, _in_order(undivided) if len(undivided) > 1 else (), refused, tuple(notes))


def _settle(
    first: Replayed, shorter_by: Callable[[float], Replayed], at_first: float = 0.0
) -> tuple[float, int, Replayed]:
    """By how many ps L must be shorter for the replay's queues to fit in, as well as `ROUNDS` replays can show; how
    many replays that took, and the last that fits. The first replay was with an L that was shorter by `at_first`."""
    less, rounds, base = at_first, 1, first
    before = less
    while rounds < ROUNDS and base.deficit_share > SMALL_DEFICIT and base.too_long > 0:
        before, less = less, less + base.too_long
        shorter = shorter_by(less)
        rounds += 1
        if shorter.deficit >= base.deficit:
            return before, rounds, base
        base = shorter
    while rounds < ROUNDS and less - before > NEAR * less:
        middle = (before + less) / 2
        found = shorter_by(middle)
        rounds += 1
        if found.deficit_share <= SMALL_DEFICIT:
            less, base = middle, found
        else:
            before = middle
    return less, rounds, base


def _with_handshakes(
    estimate: Estimate, some: Unknown, less: float, base: Replayed, replay: Callable[[ReplayParameters], Replayed]
) -> tuple[set[str], int]:
    """The parts that differ where some of the messages of unknown protocol are rendezvous, whose three L must fit, and
    the number of replays."""

    def shorter_by(less: float) -> Replayed:
        return replay(estimate.parameters(less=less, rendezvous=some))

    first = shorter_by(less)
    _, tried, settled = _settle(first, shorter_by, less)
    return base.differs(first) | base.differs(settled), tried


def _at_bound(
    estimate: Estimate, name: str, less: float, base: Replayed, replay: Callable[[ReplayParameters], Replayed]
) -> tuple[set[str], int]:
    """The parts that differ with a parameter within its bound, as far towards that as the measured times allow, and the
    number of replays."""
    differing: set[str] = set()
    fits, too_far, part = 0.0, 1.0, 1.0
    tried = 0
    while tried < AT_BOUND and fits < 1.0:
        found = replay(estimate.parameters({name: part}, less))
        tried += 1
        if found.deficit_share <= base.deficit_share + SMALL_DEFICIT:
            differing |= base.differs(found)
            fits = part
        else:
            too_far = part
        part = (fits + too_far) / 2
    return (differing if fits else base.differs(found)), tried


def _in_order(names: set[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in CATEGORIES if name in names)


def replayer(
    program: Program, *, asynchronous_progress: bool, matched: bool = False
) -> Callable[[ReplayParameters], Replayed]:
    """Splits the middle of a program, `REPLAYED` messages, under any machine, and sums; in one thread, several may.

    Always under the whole model: a machine is the same whichever model the messages are then split under.
    """
    middle = program.excerpt(REPLAYED)
    causes = Causes(middle, 1)

    def replay(parameters: ReplayParameters) -> Replayed:
        native = native_parameters(parameters, asynchronous_progress=asynchronous_progress)
        native.library = codes_of({"synchronous_sends": "match"} if matched else {})
        analysis = Analysis(middle, native, 1, causes=causes)
        parts = dict.fromkeys(PARTS, 0)
        deficits = []
        while (batch := analysis.next_messages(ROWS)) is not None:
            columns: Mapping[str, Any] = batch
            for part in PARTS:
                parts[part] += exact_sum(columns[f"{part}_ps"])
            deficits.append(batch["deficit_ps"])
        lacking = np.concatenate(deficits) if deficits else np.zeros(0, dtype=np.int64)
        accounting = analysis.accounting()
        sums = np.bincount(accounting["category"], weights=accounting["exposed_ps"], minlength=len(CATEGORIES))
        exposed = {name: int(sums[code]) for code, name in enumerate(categories()) if name != "compute"}
        some = lacking[lacking > 0]
        return Replayed(
            parts,
            exposed,
            exact_sum(lacking),
            float(np.quantile(some, 0.9)) if some.size else 0.0,
        )

    return replay
