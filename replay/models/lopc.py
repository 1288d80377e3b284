"""LoPC: contention for the processors, with requests and replies spread evenly over P nodes.

Every node runs one thread that works W, sends a request to a random node and waits for its reply; handlers
interrupt the thread and queue behind each other.

    R   = R_w + 2 S_t + R_q + R_y                                     time between two requests
    R_q = S_o [1 + Q_q + Q_y + (C2-1)/2 (U_q + U_y)]                  request handler
    R_y = S_o [1 + Q_q + (C2-1)/2 U_q]                                reply handler
    R_w = (W + S_o Q_q)/(1 - U_q)                                     thread, preempted by requests
    U_q = U_y = S_o/R ;  Q_q = R_q/R ;  Q_y = R_y/R                   Little; throughput 1/R
    C   = R - W - 2 S_t - 2 S_o                                       contention per request-reply

    rule of thumb:  C = o_s + o_r, one extra handler

Symbols (times): W work between requests, S_t wire latency (LogP's L), S_o handler time (o_r + o_s: it takes the
request and sends the reply), C2 squared coefficient of variation of the handler time (0 deterministic, 1
exponential), R_w R_q R_y residence times of thread, request and reply, C the contention (LOGPC's C_r); Q mean
queue lengths, U utilisations (no unit).

Source: Frank, Agarwal & Vernon, LoPC (AMVA with Bard's approximation), as LOGPC sections 5.1.1 and 6 cite it;
the equations are not printed in LOGPC. The rule is printed in LOGPC 5.1.1.

Validity: uniform traffic, one outstanding request per thread. The rule is the limit for much work between
requests (LOGPC 5.1.1 calls C_r a delay "per message sent", Table 3 and its formula count it once per request-reply
cycle, as here): C/S_o is 1.32 (C2 = 0) for Alewife at W = 0, 1.19 at W = S_o, 1.003 at W = 10000. For Alewife (S_t 21,
S_o 137) AMVA gives C = 180.9 (C2 = 0) or 246.0 (C2 = 1), the rule 137: Table 4 of LOGPC is the rule. Its
caption and text print C_n inside the LoPC formula; 453 is the value without.

Solution: with u = S_o/R the two queue equations are linear in Q_q and Q_y; one equation in R remains, with a
right-hand side that falls in R, so its root is unique and is bracketed and bisected.

Errors: ModelError for negative times, S_o = 0 (nothing to queue for), and a name that is neither rule nor amva.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values
from logpost.replay.models.interface import SIZE_SELECTOR, Model, Output, Parameter
from logpost.replay.models.logp import round_trip
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND

# 1 - u - u^2 = 0: the utilisation at which the two handler queues would grow without bound.
_LARGEST_U = (np.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True)
class LoPCResult:
    """Steady state of the homogeneous all-to-all; times in the unit of the arguments."""

    R: Number
    R_w: Number
    R_q: Number
    R_y: Number
    C: Number
    U_q: Number
    Q_q: Number
    Q_y: Number


def rule(p: LogGPParameters, W: NumberLike = 0.0) -> Number:
    """W + 2(o_s + L + o_r) + C_r with C_r = o_s + o_r: LOGPC 5.1.1's rule of thumb."""
    return values("W", W) + round_trip(p) + contention_rule(p)


def contention_rule(p: LogGPParameters) -> Number:
    """C_r = o_s + o_r: a request-reply waits for one handler more than its own two."""
    return p.o_s + p.o_r


def amva(W: NumberLike, S_t: NumberLike, S_o: NumberLike, C2: NumberLike = 0.0) -> LoPCResult:
    """Approximate mean value analysis of the homogeneous all-to-all.

    Raises ModelError for negative arguments or S_o = 0 (no handlers, nothing to queue for).
    """
    work, wire, handler, spread = np.broadcast_arrays(
        values("W", W), values("S_t", S_t), values("S_o", S_o, above=0.0), values("C2", C2)
    )
    beta = (spread - 1.0) / 2.0
    # In units of the handler time: every quantity is of order one.
    w, t = work / handler, wire / handler
    low = np.maximum(1.0 / _LARGEST_U, w + 2.0 * t + 2.0)
    high = 2.0 * low + 2.0
    while (short := _cycle(high, w, t, beta)[0] > high).any():
        high = np.where(short, 2.0 * high, high)
    for _ in range(100):
        middle = 0.5 * (low + high)
        longer = _cycle(middle, w, t, beta)[0] > middle
        low, high = np.where(longer, middle, low), np.where(longer, high, middle)
    R = 0.5 * (low + high)
    _, R_w, R_q, R_y, Q_q, Q_y = _cycle(R, w, t, beta)
    u = 1.0 / R
    # R - W - 2 S_t - 2 S_o term by term: with a long wire or much work the difference would lose its digits.
    C = (w * u + Q_q) / (1.0 - u) + (Q_q + Q_y + 2.0 * beta * u) + (Q_q + beta * u)
    return LoPCResult(
        R=scalar_or_array(R * handler),
        R_w=scalar_or_array(R_w * handler),
        R_q=scalar_or_array(R_q * handler),
        R_y=scalar_or_array(R_y * handler),
        C=scalar_or_array(C * handler),
        U_q=scalar_or_array(u),
        Q_q=scalar_or_array(Q_q),
        Q_y=scalar_or_array(Q_y),
    )


def _cycle(
    R: NDArray[np.float64], w: NDArray[np.float64], t: NDArray[np.float64], beta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Right-hand side of R = R_w + 2 S_t + R_q + R_y for a trial R, in units of S_o.

    Q_y = u (1 + Q_q + beta u) put into Q_q = u (1 + Q_q + Q_y + 2 beta u) gives
    Q_q (1 - u - u^2) = u (1 + u + 2 beta u + beta u^2).
    """
    u = 1.0 / R
    room = 1.0 - u - u * u
    with np.errstate(divide="ignore", invalid="ignore"):
        Q_q = np.where(room > 0.0, u * (1.0 + u + 2.0 * beta * u + beta * u * u) / room, np.inf)
        Q_y = u * (1.0 + Q_q + beta * u)
        R_q, R_y = Q_q * R, Q_y * R
        R_w = (w + Q_q) / (1.0 - u)
    return R_w + 2.0 * t + R_q + R_y, R_w, R_q, R_y, Q_q, Q_y


def contention(p: LogGPParameters, W: NumberLike = 0.0, C2: NumberLike = 0.0, *, method: str = "rule") -> Number:
    """C_r of one request-reply pair: by the "rule" (Table 4 of LOGPC) or by "amva"."""
    if method == "rule":
        return contention_rule(p)
    if method == "amva":
        return amva(W, p.L, p.o_s + p.o_r, C2).C
    raise ModelError(f"method = {method!r}: choose rule or amva")


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LogGPParameters(**{name: given[name] for name in ("L", "o_s", "o_r")}, unit=SECOND)
    W = given["W"]
    S_o = values("S_o = o_s + o_r", p.o_s + p.o_r, above=0.0)
    if given["lopc"] == "rule":
        return {"R": rule(p, W), "C_r": contention_rule(p), "R_free": W + round_trip(p), "U_q": S_o / rule(p, W)}
    result = amva(W, p.L, S_o, given["C2"])
    return {"R": result.R, "C_r": result.C, "R_free": W + round_trip(p), "U_q": result.U_q}


MODEL = Model(
    name="lopc",
    title="LoPC: request-reply all-to-all with contention for the processors",
    equations=(
        "rule: R = W + 2 (o_s + L + o_r) + (o_s + o_r)",
        "amva: R = R_w + 2 L + R_q + R_y",
        "      R_q = S_o [1 + Q_q + Q_y + (C2-1)/2 (U_q + U_y)] ;  S_o = o_s + o_r",
        "      R_y = S_o [1 + Q_q + (C2-1)/2 U_q] ;  R_w = (W + S_o Q_q)/(1 - U_q)",
        "      U_q = U_y = S_o/R ;  Q_q = R_q/R ;  Q_y = R_y/R",
    ),
    source="Frank, Agarwal & Vernon: LoPC; rule of thumb in Moritz & Frank: LoGPC, 5.1.1",
    validity="uniform traffic, one outstanding request per thread; the rule is the limit of much work between requests",
    parameters=(
        Parameter("L", "time", "wire latency S_t"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("W", "time", "work between requests", default=0.0),
        Parameter("C2", "ratio", "squared coefficient of variation of the handler time", default=0.0),
        Parameter("lopc", "choice", "rule of thumb or mean value analysis", default="amva", choices=("rule", "amva")),
        SIZE_SELECTOR,
    ),
    outputs=(
        Output("R", "time", "time between two requests of a thread"),
        Output("C_r", "time", "contention per request-reply"),
        Output("R_free", "time", "R without contention"),
        Output("U_q", "ratio", "utilisation of a node by request handlers"),
    ),
    evaluate=_evaluate,
    notes=(
        "LOGPC Table 4 (453, C_r = 137) is the rule; amva gives C_r = 180.9 (C2 = 0) and 246.0 (C2 = 1) there.",
        "LOGPC prints C_n inside LoPC's formula; its 453 is the value without C_n.",
        "C_r counts once per request-reply cycle (LOGPC Table 3), not per message (its 5.1.1).",
    ),
)
