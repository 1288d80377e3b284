"""LogGP: LogP with long messages, which cost G per byte after the first.

    T(B)   = o_s + L + (B-1) G + o_r                            one message of B bytes
    T_n(B) = o_s + n (B-1) G + (n-1) g + L + o_r                n messages of B bytes

Symbols: L latency, o_s and o_r overheads, g gap between messages (times), G gap per byte (time per byte,
1/bandwidth), B message size (bytes).

Source: LOGPC equation (1) without the DMA's receive side, and section 2.2; LOG3P section 4.3 (2o + L + (k-1)
G); the n-message form is the one LOG3P's linear broadcast uses, where the gap follows the last byte of the
message before it.

Validity: B >= 1 (a message of no bytes costs what one byte does: the header travels anyway); no contention. At
B = 1 LogGP is LogP, which takes a g below o_s or o_r as max(g, o_s, o_r).

Errors: ModelError for negative times or sizes and for fewer than one message.

The replay engine's interface queue serves a message in max(g, B G): the same hardware seen by the next message,
where LOGP's g and the bytes overlap. The closed form T_n adds them, as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.logp import effective_gap
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND


def bytes_after_first(B: NumberLike) -> Number:
    """B - 1, and 0 for an empty message, whose header takes the first byte's place."""
    return scalar_or_array(np.maximum(np.asarray(values("B", B)) - 1.0, 0.0))


def serialization(p: LogGPParameters, B: NumberLike) -> Number:
    """(B-1) G: time between the arrival of the first byte and of the last."""
    return bytes_after_first(B) * p.G


def one_message(p: LogGPParameters, B: NumberLike) -> Number:
    """o_s + L + (B-1) G + o_r."""
    return p.o_s + p.L + serialization(p, B) + p.o_r


def messages(p: LogGPParameters, B: NumberLike, n: NumberLike) -> Number:
    """o_s + n (B-1) G + (n-1) g + L + o_r, g at least o_s and o_r: n messages of B bytes from one processor."""
    count = whole("n", n, at_least=1.0)
    return p.o_s + count * serialization(p, B) + (count - 1.0) * effective_gap(p) + p.L + p.o_r


def bandwidth(p: LogGPParameters, B: NumberLike) -> Number:
    """B / T(B): bytes per time delivered by one message; 0 for B = 0."""
    size = values("B", B)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.asarray(size, dtype=np.float64) / one_message(p, B)
    return scalar_or_array(np.where(np.isnan(rate), 0.0, rate))


def interface_time(p: LogGPParameters, B: NumberLike) -> Number:
    """max(g, B G): how long a message occupies the network interface."""
    return scalar_or_array(np.maximum(p.g, values("B", B) * p.G))


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LogGPParameters(L=given["L"], o_s=given["o_s"], o_r=given["o_r"], g=given["g"], G=given["G"], unit=SECOND)
    B = given["B"]
    return {
        "T": one_message(p, B),
        "T_n": messages(p, B, given["n"]),
        "serialization": serialization(p, B),
        "interface_time": interface_time(p, B),
    }


MODEL = Model(
    name="loggp",
    title="LogGP: one message of B bytes, n messages of B bytes",
    equations=(
        "T = o_s + L + (B-1) G + o_r",
        "T_n = o_s + n (B-1) G + (n-1) max(g, o_s, o_r) + L + o_r",
        "interface_time = max(g, B G)",
    ),
    source="Moritz & Frank: LoGPC, 2.2; Cameron, Ge & Sun: log_nP and log_3P, 4.3",
    validity="B >= 1, no contention; equals LogP at B = 1",
    parameters=(
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("g", "time", "gap between messages", default=0.0),
        Parameter("G", "time_per_byte", "gap per byte"),
        Parameter("B", "bytes", "message size"),
        Parameter("n", "count", "messages sent in succession", default=1.0),
    ),
    outputs=(
        Output("T", "time", "one message"),
        Output("T_n", "time", "n messages"),
        Output("serialization", "time", "bytes after the first"),
        Output("interface_time", "time", "occupation of the network interface"),
    ),
    evaluate=_evaluate,
)
