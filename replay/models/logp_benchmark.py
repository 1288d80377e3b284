"""Culler's LogP micro-benchmark: what it measures, and the parameters read off its signature.

    start; repeat M times { issue a request; compute for Delta }; stop; drain

    cost(M, Delta)  = average time per issue
      M < RTT/o_s, Delta = 0                    -> o_s
      M large, Delta small                      -> g
      M large, Delta > g - o_s - o_r            -> g' = o_s + o_r + Delta
    o_r = g' - Delta - o_s ;  L = RTT/2 - o_s - o_r

    bulk: BW(n) = n/T(n) ;  T(n) = T_0 + n/R_inf ;  overlappable part (T(n) - o(n))/T(n)

Symbols: M requests, Delta computation between requests (time), RTT round trip (time), g' cost with delay
(time), o_s o_r overheads, L latency, g gap; n bytes, R_inf peak rate (bytes per time).

Source: LOGP sections 3.1, 3.2, 4.1, 4.2. The text prints the fitted line once as T_0 + n R_inf; T_0 + n/R_inf
is the one with the right dimension, and the one printed a sentence earlier.

Validity: an o_r or L that comes out negative is refused: then Delta did not raise the cost, or the round trip
belongs to other nodes than the signature. When the first Delta raises the cost already, the CPU is the
bottleneck and g = o_s + o_r (LOGP section 5, RPC).

Where the text disagrees with itself: Paragon's L is 7.5 us once and 6.3 in the summary; RTT/2 - o_s - o_r is 6.35 to
6.45, and 7.5 is Meiko's. Meiko's 7.5 and Myrinet's 11.1 need the largest round trip. Paragon's overhead is printed as
3.7, its parts as 1.4 + 2.2.

Cost: the benchmark is played request by request, for every row: about 3 us a request, M = 1000 costs 3 ms a row. The
extraction is a formula.

Errors: ModelError for an o_r or L that comes out negative, a Delta hidden in the gap, M outside 1..10^6, a T(n) below 0
or below o(n).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import SIZE_SELECTOR, Model, Output, Parameter, row_by_row
from logpost.replay.models.logp import round_trip
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND, TimeUnit

_MOST_REQUESTS = 10**6
"""Played one by one, in a second."""


def steady_state_cost(p: LogGPParameters, delta: NumberLike) -> Number:
    """max(g, o_s + o_r + Delta): the asymptote of the signature for large M."""
    return scalar_or_array(np.maximum(p.g, p.o_s + p.o_r + values("delta", delta)))


def cost(p: LogGPParameters, M: int, delta: float = 0.0, *, window: int | None = None) -> float:
    """cost(M, Delta) of the benchmark, by playing it request by request (scalar parameters).

    A request leaves the bottleneck stage g after the one before it; its reply is back RTT after its
    issue began, or later behind the others; issuing handles the replies that have arrived, o_r each;
    with ``window`` requests outstanding the sender stalls for a reply. The default window,
    ceil(RTT/o_s) + 1, is a network whose capacity is not reached before the first reply.
    """
    if not 1 <= M <= _MOST_REQUESTS:
        raise ModelError(f"M = {M} must be at least 1 and at most {_MOST_REQUESTS}: the benchmark is played by request")
    o_s, o_r, g, L = (float(np.asarray(value)) for value in (p.o_s, p.o_r, p.g, p.L))
    if window is None:
        window = int(np.ceil((2 * o_s + 2 * L + 2 * o_r) / o_s)) + 1 if o_s > 0 else M
    return_time = L + o_r + o_s + L  # wire, handler with its reply, wire
    now = 0.0
    leaves = -float("inf")
    replies: deque[float] = deque()
    for _ in range(M):
        if len(replies) >= window:
            now = max(now, replies.popleft()) + o_r
        now += o_s
        leaves = max(now, leaves + g)
        replies.append(leaves + return_time)
        while replies and replies[0] <= now:
            replies.popleft()
            now += o_r
        now += delta
    return now / M


def extract(
    *, o_s: Number, g: Number, cost_with_delay: Number, delta: Number, rtt: Number, unit: TimeUnit
) -> LogGPParameters:
    """LogP parameters from a signature: first points, asymptote, one point with delay, round trip; or a column of each.

    o_r = g' - Delta - o_s ;  L = RTT/2 - o_s - o_r.

    Raises ModelError when o_r or L comes out negative, with the reason and the times of the first such row.
    """
    o_r = cost_with_delay - delta - o_s
    L = rtt / 2.0 - o_s - o_r
    times = {"o_r": o_r, "delta": delta, "cost": cost_with_delay, "g": g, "L": L, "rtt": rtt}
    _refuse(
        np.asarray(o_r) < 0.0,
        "o_r = g' - Delta - o_s = {o_r} is negative: Delta = {delta} does not raise the cost above o_s + Delta; "
        "take a larger Delta",
        times,
    )
    _refuse(
        (np.asarray(delta) > 0.0) & (np.asarray(cost_with_delay) <= g),
        "g' = {cost} is not above g = {g}: Delta = {delta} is hidden in the gap; take a larger Delta",
        times,
    )
    _refuse(
        np.asarray(L) < 0.0,
        "L = RTT/2 - o_s - o_r = {L} is negative: the round trip {rtt} is too short for o_s + o_r; measure again",
        times,
    )
    return LogGPParameters(L=L, o_s=o_s, o_r=o_r, g=g, unit=unit)


def _refuse(bad: NDArray[np.bool_], text: str, times: Mapping[str, Number]) -> None:
    if bad.any():
        row = np.flatnonzero(bad)[0]
        shown = {name: float(np.broadcast_to(value, bad.shape).ravel()[row]) for name, value in times.items()}
        raise ModelError(text, **shown)


def delivered_bandwidth(n: NumberLike, T: NumberLike) -> Number:
    """BW(n) = n/T(n)."""
    return values("n", n) / values("T", T, above=0.0)


def overlappable_share(o: NumberLike, T: NumberLike) -> Number:
    """(T(n) - o(n))/T(n): the part of a bulk transfer that the processor has to itself."""
    total, overhead = values("T", T, above=0.0), values("o", o)
    if (np.asarray(overhead) > total).any():
        raise ModelError(
            "o(n) is larger than T(n) ({o} at most, {T} at least): the processor cannot be busy for longer than the "
            "transfer lasts; measure both at the same n",
            o=float(np.max(overhead)),
            T=float(np.min(total)),
        )
    return 1.0 - overhead / total


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, float]:
    p = LogGPParameters(**{name: given[name] for name in ("L", "o_s", "o_r", "g")}, unit=SECOND)
    return {
        "cost": cost(p, int(whole("M", given["M"])), given["delta"]),
        "steady": float(np.asarray(steady_state_cost(p, given["delta"]))),
        "RTT": float(np.asarray(round_trip(p))),
    }


MODEL = Model(
    name="logp-benchmark",
    title="LogP micro-benchmark: average cost of M requests with Delta computation between them",
    equations=(
        "M < RTT/o_s: cost = o_s + Delta",
        "M large: cost = max(g, o_s + o_r + Delta)",
        "o_r = g' - Delta - o_s ;  L = RTT/2 - o_s - o_r",
    ),
    source="Culler, Liu, Martin, Yoshikawa: LogP Performance Assessment of Fast Network Interfaces, 3.1-3.2",
    validity="one sender, one receiver; M a whole number; played by request: about 3 us x M for every row",
    parameters=(
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("g", "time", "gap between messages"),
        Parameter("M", "count", "requests issued"),
        Parameter("delta", "time", "computation between requests", default=0.0),
        SIZE_SELECTOR,
    ),
    outputs=(
        Output("cost", "time", "average time per issue"),
        Output("steady", "time", "its asymptote for large M"),
        Output("RTT", "time", "round trip"),
    ),
    evaluate=row_by_row(_evaluate),
)


def _evaluate_extract(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = extract(
        o_s=given["o_s"],
        g=given["g"],
        cost_with_delay=given["cost"],
        delta=given["delta"],
        rtt=given["RTT"],
        unit=SECOND,
    )
    return {"o_r": p.o_r, "L": p.L}


EXTRACT = Model(
    name="logp-extract",
    title="LogP parameters from a micro-benchmark's signature",
    equations=("o_r = g' - Delta - o_s", "L = RTT/2 - o_s - o_r"),
    source="Culler, Liu, Martin, Yoshikawa: LogP Performance Assessment of Fast Network Interfaces, 3.1",
    validity="Delta large enough that g' > g; refused when o_r or L comes out negative",
    parameters=(
        Parameter("o_s", "time", "mean cost of the first points, Delta = 0"),
        Parameter("g", "time", "asymptote of the cost, Delta = 0"),
        Parameter("cost", "time", "g', asymptote of the cost with Delta"),
        Parameter("delta", "time", "computation between requests"),
        Parameter("RTT", "time", "round trip"),
    ),
    outputs=(Output("o_r", "time", "receive overhead"), Output("L", "time", "latency")),
    evaluate=_evaluate_extract,
    notes=(
        "LOGP prints 7.5 us once for Paragon's L: its round trips give 6.35 to 6.45, so 6.3 is right; 7.5 is Meiko's.",
        "Meiko's 7.5 and Myrinet's 11.1 need the largest of the printed round trips.",
    ),
)
