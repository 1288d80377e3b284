"""LOGP's signature, read by fits instead of by eye: o_s, o_r, g and L from cost(M, Delta) and the round trip.

With T(M, Delta) = M cost(M, Delta), the time of a whole burst, each regime of the signature is a straight line:

    send-only      T = c0 + (o_s + Delta) M           until the first replies come back
    transition     replies are handled on the side
    steady state   T = c1 + s(Delta) M                s(Delta) = max(g, o_s + o_r + Delta)

    o_s = slope of the send-only line at Delta = 0
    g, c = o_s + o_r: the flat and the rising part of s(Delta), split where both fit best
    o_r = c - o_s ;  L = RTT/2 - c

The slopes are what the paper reads off as the first points and the asymptote: cost(M) approaches the asymptote only
as 1/M, its slope is there as soon as the steady state is, and a constant cost of timing stays in c0.

Where every Delta raises the cost, the processor is the bottleneck: g cannot be seen below o_s + o_r (LOGP section 5,
RPC), and where round trips are long the window of unanswered requests is. A stream in one direction has neither:

    r = max(g, o_s, o_r)      time per message of a stream

r above both overheads is g; else g is at most r, and may be 0. Where no stream was measured, g is that of the requests.

Symbols: M requests in a burst, Delta computation between them (s), o_s o_r overheads (s), g gap (s), L latency (s), RTT
round trip (s). Source: Culler et al., LOGP sections 3.1 to 3.3 and 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from logpost.errors import InputError
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.fits import Line, constant, line, scatter, segments
from logpost.machines.calibration.refusal import MICROSECONDS, Refusal, refuse

FLOOR = 0.003
"""Smallest relative error of a point: a bend below it explains nothing."""
VISIBLE = 4.0
"""chi^2 that a separate gap must save before it is distinguished from o_s + o_r (95 % for one parameter)."""


@dataclass(frozen=True)
class CostPoint:
    """One measured point: M, Delta and the average time per message of the burst."""

    burst: int
    delta_s: float
    cost: Estimate


@dataclass(frozen=True)
class Curve:
    """cost(M) at one Delta, with the lines of its first and its last regime and where these begin and end."""

    delta_s: float
    bursts: tuple[int, ...]
    costs: tuple[Estimate, ...]
    send_only: Line
    send_only_until: int
    steady: Line
    steady_from: int


@dataclass(frozen=True)
class Signature:
    """What the signature of one message size says; None where it is refused."""

    curves: tuple[Curve, ...]
    o_s: Estimate | None
    o_r: Estimate | None
    g: Estimate | None
    L: Estimate | None
    overhead_limited: bool
    """The requests do not show the gap: the processor is busy for longer than the network."""
    streamed: bool
    """g is that of a stream, or bounded by it."""
    bounded: bool
    """Nor does a stream: the interval of g reaches from 0 to the time per message of a stream."""
    refused: tuple[Refusal, ...]


def extract(
    points: Sequence[CostPoint], round_trip: Estimate | None, *, place: str, stream: Estimate | None = None
) -> Signature:
    """Read a signature. `place` is the place of its values in the machine file, for the refusals; `stream` is r.

    Raises InputError when Delta = 0 is missing or a curve has fewer than four bursts.
    """
    curves = tuple(_curve(delta, found) for delta, found in sorted(_by_delta(points).items()))
    if not curves or curves[0].delta_s != 0.0:
        raise InputError(f"{place}: the signature has no curve with Delta = 0; measure it again")
    refused: list[Refusal] = []
    sending = curves[0].send_only.slope
    o_s = _positive(sending, f"{place}.o_s", "a send cannot cost nothing or less", refused)
    steady = [curve.steady.slope for curve in curves]
    g, both, limited = _flat_then_rising([curve.delta_s for curve in curves], steady)
    o_r = latency = None
    if both is None:
        largest = curves[-1].delta_s
        refused.append(
            refuse(
                f"{place}.o_r",
                steady[-1].shifted(-largest) - sending,
                "us",
                f"Delta = {largest * MICROSECONDS:.3g} us does not raise the cost above g; take a larger Delta",
                factor=MICROSECONDS,
            )
        )
    else:
        reason = "g' - Delta is not above o_s: handling a reply cannot cost nothing or less"
        o_r = _positive(both - sending, f"{place}.o_r", reason, refused)
        if round_trip is not None:
            reason = "half of the round trip is shorter than o_s + o_r"
            latency = _positive(round_trip.scaled(0.5) - both, f"{place}.L", reason, refused)
    seen = True
    if stream is not None:
        g = stream
        seen = all(o is not None and stream.low > o.high for o in (o_s, o_r))
    reason = "messages cannot follow each other in no time"
    g_kept = _positive(g, f"{place}.g", reason, refused)
    if g_kept is not None and not seen:
        g_kept = Estimate(0.0, g_kept.high, g_kept.samples)
    return Signature(curves, o_s, o_r, g_kept, latency, limited, g is stream, not seen, tuple(refused))


def _by_delta(points: Sequence[CostPoint]) -> Mapping[float, list[CostPoint]]:
    found: dict[float, list[CostPoint]] = {}
    for point in points:
        found.setdefault(point.delta_s, []).append(point)
    return found


def _curve(delta: float, points: Sequence[CostPoint]) -> Curve:
    at = sorted(points, key=lambda point: point.burst)
    if len({point.burst for point in at}) < 4:
        raise InputError(
            f"Delta = {delta * MICROSECONDS:.3g} us has {len(at)} bursts; the regimes of a signature need 4"
        )
    bursts = np.array([point.burst for point in at], dtype=np.float64)
    times = [point.cost.scaled(point.burst) for point in at]
    found = segments([(bursts, times)], least=2, most=4, floor=FLOOR)
    (first, until), (start, end) = found[0], found[-1]
    return Curve(
        delta_s=delta,
        bursts=tuple(point.burst for point in at),
        costs=tuple(point.cost for point in at),
        send_only=line(bursts[first:until], times[first:until], floor=FLOOR),
        send_only_until=int(bursts[until - 1]),
        steady=line(bursts[start:end], times[start:end], floor=FLOOR),
        steady_from=int(bursts[start]),
    )


def _flat_then_rising(deltas: Sequence[float], steady: Sequence[Estimate]) -> tuple[Estimate, Estimate | None, bool]:
    """g, o_s + o_r and whether the gap is hidden, from s(Delta) = max(g, o_s + o_r + Delta).

    o_s + o_r is None where no Delta raises the cost.
    """
    rising = [s.shifted(-delta) for delta, s in zip(deltas, steady, strict=True)]
    n = len(steady)
    sigma = scatter(steady, FLOOR)
    costs = np.array([s.value for s in steady])

    def fit(k: int) -> tuple[float, Estimate | None, Estimate | None]:
        """chi^2 of the whole model when the first k Deltas make the flat part, and g and o_s + o_r then."""
        g = constant(steady[:k], floor=FLOOR) if k else None
        both = constant(rising[k:]) if k < n else None
        model = np.maximum(g.value if g else -np.inf, (both.value if both else -np.inf) + np.asarray(deltas))
        return float((((costs - model) / sigma) ** 2).sum()), g, both

    fits = [fit(k) for k in range(n + 1)]
    best = min(chi2 for chi2, _, _ in fits)
    for k in (n, 0, *range(1, n)):
        chi2, g, both = fits[k]
        # All flat, then all rising, are believed before a bend that saves nothing.
        if chi2 < best + VISIBLE if k in (0, n) else chi2 == best:
            break
    if g is None:
        assert both is not None
        return both, both, True
    return g, both, False


def _positive(found: Estimate, place: str, reason: str, refused: list[Refusal]) -> Estimate | None:
    if found.value > 0.0:
        return found
    refused.append(refuse(place, found, "us", reason, factor=MICROSECONDS))
    return None
