"""LoGPC's all-to-all remap: synchronous, asynchronous, and with long messages.

    sync         R = W + 2 (o_s + L + C_n + o_r) + C_r           a request and its reply per iteration
    async        o_s + o_r per iteration, m = 1/(o_s + o_r)      one message in, one out; latency is hidden
    async long   o_s + (B-1) G + (B-1-a) G ~ 2 B G
    (13)  1/(2 G B + C_n(m_c)) = m_c  =>  m_c = 1/(F B)
          F = { (2G + e') + sqrt((2G - e')^2 + 4 c') }/2 ,  e' = t_c k_d/2 ,  c' = (n+1)(k_d-1) t_c^2/2
    (14)  T_c/T = F/(2G)                                          upper bound on the slow-down

Symbols: W work per iteration, o_s o_r overheads, L latency, C_r contention for processors, C_n network
contention per message (times), G gap per byte (time per byte), B message size, a header bytes (bytes), t_c time
a byte occupies a channel (time per byte), k_d mean hops per dimension, n dimensions, F time per byte between
two messages, m_c messages per time.

Source: LOGPC 5.1.1 to 5.1.3, (13), (14), Table 4.

Validity: evenly spread destinations; sends do not block (queues deep enough). The synchronous rate is closed by
(7): a node sends two messages per R, so T = (R - 2 C_n)/2, a rate the paper does not state. The asynchronous
rate is open: C_n lengthens latency, which no rank waits for, and is inf when saturated.

What reproduces: 316, 137, 453, 499 (with the printed C_n = 23), F = 2.170 and 2.2247, both "2.2"; "2.22 B" only
with k_d = 2 (distinct pairs). C_n = 31 and 23 do not: the message size is not printed (16 B gives 3.2, 24 B
gives 7.6 asynchronously; 31 needs 44 B). With the channel time consistent with G the bound is 1.389 B or 1.411
B. A simulation of long wormhole messages on Alewife's mesh gives 1.50 B (1.64 B when a node takes one message in at a
time) at two bytes per cycle, and 2.67 B at one; the machine took 2.03 B.

Errors: ModelError for negative times or sizes, G = 0 in (13), and what ``network_contention`` and ``lopc`` refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, values
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.logp import round_trip
from logpost.replay.models.lopc import contention
from logpost.replay.models.network_contention import (
    NETWORK_PARAMETERS,
    Contention,
    Network,
    closed_contention,
    network_from,
    open_contention,
)
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND


@dataclass(frozen=True)
class SynchronousAllToAll:
    """One iteration R and its parts: LogP, with C_r (LoPC), with C_r and C_n (LoGPC)."""

    logp: Number
    lopc: Number
    R: Number
    C_r: Number
    C_n: Number
    rho: Number


def synchronous(
    p: LogGPParameters,
    B: NumberLike,
    network: Network,
    *,
    W: NumberLike = 0.0,
    lopc: str = "rule",
    C2: NumberLike = 0.0,
) -> SynchronousAllToAll:
    """R = W + 2(o_s + L + C_n + o_r) + C_r; C_n closed at two messages per node and iteration."""
    free = values("W", W) + round_trip(p)
    C_r = contention(p, W, C2, method=lopc)
    result = closed_contention(B, (free + C_r) / 2.0, network)
    return SynchronousAllToAll(logp=free, lopc=free + C_r, R=2.0 * result.T_c, C_r=C_r, C_n=result.C_n, rho=result.rho)


def synchronous_with(p: LogGPParameters, C_r: NumberLike, C_n: NumberLike, W: NumberLike = 0.0) -> Number:
    """W + 2(o_s + L + C_n + o_r) + C_r for given contention: how Table 4 adds up."""
    return values("W", W) + round_trip(p) + 2.0 * values("C_n", C_n, finite=False) + values("C_r", C_r)


def asynchronous(p: LogGPParameters, B: NumberLike, network: Network) -> tuple[Number, Contention]:
    """Cost of an iteration, o_s + o_r, and the contention its messages meet at the rate 1/(o_s + o_r)."""
    iteration = values("o_s + o_r", p.o_s + p.o_r, above=0.0)
    return iteration, open_contention(B, iteration, network)


def asynchronous_long_iteration(o_s: NumberLike, G: NumberLike, B: NumberLike, a: NumberLike = 0.0) -> Number:
    """o_s + (B-1) G + (B-1-a) G, each term at least 0; without contention, about 2 B G."""
    size, gap = np.asarray(values("B", B)), values("G", G)
    send = np.maximum(size - 1.0, 0.0) * gap
    receive = np.maximum(size - 1.0 - values("a", a), 0.0) * gap
    return scalar_or_array(values("o_s", o_s) + send + receive)


def interval_per_byte(G: NumberLike, network: Network) -> Number:
    """F of (13): m_c = 1/(F B) at the largest injection rate; time per byte, independent of B."""
    return closed_contention(1.0, 2.0 * values("G", G, above=0.0), network).T_c


def slow_down_bound(G: NumberLike, network: Network) -> Number:
    """(14): T_c/T = F/(2G), the largest factor by which network contention slows a program down."""
    return interval_per_byte(G, network) / (2.0 * values("G", G, above=0.0))


def _evaluate_short(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LogGPParameters(**{name: given[name] for name in ("L", "o_s", "o_r")}, unit=SECOND)
    network = network_from(given)
    sync = synchronous(p, given["B"], network, W=given["W"], lopc=given["lopc"], C2=given["C2"])
    iteration, waits = asynchronous(p, given["B"], network)
    return {
        "sync_logp": sync.logp,
        "sync_lopc": sync.lopc,
        "sync": sync.R,
        "C_r": sync.C_r,
        "sync_C_n": sync.C_n,
        "async": iteration,
        "async_C_n": waits.C_n,
        "async_rho": waits.rho,
    }


def _evaluate_long(given: Mapping[str, Any]) -> Mapping[str, Any]:
    network = network_from(given)
    free = asynchronous_long_iteration(given["o_s"], given["G"], given["B"], given["a"])
    F = interval_per_byte(given["G"], network)
    closed = closed_contention(given["B"], free, network)
    return {
        "iteration": free,
        "T_c": closed.T_c,
        "C_n": closed.C_n,
        "F": F,
        "bound": slow_down_bound(given["G"], network),
        "rho": closed.rho,
    }


SHORT = Model(
    name="logpc-all-to-all",
    title="LoGPC all-to-all remap with short messages, synchronous and asynchronous",
    equations=(
        "sync  = W + 2 (o_s + L + C_n + o_r) + C_r        C_n closed at two messages per iteration",
        "async = o_s + o_r                                C_n open at m = 1/(o_s + o_r)",
    ),
    source="Moritz & Frank: LoGPC 5.1.1, 5.1.2, Table 4",
    validity="evenly spread destinations; sends do not block; async_C_n is inf when saturated",
    parameters=(
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("B", "bytes", "message size (not printed in the paper)"),
        Parameter("W", "time", "work per iteration", default=0.0),
        Parameter("lopc", "choice", "C_r by rule of thumb or AMVA", default="rule", choices=("rule", "amva")),
        Parameter("C2", "ratio", "squared coefficient of variation of the handler time", default=0.0),
        *NETWORK_PARAMETERS,
    ),
    outputs=(
        Output("sync_logp", "time", "synchronous, LogP"),
        Output("sync_lopc", "time", "synchronous, with C_r"),
        Output("sync", "time", "synchronous, with C_r and C_n"),
        Output("C_r", "time", "contention for the processors"),
        Output("sync_C_n", "time", "network contention per message"),
        Output("async", "time", "asynchronous"),
        Output("async_C_n", "time", "its network contention, hidden from the sender"),
        Output("async_rho", "ratio", "its channel utilisation"),
    ),
    evaluate=_evaluate_short,
    notes=("C_n = 31 and 23 of Table 4 do not reproduce: the message size is not printed.",),
)

LONG = Model(
    name="logpc-all-to-all-long",
    title="LoGPC all-to-all remap with long messages, and the bound on contention",
    equations=(
        "iteration = o_s + (B-1) G + (B-1-a) G",
        "F = {(2G + e') + sqrt((2G - e')^2 + 4c')}/2 ,  e' = t_c k_d/2 ,  c' = (n+1)(k_d-1) t_c^2/2",
        "bound = F/(2G)",
    ),
    source="Moritz & Frank: LoGPC 3.4, 5.1.3, (13), (14)",
    validity="evenly spread destinations; F is independent of B",
    parameters=(
        Parameter("o_s", "time", "send overhead", default=0.0),
        Parameter("B", "bytes", "message size"),
        Parameter("a", "bytes", "header bytes before the interrupt", default=0.0),
        *NETWORK_PARAMETERS,
    ),
    outputs=(
        Output("iteration", "time", "without contention"),
        Output("T_c", "time", "with contention"),
        Output("C_n", "time", "network contention per message"),
        Output("F", "time_per_byte", "time per byte between messages at the largest rate"),
        Output("bound", "ratio", "largest slow-down by network contention"),
        Output("rho", "ratio", "channel utilisation"),
    ),
    evaluate=_evaluate_long,
    notes=("LOGPC prints 2.2 and 2.22 B: units=printed, k_d = 1.9375 (2.170) or 2 (2.2247).",),
)
