"""LoPC, general form: threads of any work that visit the nodes with given ratios.

For thread c (at home on node c) and node k, V_ck requests of one cycle of c go to k:

    R_c  = R_wc + sum_k V_ck (R_qk + S_t) + S_t' + R_yc                S_t' the replies' way back
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

Errors: ModelError for a non-square V, negative entries, a thread without visits, no convergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from logpost.replay.models.arrays import ModelError


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
    R = free + S_o * V.sum() / max(1.0, float(runs.sum()))
    step = 0.5
    previous = np.inf
    for _ in range(iterations):
        state = _nodes(R, work, V, runs, S_o, beta)
        if state is None:
            R = R * 1.5
            continue
        R_w, R_q, R_y, U_q, Q_q = state
        target = R_w + wires + V @ R_q + R_y
        change = np.log(target[runs] / R[runs])
        size = float(np.abs(change).max())
        if size < tolerance:
            R = np.where(runs, R, np.nan)
            return GeneralLoPCResult(
                R=R,
                R_w=np.where(runs, R_w, np.nan),
                R_y=np.where(runs, R_y, np.nan),
                R_q=R_q,
                U_q=U_q,
                Q_q=Q_q,
                C=R - free,
            )
        if size > previous:
            step = max(0.02, 0.7 * step)  # the map overshoots: it falls in R
        previous = size
        R = np.where(runs, R * np.exp(step * np.log(target / R)), R)
    raise ModelError(f"LoPC did not converge in {iterations} iterations (last relative change {previous:.1e})")


def _nodes(
    R: NDArray[np.float64],
    work: NDArray[np.float64],
    V: NDArray[np.float64],
    runs: NDArray[np.bool_],
    S_o: float,
    beta: float,
) -> tuple[NDArray[np.float64], ...] | None:
    """Queues at every node for trial cycle times; None when some node would be overloaded.

    Per node, with u = U_qk, v = U_yk:  Q_y = v (1 + Q_q + beta u),  Q_q = u (1 + Q_q + Q_y + beta (u+v)), so
    Q_q (1 - u - u v) = u (1 + v + beta u v + beta (u+v)).
    """
    u = S_o * (V / R[:, None]).sum(axis=0)
    v = np.where(runs, S_o / R, 0.0)
    room = 1.0 - u - u * v
    if (room <= 0.0).any():
        return None
    Q_q = u * (1.0 + v + beta * u * v + beta * (u + v)) / room
    R_y = S_o * (1.0 + Q_q + beta * u)
    R_q = S_o * (1.0 + Q_q + v * (1.0 + Q_q + beta * u) + beta * (u + v))
    R_w = (work + S_o * Q_q) / (1.0 - u)
    return R_w, R_q, R_y, u, Q_q
