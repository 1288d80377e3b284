"""Overlap advice (Iancu and Strohmaier): into which messages to part each nonblocking exchange, and how many at a time.

An exchange is a call that completes receives which were posted before it. Its data of V bytes a message could arrive in
N = V/S messages of S, started b at a time, and the work behind the wait could be done piece by piece as they arrive.
Admissible are N = 2, 4, ... 64, and of the b below the queue depth HD, with b S within what may be outstanding, the one
of the least o(S, b), the longest of equals. Each is replayed; the one that gains most is advised.

A replay of the recorded calls in which, at each exchange of a region,

- all of the work behind the wait but its last piece is before it, behind the first piece's time in flight;
- each message more costs o(S, b), half of it at the send and half at the wait.

As far as each piece of work needs its piece of the data alone: the author knows. The upper end of the gain is without
the pieces' costs. OVL's own search (`replay.models.overlap_search`) describes exchanges that overlap perfectly and
alone; a replay also knows which rank waits for which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.cures.offered import column, program_of
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.predict.whatif.scaling import regions
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.errors import InputError
from logpost.machines import LOCALITIES, Machine, load_machine
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.overlap_profile import OverlapProfile
from logpost.replay.models.overlap_search import BURSTS
from logpost.replay.predict.machine_values.overlap import profile_of

Rows = npt.NDArray[np.int64]
PIECES = (2, 4, 8, 16, 32, 64)
"""Messages that an exchange's message is parted into: more cost overheads and leave a piece of work of 1 %."""


@dataclass(frozen=True)
class OverlapAdvice:
    """The exchanges of one region. Times in ps."""

    region: str
    exchanges: int
    """calls that complete them"""
    bytes: int
    """V: of a message, the median"""
    work_ps: float
    """behind the wait, for each message, the median"""
    wait_ps: float
    """mean"""
    pieces: int
    """N; 1: it should stay whole"""
    burst: int
    """b"""
    gain: tuple[float, float]
    """fractions of the run: with what the pieces cost, and without"""
    reason: str
    """why it should stay whole; empty: it should not"""

    @property
    def size(self) -> float:
        """S"""
        return self.bytes / self.pieces


def overlap_advice(run: Run) -> list[OverlapAdvice]:
    """Advice for every region with nonblocking exchanges, the largest gain first.

    Raises:
        InputError: there are none.
    """
    evidence = Evidence({name: run.table(name) for name in TABLES if name != "findings"}, run.manifest, run=run)
    program = program_of(evidence)
    machine = load_machine(run.machine_file)
    found = []
    if program is not None:
        found = [_advised(program, machine, run, region, calls) for region, calls in _exchanges(program, run)]
    if not found:
        raise InputError(
            f"{run.path}: no call completes receives that were posted before it: there is no nonblocking exchange to "
            "part"
        )
    return sorted(found, key=lambda one: (-one.gain[0], one.region))


def _exchanges(program: Program, run: Run) -> Iterator[tuple[str, Rows]]:
    """Regions, and the calls in them that complete posted receives."""
    messages = program.messages
    posted = messages.post_call != messages.received_call
    some = np.bincount(messages.received_call[posted], minlength=program.count)
    all_of = np.bincount(messages.received_call, minlength=program.count)
    calls = np.flatnonzero((some > 0) & (some == all_of))
    where = dict(regions(run).iter_rows())
    names = np.asarray([where[path] for path in program.callpath[calls].tolist()], dtype=np.str_)
    for name in np.unique(names).tolist():
        yield name, calls[names == name]


def _advised(program: Program, machine: Machine, run: Run, region: str, calls: Rows) -> OverlapAdvice:
    messages = program.messages
    mine = np.flatnonzero(np.isin(messages.received_call, calls))
    size = int(np.median(messages.bytes[mine]))
    count = np.bincount(messages.received_call[mine], minlength=program.count)[calls]
    after = np.minimum(calls + 1, program.count - 1)
    behind = np.where(program.location[after] == program.location[calls], program.gap_ps[after], 0)
    work = float(np.median(behind / count))
    whole = OverlapAdvice(
        region=region,
        exchanges=len(calls),
        bytes=size,
        work_ps=work,
        wait_ps=float((program.leave_ps - program.enter_ps - program.own_ps)[calls].mean()),
        pieces=1,
        burst=1,
        gain=(0.0, 0.0),
        reason="no work follows the wait",
    )
    if work <= 0:
        return whole
    try:
        profile = profile_of(machine, _locality(run, region))
        costs = [(pieces, *_cost(profile, size / pieces, pieces)) for pieces in PIECES if pieces <= size]
    except ModelError as error:
        return replace(whole, reason=str(error))
    best = whole
    for pieces, burst, o, first in costs:
        gain = program.gain(_parted(program, calls, mine, pieces, o, first))
        if gain > best.gain[0]:
            best = replace(whole, pieces=pieces, burst=burst, gain=(gain, gain), reason="")
    if best is whole:
        return replace(whole, reason="parts cost more than they hide")
    free = program.gain(_parted(program, calls, mine, best.pieces, 0.0, 0.0))
    return replace(best, gain=(best.gain[0], max(free, best.gain[0])))


def _locality(run: Run, region: str) -> str:
    """The farthest that its messages go."""
    places = regions(run).lazy().filter(pl.col("region") == region)
    rows = run.table("messages").join(places, left_on="recv_callpath", right_on="callpath", how="semi")
    found = set(rows.select(pl.col("locality").cast(pl.String).unique()).collect()["locality"].to_list())
    return next((one for one in reversed(LOCALITIES) if one in found), "other_node")


def _cost(profile: OverlapProfile, size: float, pieces: int) -> tuple[int, float, float]:
    """b, o(S, b) of a message, and the first one's time in flight."""
    bursts = [
        b for b in BURSTS if b <= pieces and (b == 1 or (b < profile.HD and b * size <= profile.outstanding_bytes))
    ]
    burst = min(bursts, key=lambda b: (float(profile.o(size, b)), -b))
    o = float(profile.o(size, burst))
    return burst, o, o + float(profile.L("put", size)) + size * float(profile.G(2, size))


def _parted(program: Program, calls: Rows, messages: Rows, pieces: int, o: float, first: float) -> Transformation:
    """The exchanges with their messages in pieces: work moves before the wait, and pieces cost o and a first way."""
    calls = calls[calls + 1 < program.count]
    calls = calls[program.follows[calls + 1]]
    behind = program.gap_ps[calls + 1]
    moved = behind - behind // pieces
    longer, shorter = column(program.count, 0), column(program.messages.count, 0)
    longer[calls] += moved + np.where(behind > 0, np.maximum(0, round(first) - program.gap_ps[calls]), 0)
    longer[calls + 1] -= moved
    mine = messages[np.isin(program.messages.received_call[messages], calls)]
    starts, ends = program.messages.send_call[mine], program.messages.received_call[mine]
    # Whatever the machine says: a message is there as long behind its start as it was.
    lasts = column(program.count)
    lasts[calls] = 0
    more = round((pieces - 1) * o / 2)
    shorter[mine] = -more
    takes = program.leave_ps[ends] - program.enter_ps[starts] + more
    arrives = (2 * starts.astype(np.int64), 2 * ends.astype(np.int64) + 1, takes)
    return Transformation(longer_ps=longer, lasts_ps=lasts, shorter_send_ps=shorter, edges=(arrives,))
