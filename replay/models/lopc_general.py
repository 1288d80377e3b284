"""LoPC, general form: threads of any work that visit the nodes with given ratios.

For thread c (at home on node c) and node k, V_ck requests of one cycle of c go to k:

    R_c  = R_wc + sum_k V_ck (R_qk + S_t) + S_t' + R_yc                S_t' the replies' return path
    Q_qk = sum_c V_ck R_qk/R_c ;  U_qk = sum_c V_ck S_o/R_c            Little, at node k
    Q_yk = R_yk/R_k            ;  U_yk = S_o/R_k
    R_qk = S_o [1 + Q_qk + Q_yk + (C2-1)/2 (U_qk + U_yk)]
    R_yc = S_o [1 + Q_qc + (C2-1)/2 U_qc]
    R_wc = (W_c + S_o Q_qc)/(1 - U_qc)

With sum_k V_ck = 1 the wire costs 2 S_t per cycle and the reply R_yc, as in the homogeneous form. A chain of v
= sum_k V_ck visits (a request that is forwarded) costs (v + 1) S_t and one reply.

Symbols: W_c work per cycle, S_t wire latency, S_o handler time (times); V visits per cycle, C2 squared
coefficient of variation of the handler time.

Source: Frank, Agarwal & Vernon, LoPC, general AMVA (not printed in the five papers).

Validity: every thread visits at least one node, once per cycle or more; nodes without a thread (pure servers)
are marked by ``threads=False`` and have no reply queue. R_c grows so far that no processor is used more than
fully: U_qk < 1 always holds at the solution.

Bard's approximation lets an arriving request see the steady state with itself in it: one client alone at a server is
charged a wait that it does not have (42 cycles of 358 on Alewife). The error vanishes as the number of threads grows.

Errors: ModelError for a non-square V, negative entries, a thread without visits, no convergence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import SIZE_SELECTOR, Model, Output, Parameter

# Utilisation at which a trial cycle is cut off on the way to the solution, where it is below 1.
_BUSIEST = 1.0 - 1e-6


@dataclass(frozen=True)
class GeneralLoPCResult:
    """Per thread: cycle R, thread R_w, reply R_y (NaN for nodes without a thread); per node: R_q, U_q, Q_q."""

    R: NDArray[np.float64]
    R_w: NDArray[np.float64]
    R_y: NDArray[np.float64]
    R_q: NDArray[np.float64]
    U_q: NDArray[np.float64]
    Q_q: NDArray[np.float64]
    C: NDArray[np.float64]
    """Contention per cycle: R less work, wires and the handlers' own time."""


def amva(
    W: ArrayLike,
    S_t: float,
    S_o: float,
    visits: ArrayLike,
    C2: float = 0.0,
    *,
    threads: ArrayLike | None = None,
    tolerance: float = 1e-12,
    iterations: int = 100_000,
) -> GeneralLoPCResult:
    """Solve the fixed point for a P x P visit matrix and work per thread (scalar or length P)."""
    V = np.asarray(visits, dtype=np.float64)
    if V.ndim != 2 or V.shape[0] != V.shape[1]:
        raise ModelError(f"the visit matrix must be square (thread x node), not {'x'.join(map(str, V.shape))}")
    P = V.shape[0]
    work = np.broadcast_to(np.asarray(W, dtype=np.float64), (P,))
    runs = np.ones(P, dtype=bool) if threads is None else np.asarray(threads, dtype=bool)
    for name, number in (("W", work), ("S_t", S_t), ("visits", V), ("C2", C2)):
        if not (np.isfinite(number).all() and np.min(number) >= 0.0):
            raise ModelError(f"{name} must be finite and not negative")
    if not S_o > 0.0:
        raise ModelError(f"S_o = {S_o:g} must be greater than 0: without handler time nothing queues")
    V = V * runs[:, None]
    per_cycle = V.sum(axis=1)
    if (per_cycle[runs] <= 0.0).any():
        raise ModelError("a thread makes no request: mark its node with threads=False or give it a visit")

    beta = (C2 - 1.0) / 2.0
    wires = (per_cycle + 1.0) * S_t
    free = work + wires + (per_cycle + 1.0) * S_o
    R, R_q, R_y = free.copy(), np.full(P, S_o), np.full(P, S_o)
    change = np.inf
    for step in range(iterations):
        # Queues as the last cycle left them (an arriving handler sees the steady state), then the times in them.
        rate = np.where(runs, 1.0 / R, 0.0)
        throughput = rate @ V
        Q_q, U_q = throughput * R_q, np.minimum(throughput * S_o, _BUSIEST)
        Q_y, U_y = rate * R_y, rate * S_o
        R_w = (work + S_o * Q_q) / (1.0 - U_q)
        new_q = S_o * (1.0 + Q_q + Q_y + beta * (U_q + U_y))
        new_y = S_o * (1.0 + Q_q + beta * U_q)
        new = R_w + wires + V @ new_q + new_y
        change = float(
            max(
                np.abs(new / R - 1.0)[runs].max(),
                np.abs(new_q / R_q - 1.0).max(),
                np.abs(new_y / R_y - 1.0)[runs].max(),
            )
        )
        if change < tolerance:
            hidden = np.where(runs, 0.0, np.nan)
            # R - free term by term: with a long wire the difference would lose its digits.
            longer = V @ np.maximum(R_q - S_o, 0.0) + np.maximum(R_y - S_o, 0.0)
            C = (work * U_q + S_o * Q_q) / (1.0 - U_q) + longer
            return GeneralLoPCResult(
                R=R + hidden, R_w=R_w + hidden, R_y=R_y + hidden, R_q=R_q, U_q=U_q, Q_q=Q_q, C=C + hidden
            )
        # Threads slow each other down: half a step keeps the iteration from swinging.
        share = 1.0 if step < 20 else 0.5
        R, R_q, R_y = ((1.0 - share) * old + share * now for old, now in ((R, new), (R_q, new_q), (R_y, new_y)))
    raise ModelError(f"LoPC did not converge in {iterations} iterations (last relative change {change:.1e})")


def served(
    clients: NumberLike, servers: NumberLike, W: NumberLike, S_t: NumberLike, S_o: NumberLike, C2: NumberLike = 0.0
) -> dict[str, Number]:
    """R, C_r, R_q, U_q, Q_q where clients work W and ask one of the servers, evenly; the servers only answer.

    All clients are alike, and all servers. With k = clients/servers and a = W + 2 S_t + S_o (a reply does not wait)
    the fixed point of `amva` is

        R_q = S_o + S_o k (R_q + beta S_o)/(a + R_q) ;  beta = (C2-1)/2 ;  R = a + R_q

    a quadratic equation in R_q, whose larger root keeps U_q = k S_o/R below 1.
    """
    many, few = (whole(name, n, at_least=1.0) for name, n in (("clients", clients), ("servers", servers)))
    wire, spread = values("S_t", S_t), values("C2", C2)
    handler = np.asarray(values("S_o", S_o, above=0.0))
    k, a = np.asarray(many) / few, values("W", W) + 2.0 * wire + handler
    beta = (spread - 1.0) / 2.0
    constant = handler * (a + handler * k * beta)
    middle = handler * (1.0 + k) - a
    root = np.sqrt(middle**2 + 4.0 * constant)
    # The sum of a negative and a positive number of nearly the same size would lose its digits.
    with np.errstate(divide="ignore", invalid="ignore"):
        R_q = np.where(middle < 0.0, 2.0 * constant / (root - middle), 0.5 * (root + middle))
    R = a + R_q
    found = {
        "R": R,
        "C_r": np.maximum(handler * k * (R_q + beta * handler) / R, 0.0),
        "R_q": R_q,
        "U_q": k * handler / R,
        "Q_q": k * R_q / R,
    }
    return {name: scalar_or_array(value) for name, value in found.items()}


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return served(given["clients"], given["servers"], given["W"], given["L"], given["o_s"] + given["o_r"], given["C2"])


MODEL = Model(
    name="lopc-servers",
    title="LoPC, general form: clients that ask servers",
    equations=(
        "R_c = R_w + 2 L + sum_k V_ck R_qk + R_y ;  V_ck = 1/servers",
        "R_q = S_o [1 + Q_q + (C2-1)/2 U_q] ;  Q_q = sum_c V_ck R_q/R_c ;  U_q = sum_c V_ck S_o/R_c ;  S_o = o_s + o_r",
    ),
    source="Frank, Agarwal & Vernon: LoPC, general mean value analysis",
    validity="one outstanding request per client; Python callers may give any visit matrix (lopc_general.amva)",
    parameters=(
        Parameter("clients", "count", "nodes that ask"),
        Parameter("servers", "count", "nodes that answer"),
        Parameter("L", "time", "wire latency S_t"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("W", "time", "work between requests", default=0.0),
        Parameter("C2", "ratio", "squared coefficient of variation of the handler time", default=0.0),
        SIZE_SELECTOR,
    ),
    outputs=(
        Output("R", "time", "time between two requests of a client"),
        Output("C_r", "time", "contention per request-reply"),
        Output("R_q", "time", "a request's time at its server"),
        Output("U_q", "ratio", "utilisation of a server"),
        Output("Q_q", "count", "requests at a server"),
    ),
    evaluate=_evaluate,
)
