"""LogP: short messages of fixed size.

    T(1)  = o_s + L + o_r                       one message
    T(n)  = o_s + (n-1) g + L + o_r             n messages, distinct destinations
    RTT   = 2 (o_s + L + o_r)                   request and reply
    rate  = 1/(k g)                             each of k senders to one receiver

Symbols: L latency, o_s and o_r send and receive overhead, g gap between messages (all times).

Source: LOGP (Culler, Liu, Martin, Yoshikawa), section 2.1; o + (n-1) g + L + o and 1/(k g) as printed.

Validity: short messages; the network below its capacity of ceil(L/g) messages in flight. The gap is the time of
the slowest stage, which includes the processor's own: a g below o_s or o_r is taken as max(g, o_s, o_r),
because otherwise n messages would take less CPU time than n overheads.

Errors: ModelError for negative times, for fewer than one message or sender, and for a part of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, whole
from logpost.replay.models.interface import SIZE_SELECTOR, Model, Output, Parameter
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND


def one_message(p: LogGPParameters) -> Number:
    """o_s + L + o_r: from the start of the send to the end of the receive."""
    return p.o_s + p.L + p.o_r


def effective_gap(p: LogGPParameters) -> Number:
    """max(g, o_s, o_r): the time of the slowest stage (LOGP section 2.1)."""
    return scalar_or_array(np.maximum(p.g, np.maximum(p.o_s, p.o_r)))


def messages(p: LogGPParameters, n: NumberLike) -> Number:
    """o_s + (n-1) g + L + o_r, g at least o_s and o_r: n messages in rapid succession from one processor."""
    count = whole("n", n, at_least=1.0)
    return p.o_s + (count - 1.0) * effective_gap(p) + p.L + p.o_r


def round_trip(p: LogGPParameters) -> Number:
    """2 (o_s + L + o_r): a request and its reply."""
    return 2.0 * (p.o_s + p.L + p.o_r)


def sender_rate(p: LogGPParameters, k: NumberLike) -> Number:
    """1/(k g), g at least o_s and o_r: messages per time of each of k senders to one receiver; inf when it is 0."""
    senders = whole("k", k, at_least=1.0)
    with np.errstate(divide="ignore"):
        return scalar_or_array(1.0 / np.asarray(senders * effective_gap(p)))


def capacity(p: LogGPParameters) -> Number:
    """ceil(L/g), g at least o_s and o_r: messages in flight before the processor stalls; inf when the gap is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.ceil(np.asarray(p.L, dtype=np.float64) / effective_gap(p))
    return scalar_or_array(np.where(np.isnan(ratio), np.inf, ratio))


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    # The equations are linear in time, so the name of the unit does not matter here.
    p = LogGPParameters(L=given["L"], o_s=given["o_s"], o_r=given["o_r"], g=given["g"], unit=SECOND)
    return {
        "T": one_message(p),
        "T_n": messages(p, given["n"]),
        "RTT": round_trip(p),
        "interval_k": whole("k", given["k"], at_least=1.0) * effective_gap(p),
        "capacity": capacity(p),
    }


MODEL = Model(
    name="logp",
    title="LogP: one short message, n messages, round trip, k senders to one receiver",
    equations=(
        "T = o_s + L + o_r",
        "T_n = o_s + (n-1) max(g, o_s, o_r) + L + o_r",
        "RTT = 2 (o_s + L + o_r)",
        "interval_k = k max(g, o_s, o_r)",
    ),
    source="Culler, Liu, Martin, Yoshikawa: LogP Performance Assessment of Fast Network Interfaces, 2.1",
    validity="short messages; at most ceil(L/g) messages in flight",
    parameters=(
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("g", "time", "gap between messages", default=0.0),
        Parameter("n", "count", "messages sent in succession", default=1.0),
        Parameter("k", "count", "senders to one receiver", default=1.0),
        SIZE_SELECTOR,
    ),
    outputs=(
        Output("T", "time", "one message"),
        Output("T_n", "time", "n messages"),
        Output("RTT", "time", "request and reply"),
        Output("interval_k", "time", "time between two messages of one of the k senders"),
        Output("capacity", "count", "messages in flight before the sender stalls"),
    ),
    evaluate=_evaluate,
)
