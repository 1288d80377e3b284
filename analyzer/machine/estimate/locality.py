"""One locality class: which of its parameters the trace measures, and which it only bounds.

    o_s  from sends that returned at once, o_r from receives that found their message;
    S(B) = o_s + L + (B - 1) G + o_r  from messages that no other message delayed, and that a receiver waited for;
    G    from S over sizes;
    g    from messages that queued behind another of their sender, where their bytes cannot explain the spacing;
    L    what S leaves.

Whatever else a message met only made it longer, so that every message bounds S from above, and with it every parameter;
g and G are bounded by bursts, too, and G by collective operations. What nothing measured is an interval from 0 to its
bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from logpost.analyzer.machine.estimate.interval import Interval, bounded, measured
from logpost.analyzer.machine.estimate.lines import Column, Group, Lines, Point, Sizes, Times, groups, lines, point
from logpost.machines import RangeValues
from logpost.machines.parameters import UNLIMITED

Samples = Mapping[str, Any]
"""`replay.columns.Samples`."""

MIN_LATE = 5
"""Sends of a size that must end after their receive was posted, or for a side that was away, before the size counts
as rendezvous."""
SHORT_CALL = 1 / 3
"""A call shorter than this part of an undisturbed message cannot have waited for a handshake: a blocking rendezvous
spends two of its three crossings in the send."""
ENDS = ("low", "value", "high")
TOTAL = "L + o_s + o_r"
"""The name of the duration of a message without data."""
FREE = ("o_s", "o_r", "g", "G")
"""Parameters whose time may be part of L."""


@dataclass(frozen=True)
class ClassEstimate:
    """What the trace says of one class. `whole` are S's upper bounds by size: (B - 1, ps)."""

    limit: int | None
    """the largest size that is eager, in bytes; None: nothing shows a rendezvous"""
    proven: int
    """the largest size that is known to be eager, in bytes"""
    largest: int
    """bytes of the largest message"""
    o_s: Interval
    o_s_per_byte: Interval
    o_r: Interval
    o_r_per_byte: Interval
    g: Interval
    G: Interval
    L: Interval
    total: Interval
    """L + o_s + o_r"""
    undisturbed: bool
    """undisturbed messages measured the duration of a message, of every size or as a line over sizes"""
    whole: tuple[tuple[float, float], ...]
    n: int

    def ranges(self, take: Mapping[str, float] | None = None, less: float = 0.0) -> tuple[RangeValues, ...]:
        """The values for the split.

        Args:
            take: by parameter that nothing measured: the part of its bound that it gets, 0 to 1, at the cost of L.
            less: ps that the queues of a replay leave L shorter.
        """
        value = {name: getattr(self, name).value for name in FREE}
        for name, part in (take or {}).items():
            known: Interval = getattr(self, name)
            if known.bound_only:
                value[name] = known.low + part * (known.high - known.low)
        rest = self.total.value
        if self.total.bound_only:
            rest = min((time - value["G"] * x for x, time in self.whole), default=0.0)
        latency = max(0.0, rest - value["o_s"] - value["o_r"] - less)
        if not self.L.bound_only and not take and not less:
            latency = self.L.value
        given = RangeValues(
            max_bytes=UNLIMITED,
            L_ps=latency,
            o_s_ps=value["o_s"],
            o_r_ps=value["o_r"],
            g_ps=value["g"],
            G_ps_per_byte=value["G"],
            o_s_ps_per_byte=self.o_s_per_byte.value,
            o_r_ps_per_byte=self.o_r_per_byte.value,
        )
        return (given,)

    @property
    def stated(self) -> dict[str, Interval]:
        """Every parameter and its interval."""
        names = ("L", "o_s", "o_s_per_byte", "o_r", "o_r_per_byte", "g", "G")
        return {name: getattr(self, name) for name in names} | {TOTAL: self.total}


def estimate_class(samples: Samples, tick_ps: float, noise_ps: float, *, matched: bool = False) -> ClassEstimate | None:
    """One class's estimate; None where the trace has no message of it that identifies a parameter.

    Args:
        samples: of the class.
        tick_ps: the clock's step.
        noise_ps: what clock and machine add to any time.
        matched: a rendezvous crosses once.
    """
    whole = groups(samples["whole"])
    if not whole:
        return None
    return _Class(samples, whole, 2 * tick_ps + 2 * noise_ps, 1 if matched else 3).estimate()


class _Class:
    def __init__(self, samples: Samples, whole: list[Group], slop: float, crossings: int) -> None:
        self.samples = samples
        self.crossings = crossings
        # A time is the difference of two stamps. Both err, and a clock that must not run backwards shifts those that
        # follow each other closely by as much again.
        self.slop = slop
        self.proven = self._proven()
        unanswered = self._unanswered()
        late = int((samples["late_complete"][0] > self.proven).sum())
        self.limit = self.proven if late >= MIN_LATE or unanswered.any() else None
        if unanswered.any():
            sizes, times = samples["whole"]
            announced, rest = samples["unanswered"][0][unanswered], samples["unanswered_rest"][unanswered]
            whole = groups((np.concatenate([sizes, announced]), np.concatenate([times, rest])))
        self.shortest = _Shortest(whole)
        self.bounds = tuple((max(0.0, g.smallest - 1), g.shortest + self.slop) for g in whole)
        self.most = min(time for _, time in self.bounds)
        """that a message without data can take"""
        self.n = int(samples["whole"][0].size)

    def estimate(self) -> ClassEstimate:
        o_s, o_s_per_byte = self._o_s()
        o_r, o_r_per_byte = self._o_r()
        spacing = self._spacing(o_r)
        burst = self._bursts() + [(p.high, x) for x, p in spacing]
        eager, handshake = self._eager(), self._handshake()
        G = self._G(eager, handshake, (o_s_per_byte, o_r_per_byte), burst)
        total = self._total(eager, handshake, o_s, o_r)
        three = handshake is not None and (eager is None or not eager.sloped) and not total.bound_only
        L = self._L(total, o_s, o_r, self._crossing(handshake, o_s, o_r) if handshake is not None and three else None)
        g = self._g(spacing, burst, G)
        largest = int(self.samples["whole"][0].max())
        undisturbed = eager is not None and (eager.sloped or len(self.bounds) == 1) and self.proven >= largest
        undisturbed = undisturbed or not total.bound_only
        return ClassEstimate(
            self.limit,
            self.proven,
            largest,
            o_s,
            o_s_per_byte,
            o_r,
            o_r_per_byte,
            g,
            G,
            L,
            total,
            undisturbed,
            self.bounds,
            self.n,
        )

    def _proven(self) -> int:
        """The largest size in bytes that was sent without a handshake."""
        early = self.samples["early_complete"][0]
        found = int(early.max()) if early.size else 0
        sizes, times = self.samples["send_blocking"]
        for alone in groups(self.samples["undisturbed_blocking"]):
            mine = times[sizes == alone.smallest]
            if mine.size and float(np.median(mine)) < SHORT_CALL * alone.shortest:
                found = max(found, int(alone.smallest))
        return found

    def _unanswered(self) -> npt.NDArray[np.bool_]:
        """By row of `unanswered`: whether the message waited for the answer of a side that was away. None did where too
        few are larger than what is eager, or some ended before the answer."""
        large: npt.NDArray[np.bool_] = self.samples["unanswered"][0] > self.proven
        sure = large.sum() >= MIN_LATE and not (self.samples["answered"][0] > self.proven).any()
        return large if sure else np.zeros(large.size, dtype=np.bool_)

    def _handshake_free(self, sizes: Sizes, times: Times) -> npt.NDArray[np.bool_]:
        """Calls that are too short to contain a handshake, given the duration of an undisturbed message."""
        alone = groups(self.samples["undisturbed_blocking"])
        if not alone:
            return np.zeros(sizes.size, dtype=bool)
        short: npt.NDArray[np.bool_] = times < SHORT_CALL * _Shortest(alone).over(sizes)
        return short & (sizes <= alone[-1].smallest)

    def _witness(self, column: Column, keep: Any, slop: float, before: float = 0.0) -> Lines | None:
        sizes, times = column
        return lines([point(g, slop, before=before) for g in groups((sizes[keep], times[keep]))])

    def _o_s(self) -> tuple[Interval, Interval]:
        once, blocking = self.samples["send_at_once"], self.samples["send_blocking"]
        eager = blocking[0] <= self.proven
        both = (np.concatenate([once[0], blocking[0][eager]]), np.concatenate([once[1], blocking[1][eager]]))
        may_wait = groups((blocking[0][~eager], blocking[1][~eager]))
        longer = [*may_wait, *groups(self.samples["send_among_others"])]
        most = min([self.most, *(g.shortest + self.slop for g in longer)])
        # Of calls that cannot wait the spread is noise, and may be more than that of the class.
        most = min([most, *(g.shortest + max(self.slop, 2 * g.spread) for g in groups(both))])
        found = self._witness(both, slice(None), self.slop)
        if found is None:
            return bounded(most, "no send is known to have returned at once"), self._per_byte("o_s", longer)
        what = f"{found.n} sends that returned at once"
        return self._processor(found, what, most, self._per_byte("o_s", [*longer, *groups(both)]))

    def _o_r(self) -> tuple[Interval, Interval]:
        sizes, times = self.samples["receive"]
        shortest = self.shortest.over(sizes)
        short = self._handshake_free(sizes, times)
        eager = (sizes <= self.proven) | short
        attended = (self.samples["receive_sends"] == 0) | short
        found_it = self.samples["receive_slack"] >= shortest + self.slop
        most = min([self.most, *(g.shortest + self.slop for g in groups((sizes, times)))])
        found = self._witness((sizes, times), eager & attended & found_it, self.slop)
        per_byte = self._per_byte("o_r", groups((sizes, times)))
        if found is None:
            return bounded(most, "no receive is known to have found its message"), per_byte
        return self._processor(found, f"{found.n} receives that found their message", most, per_byte)

    def _per_byte(self, of: str, calls: list[Group]) -> Interval:
        """What a byte costs a processor at most: all of a call, a message or a collective operation may be it."""
        own = [(g.shortest + self.slop, g.smallest) for g in calls]
        whole = [(time, x + 1) for x, time in self.bounds]
        most = min((time / size for time, size in [*own, *whole, *self._collectives()] if size > 0), default=self.most)
        return bounded(most, f"none is assumed without {of} of two sizes")

    @staticmethod
    def _processor(found: Lines, what: str, most: float, per_byte: Interval) -> tuple[Interval, Interval]:
        """A processor's time for a message, and for a byte of it. One size shows their sum there, and of each only that
        it is no more."""
        low, value, high = found.constant
        constant = measured(low, high, value, found.n, what).at_most(most)
        if found.sloped:
            low, value, high = found.slope
            return constant, measured(low, high, value, found.n, what, may_be_none=True)
        if found.at == 0 or constant.bound_only:
            return constant, per_byte
        sum_of_both = (
            f"{what}: with {found.at:.6g} times the value per byte {constant.low:.6g} to {constant.high:.6g} ps"
        )
        slope = bounded(min(per_byte.high, constant.high / found.at), sum_of_both)
        least = max(0.0, constant.low - found.at * slope.high)
        return Interval(least, constant.high, constant.value, found.n, sum_of_both), slope

    def _bursts(self) -> list[tuple[float, float]]:
        """Bounds of max(g, B G) in ps with their sizes in bytes."""
        sizes, times = self.samples["burst"]
        return [(float(g.times[0]) + self.slop, g.smallest) for g in groups((sizes, times))]

    def _collectives(self) -> list[tuple[float, float]]:
        """Bounds of B G in ps with their sizes in bytes: no algorithm brings a member its bytes faster."""
        return [(g.shortest + self.slop, g.smallest) for g in groups(self.samples["collective"])]

    def _spacing(self, o_r: Interval) -> list[tuple[float, Point]]:
        """max(g, B G) by size in bytes: of messages that leave further apart than they were sent, for receivers that
        waited for each of them."""
        sizes, times = self.samples["spacing"]
        queued = times > self.samples["spacing_of_sends"] + self.slop
        waited = self.samples["spacing_calls"] > o_r.high + self.slop
        keep = queued & waited & (sizes <= self.proven)
        return [(g.smallest, point(g, self.slop)) for g in groups((sizes[keep], times[keep])) if g.n >= MIN_LATE]

    def _g(self, spacing: list[tuple[float, Point]], burst: list[tuple[float, float]], G: Interval) -> Interval:
        most = min((time for time, _ in burst), default=self.most)
        for size, found in spacing:
            # Spacing beyond the time of the bytes is g.
            if found.low > size * G.high:
                what = f"{found.n} messages that queued behind another of their sender"
                return measured(found.low, found.high, found.value, found.n, what).at_most(most)
        return bounded(most, "bursts: at most their time per message")

    def _eager(self) -> Lines | None:
        """S of messages that were sent without a handshake."""
        one, other = self.samples["undisturbed_nonblocking"], self.samples["undisturbed_blocking"]
        both = (np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))
        return self._witness(both, both[0] <= self.proven, self.slop, before=1.0)

    def _handshake(self) -> Lines | None:
        """o_s + 3 L + 2 o_control + (B - 1) G + o_r of rendezvous whose sender waited."""
        sizes, times = self.samples["undisturbed_blocking"]
        large = sizes > self.limit if self.limit is not None else np.zeros(sizes.size, dtype=bool)
        always = self.samples["undisturbed_synchronous"]
        both = (np.concatenate([sizes[large], always[0]]), np.concatenate([times[large], always[1]]))
        return self._witness(both, slice(None), self.slop, before=1.0)

    def _G(
        self,
        eager: Lines | None,
        handshake: Lines | None,
        processors: tuple[Interval, Interval],
        burst: list[tuple[float, float]],
    ) -> Interval:
        """The slope of S less what a byte costs both processors. What nothing shows of that remains in it; then G may
        be as much less."""
        most = min(
            [time / x for x, time in self.bounds if x > 0]
            + [time / size for time, size in [*burst, *self._collectives()] if size > 0],
            default=self.most,
        )
        for found in (eager, handshake):
            if found is not None and found.sloped:
                what = f"the size spread of {found.n} undisturbed messages"
                shown = sum(known.value for known in processors)
                low, value, high = (slope - shown for slope in found.slope)
                G = measured(low, high, value, found.n, what).at_most(most)
                hidden = sum(known.high - known.value for known in processors)
                if G.bound_only or hidden == 0:
                    return G
                reason = f"{what}: with what a byte costs both processors {found.slope[0]:.6g} to {found.slope[2]:.6g}"
                return replace(G, low=max(0.0, G.low - hidden), reason=reason)
        return bounded(most, "no undisturbed messages of two sizes")

    def _total(self, eager: Lines | None, handshake: Lines | None, o_s: Interval, o_r: Interval) -> Interval:
        """L + o_s + o_r."""
        found = None
        if eager is not None and eager.sloped:
            low, value, high = eager.constant
            found = measured(low, high, value, eager.n, f"{eager.n} undisturbed messages").at_most(self.most)
        elif handshake is not None and handshake.sloped and not o_s.bound_only and not o_r.bound_only:
            L = self._crossing(handshake, o_s, o_r)
            low, value, high = (getattr(L, end) + getattr(o_s, end) + getattr(o_r, end) for end in ENDS)
            found = measured(low, high, value, handshake.n, L.reason).at_most(self.most)
        if found is not None and not found.bound_only:
            return found
        low = min(self.most, o_s.low + o_r.low)
        most = self.most if eager is None else min(self.most, eager.constant[2])
        reason = "every message queued with others, or was sent late: a bound only"
        return Interval(low, max(low, most), max(low, most), 0, reason)

    def _crossing(self, handshake: Lines, o_s: Interval, o_r: Interval) -> Interval:
        """A third of what a handshake leaves: 3 L + o_s + o_r, and two control messages of o_s, which NICs may answer
        without a processor; all of it where the network matches: L + o_s + o_r."""
        n = self.crossings
        low, value, high = handshake.constant
        return measured(
            (low - n * o_s.high - o_r.high) / n,
            (high - o_s.low - o_r.low) / n,
            (value - n * o_s.value - o_r.value) / n,
            handshake.n,
            f"{handshake.n} undisturbed messages {'with a handshake' if n > 1 else 'that wait for their receivers'}",
        )

    def _L(self, total: Interval, o_s: Interval, o_r: Interval, crossing: Interval | None) -> Interval:
        if crossing is not None:
            return crossing.at_most(self.most)
        low = max(0.0, total.low - o_s.high - o_r.high)
        high = max(0.0, total.high - o_s.low - o_r.low)
        missing = [name for name, known in (("o_s", o_s), ("o_r", o_r)) if known.bound_only]
        if total.bound_only or missing:
            reason = total.reason if total.bound_only else f"{total.reason}, without {' and '.join(missing)}"
            value = min(max(low, total.value - o_s.value - o_r.value), high)
            return Interval(low, high, value, 0, reason)
        return measured(low, high, total.value - o_s.value - o_r.value, total.n, f"{total.reason}, less o_s and o_r")


class _Shortest:
    """The time of the shortest message of a size or larger: it bounds that of a message of this size."""

    def __init__(self, whole: list[Group]) -> None:
        self.sizes = np.array([g.smallest for g in whole])
        times = np.array([g.shortest for g in whole])
        self.times = np.minimum.accumulate(times[::-1])[::-1]

    def at(self, size: float) -> float:
        return float(self.over(np.array([size]))[0])

    def over(self, sizes: Any) -> Any:
        place = np.clip(np.searchsorted(self.sizes, sizes, side="left"), 0, self.sizes.size - 1)
        return self.times[place]


def noise(samples: Samples) -> float:
    """What the clock and the machine add to any time, in ps, as calls of one size show it. Calls of which some wait
    for a rank spread further, so that those count that show least."""
    kinds = (groups(samples[name]) for name in ("send_at_once", "send_blocking", "receive"))
    shown = [[group.noise for group in kind if group.n >= MIN_LATE] for kind in kinds]
    return min((float(np.median(some)) for some in shown if some), default=0.0)
