"""o(n) and T(n) over the message size, as LogGP values per size range.

    o_s(n) = o_s + o_s_per_byte n ;  o_r(n) = o_r + o_r_per_byte n ;  T(n) = T0 + T1 n      in each range of sizes
    T(n) = o_s(n) + L + (n - 1) G + o_r(n)   =>   G = T1 - o_s_per_byte - o_r_per_byte
                                                  L = T0 - o_s - o_r + G
    rendezvous: k crossings, k - 1 control messages of o_c, o_s of the smallest messages
    T(n) = o_s(n) + k L + (k - 1) o_c + (n - 1) G + o_r(n)   =>   L = (T0 - o_s - (k - 1) o_c - o_r + G) / k

One division into ranges serves the three curves; a range begins where lines through all three save most, and always
at the switch from eager to rendezvous, because there the protocol is another one.

A rendezvous is received by waiting for it: the time in MPI_Recv holds the transfer, and is not separable from an
overhead. Above the switch o_r is therefore that of the smallest messages. L is one crossing of the network there, too:
the request, the clear-to-send and the data cross it (k = 3), as the replay engine splits a rendezvous; where the
network matches both ends only the data do (k = 1).

What the fits say and no machine does is refused, and the rest of the range is fitted again without it:
  T(n) of no time: that size is left out;
  o(n) that falls with n: a constant is fitted;
  an intercept that is not positive: that of the range before holds, and only the slope is fitted;
  T(n) whose intercept is not positive: L of the range before holds (0 in the first), and only the slope is fitted;
  L below zero, beyond its interval: both ends work at the same time, so L is zero and o_r what o_s does not cover;
  G below zero, beyond its interval: both ends copy at the same time (o_s(n) + o_r(n) grows faster than T(n)), so only
  what the sender does not cover counts as the receiver's cost per byte, and G is zero. T(n) is kept either way.

Symbols: n bytes; times in s, per byte in s/B. Source: LOGP 4.1 and 4.2; LogGP as in LOG3P section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from logpost.errors import InputError
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.fits import FloatArray, Line, constant, line, segments, through
from logpost.machines.calibration.refusal import MICROSECONDS, NANOSECONDS, Refusal, refuse

FLOOR = 0.03
"""Bends below three per cent are not worth a range: a LogGP line is no better than that anywhere."""
UNSURE = 0.2
"""A slope whose interval holds zero is one only where it changes o(n) by more than this over the range."""
LEAST_POINTS = 3
"""Of a line: two have no error."""
MOST_RANGES = 4
"""Of sizes: a choice, two of each protocol."""

HANDSHAKE = 3
"""Crossings of the network by a rendezvous: request, clear-to-send, data."""

Curve = Mapping[int, Estimate]
"""Size in bytes -> time."""


@dataclass(frozen=True)
class SizeRange:
    """LogGP values of messages from `first_bytes` up to `up_to_bytes` (None: of any larger size).

    A value that is refused and has no substitute is None. `notes`: value -> how it was obtained, where not by the fit.
    """

    first_bytes: int
    up_to_bytes: int | None
    o_s: Estimate | None
    o_s_per_byte: Estimate | None
    o_r: Estimate | None
    o_r_per_byte: Estimate | None
    L: Estimate | None
    G: Estimate | None
    total: Line
    """T(n) of the range, as it was fitted."""
    notes: Mapping[str, str]
    crossings: int = 1
    """Of the network, by one message."""
    o_c: Estimate | None = None
    """Of a control message, one less than crossings."""

    def time(self, size: float) -> float:
        """o_s(n) + k L + (k - 1) o_c + (n - 1) G + o_r(n); what is None counts as zero."""
        per_byte = _number(self.o_s_per_byte) + _number(self.o_r_per_byte)
        crossing = self.crossings * _number(self.L) + (self.crossings - 1) * _number(self.o_c)
        fixed = _number(self.o_s) + crossing + _number(self.o_r)
        return fixed + per_byte * size + max(size - 1.0, 0.0) * _number(self.G)


def size_ranges(
    send: Curve,
    receive: Curve,
    one_way: Curve,
    *,
    place: str,
    switch: int | None = None,
    crossings: int = HANDSHAKE,
) -> tuple[list[SizeRange], list[Refusal]]:
    """Ranges and refusals of one locality class.

    `switch` is the eager limit in bytes, `crossings` those of a rendezvous.
    Raises InputError when fewer than three sizes have o_s(n), o_r(n) and T(n).
    """
    refused: list[Refusal] = []
    sizes = []
    for n in sorted(set(send) & set(receive) & set(one_way)):
        if one_way[n].value > 0.0:
            sizes.append(n)
            continue
        reason = "a message cannot have no duration; the size is left out"
        refused.append(refuse(f"{place}.T ({n} B)", one_way[n], "us", reason, factor=MICROSECONDS))
    if len(sizes) < LEAST_POINTS:
        raise InputError(
            f"{place}: o_s(n), o_r(n) and T(n) share {len(sizes)} sizes; a line over sizes needs {LEAST_POINTS}"
        )
    found: list[SizeRange] = []
    parts = _divide(sizes, (send, receive, one_way), switch)
    for number, part in enumerate(parts):
        end = None if number == len(parts) - 1 else _end(part[-1], parts[number + 1][0], switch)
        here = place if end is None and number == 0 else f"{place}[{number}]"
        rendezvous = switch is not None and part[0] > switch
        found.append(_range(part, end, send, receive, one_way, here, found, crossings if rendezvous else 0, refused))
    return found, refused


def _divide(sizes: list[int], curves: tuple[Curve, ...], switch: int | None) -> list[list[int]]:
    """The sizes of each range. The protocol's switch divides first, then each side by fitting."""
    sides = [sizes]
    if switch is not None:
        sides = [side for side in ([n for n in sizes if n <= switch], [n for n in sizes if n > switch]) if side]
    parts: list[list[int]] = []
    for side in sides:
        if len(side) < LEAST_POINTS:
            parts.append(side)
            continue
        x = np.array(side, dtype=np.float64)
        fitted = segments(
            [(x, [curve[n] for n in side]) for curve in curves], least=LEAST_POINTS, most=MOST_RANGES, floor=FLOOR
        )
        parts += [side[first:end] for first, end in fitted]
    # A side of one size has no separate line: it belongs to its neighbour.
    for number in range(len(parts) - 1, -1, -1):
        if len(parts[number]) < 2 and len(parts) > 1:
            lonely = parts.pop(number)
            if number > 0:
                parts[number - 1] = parts[number - 1] + lonely
            else:
                parts[0] = lonely + parts[0]
    return parts


def _end(last: int, following: int, switch: int | None) -> int:
    """Where a range ends: at the switch when that lies between the two sizes, else with its last size."""
    return switch if switch is not None and last <= switch < following else last


def _range(
    sizes: list[int],
    end: int | None,
    send: Curve,
    receive: Curve,
    one_way: Curve,
    place: str,
    smaller: list[SizeRange],
    rendezvous: int,
    refused: list[Refusal],
) -> SizeRange:
    """`rendezvous`: its crossings, 0 where these sizes are eager."""
    x = np.array(sizes, dtype=np.float64)
    notes: dict[str, str] = {}
    before = smaller[-1] if smaller else None
    o_s, o_s_per_byte = _overhead(
        x, [send[n] for n in sizes], f"{place}.o_s", before.o_s if before else None, notes, refused
    )
    if rendezvous and smaller:
        o_r, o_r_per_byte = smaller[0].o_r, None
        notes["o_r"] = "as of the smallest messages: the receive of a rendezvous holds the transfer"
    else:
        o_r, o_r_per_byte = _overhead(
            x, [receive[n] for n in sizes], f"{place}.o_r", before.o_r if before else None, notes, refused
        )
    times = [one_way[n] for n in sizes]
    crossings = max(rendezvous, 1)
    o_c = smaller[0].o_s if smaller else o_s
    control = (o_c or Estimate(0.0, 0.0)).scaled(crossings - 1)
    fixed, per_byte = _sum(o_s, o_r) + control, _sum(o_s_per_byte, o_r_per_byte)
    total = line(x, times, floor=FLOOR)
    # G takes part in L with one byte only; its error compared with those of T0 and o is not worth a covariance.
    G = total.slope - per_byte
    L = (total.intercept - fixed).shifted(max(G.value, 0.0)).scaled(1.0 / crossings)
    if L.value <= 0.0:
        reason = "T(n) extrapolated to no bytes is shorter than o_s + o_r"
        if total.intercept.value <= 0.0:
            last = before.L if before is not None else None
            instead = last or Estimate(0.0, 0.0)
            holds = "L of the range before holds" if last else "L is 0"
            refused.append(
                refuse(
                    f"{place}.L",
                    L,
                    "us",
                    f"{reason}; {holds}, and the slope is fitted again",
                    factor=MICROSECONDS,
                )
            )
            notes["L"] = f"{'that of the range before' if last else '0'}: T(n) of these sizes has no positive intercept"
            total = through(x, times, fixed + instead.scaled(crossings), floor=FLOOR)
            G = total.slope - per_byte
            L = instead
        elif L.high >= 0.0:
            notes["L"] = "o_s and o_r account for all of T(n) at no bytes; the fit's L is not above zero"
            L = Estimate(0.0, L.high, L.samples)
        else:
            reason += "; both ends work at the same time, so L is 0 and o_r what o_s does not cover"
            refused.append(refuse(f"{place}.L", L, "us", reason, factor=MICROSECONDS))
            o_r = total.intercept - (o_s or Estimate(0.0, 0.0)) - control
            notes["o_r"] = "T(n) at no bytes, less o_s: what the send does not cover"
            notes["L"] = "o_s and o_r account for all of T(n) at no bytes"
            L = Estimate(0.0, 0.0, L.samples)
            if o_r.value <= 0.0:
                o_s, o_r = total.intercept - control, Estimate(0.0, max(o_r.high, 0.0), o_r.samples)
                o_s = o_s if o_s.value >= 0.0 else Estimate(0.0, max(o_s.high, 0.0), o_s.samples)
                notes["o_s"] = "T(n) at no bytes: the send alone is longer than the transfer that it is part of"
                notes["o_r"] = "nothing of T(n) at no bytes is left after o_s"
    if G.value < 0.0:
        if G.high < 0.0:
            reason = "o_s(n) + o_r(n) grows faster than T(n): both ends copy at the same time, so G is 0 here"
            refused.append(refuse(f"{place}.G", G, "ns/B", reason, factor=NANOSECONDS))
            o_s_per_byte, o_r_per_byte = _exposed(total.slope, o_s_per_byte, notes)
        notes.setdefault("G", "o_s(n) and o_r(n) account for all of T(n)'s growth; the fit's G is not above zero")
        G = Estimate(0.0, max(G.high, 0.0), G.samples)
    if crossings > 1:
        notes.setdefault("L", f"1/{crossings} of T(n) at no bytes, less o_s, o_r and {crossings - 1} control messages")
    return SizeRange(sizes[0], end, o_s, o_s_per_byte, o_r, o_r_per_byte, L, G, total, notes, crossings, o_c)


def _overhead(
    x: FloatArray,
    y: list[Estimate],
    place: str,
    before: Estimate | None,
    notes: dict[str, str],
    refused: list[Refusal],
) -> tuple[Estimate | None, Estimate | None]:
    """Intercept and slope of o(n); the slope is None where o(n) is constant."""
    name = place.rsplit(".", 1)[1]
    fitted = line(x, y, floor=FLOOR)
    level = constant(y, floor=FLOOR)
    growth = abs(fitted.slope.value) * float(x.max() - x.min()) / level.value if level.value > 0.0 else 0.0
    # Constant: a slope that changes nothing worth naming, or little and that not for sure.
    flat = growth < FLOOR or (growth < UNSURE and fitted.slope.low <= 0.0 <= fitted.slope.high)
    if fitted.slope.value <= 0.0 or flat:
        if fitted.slope.high < 0.0 and not flat:
            reason = "an overhead cannot fall with the size; the mean over the range holds"
            refused.append(refuse(f"{place}_per_byte", fitted.slope, "ns/B", reason, factor=NANOSECONDS))
        return _kept(level, place, refused), None
    if fitted.intercept.value <= 0.0:
        instead = before if before is not None else y[0]
        reason = "an overhead has a positive part at no bytes; that of the smaller messages holds"
        refused.append(refuse(place, fitted.intercept, "us", reason, factor=MICROSECONDS))
        notes[name] = "that of the smaller messages: the line through these sizes has no positive intercept"
        fitted = through(x, y, instead, floor=FLOOR)
        if fitted.slope.value <= 0.0:
            return _kept(level, place, refused), None
    return fitted.intercept, fitted.slope


def _kept(level: Estimate, place: str, refused: list[Refusal]) -> Estimate | None:
    if level.value >= 0.0:
        return level
    refused.append(refuse(place, level, "us", "an overhead cannot be below zero", factor=MICROSECONDS))
    return None


def _exposed(
    slope: Estimate, o_s_per_byte: Estimate | None, notes: dict[str, str]
) -> tuple[Estimate | None, Estimate | None]:
    """Costs per byte that add up to the slope of T(n): the sender's first, then what is left for the receiver."""
    if slope.value <= 0.0:
        notes["G"] = "T(n) does not grow over these sizes"
        return None, None
    note = "T(n)'s slope less o_s_per_byte: what the sender's copy does not cover"
    if o_s_per_byte is None:
        notes["o_r_per_byte"] = note
        return None, slope
    rest = slope - o_s_per_byte
    if rest.value > 0.0:
        notes["o_r_per_byte"] = note
        return o_s_per_byte, rest
    notes["o_s_per_byte"] = "T(n)'s slope: the send alone grows faster than the transfer that it is part of"
    return replace(slope), None


def _sum(a: Estimate | None, b: Estimate | None) -> Estimate:
    zero = Estimate(0.0, 0.0)
    return (a or zero) + (b or zero)


def _number(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.value
