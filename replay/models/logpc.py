"""LoGPC: LogGP with interrupts, a receiving DMA engine, and contention.

    (8)   T_sr = o_s + L + C_n + o_r                                            short message
    (1)   T_sr = o_sl + L + (B-1) G  [+ C_n: (10)]                              long message
    (2)   T_sr = o_sl + L + max(o_rl + a G + B G_m, (B-1) G)  [+ C_n]           pipelined DMA
          crossover of (2):  B* = (o_rl + (a+1) G)/(G - G_m)

Symbols: o_s, o_r short and o_sl, o_rl long-message overheads, L unloaded latency (the two protocols have their
own), C_n network contention per message (times); G, G_m gap per byte of network and memory (time per byte); a
header bytes before the interrupt, B size (bytes).

Source: LOGPC section 2.2 and (8), (10); (9) and (10) are (8) and (1) with C_n of (3)-(7) written out.

Validity: (1) holds above B* ("about 1000 bytes": 971 with a = 8 and G_m = 0.25 x 1.45 = 0.3625 cycle/byte, both
inferred; 534 with G_m = 0.25). Below it the interrupt is not hidden and (2) must be used; (2) is (1) above it.
G_m >= G never drains the queue: B* = inf. C_n saturates: see network_contention.

Stages for the replay engine: send o_sl, wire L + (B-1) G, receive max(0, o_rl + a G + B G_m - (B-1) G).

Errors: ModelError for negative times or sizes, and for short and long parameters in different units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, values
from logpost.replay.models.interface import SIZE_SELECTOR, Model, Output, Parameter
from logpost.replay.models.loggp import bytes_after_first
from logpost.replay.models.logp import one_message
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND, TimeUnit


@dataclass(frozen=True, kw_only=True)
class LongMessageParameters:
    """LOGPC Table 2 and the DMA: o_sl, o_rl, L (times), G, G_m (time per byte), a (bytes)."""

    L: Number
    o_sl: Number
    o_rl: Number
    G: Number
    G_m: Number = 0.0
    a: Number = 0.0
    unit: TimeUnit

    def __post_init__(self) -> None:
        for name in ("L", "o_sl", "o_rl", "G", "G_m", "a"):
            object.__setattr__(self, name, values(name, getattr(self, name)))


def short_message(p: LogGPParameters, C_n: NumberLike = 0.0) -> Number:
    """(8): o_s + L + C_n + o_r. With C_n = 0 it is LogP."""
    return one_message(p) + values("C_n", C_n, finite=False)


def long_message(p: LongMessageParameters, B: NumberLike, C_n: NumberLike = 0.0) -> Number:
    """(1) and (10): o_sl + L + (B-1) G + C_n, until the last byte is at the receiver."""
    return p.o_sl + p.L + bytes_after_first(B) * p.G + values("C_n", C_n, finite=False)


def receive_tail(p: LongMessageParameters, B: NumberLike) -> Number:
    """max(0, o_rl + a G + B G_m - (B-1) G): what the receiver still does after the last byte arrived."""
    size = values("B", B)
    tail = p.o_rl + p.a * p.G + size * p.G_m - bytes_after_first(size) * p.G
    return scalar_or_array(np.maximum(tail, 0.0))


def dma_message(p: LongMessageParameters, B: NumberLike, C_n: NumberLike = 0.0) -> Number:
    """(2): o_sl + L + max(o_rl + a G + B G_m, (B-1) G) + C_n, until the last byte is in memory."""
    return long_message(p, B, C_n) + receive_tail(p, B)


def crossover(p: LongMessageParameters) -> Number:
    """B* = (o_rl + (a+1) G)/(G - G_m): size from which network bandwidth hides the interrupt."""
    slack = np.asarray(p.G - p.G_m)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = (p.o_rl + (p.a + 1.0) * p.G) / slack
    return scalar_or_array(np.where(slack > 0.0, size, np.inf))


def _evaluate_short(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LogGPParameters(**{name: given[name] for name in ("L", "o_s", "o_r")}, unit=SECOND)
    return {"T_sr": short_message(p, given["C_n"])}


def _evaluate_long(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LongMessageParameters(
        L=given["L"], o_sl=given["o_sl"], o_rl=given["o_rl"], G=given["G"], G_m=given["G_m"], a=given["a"], unit=SECOND
    )
    B, C_n = given["B"], given["C_n"]
    return {
        "T_sr": dma_message(p, B, C_n),
        "T_bandwidth": long_message(p, B, C_n),
        "tail": receive_tail(p, B),
        "crossover": crossover(p),
    }


SHORT = Model(
    name="logpc-short",
    title="LoGPC short message",
    equations=("(8) T_sr = o_s + L + C_n + o_r",),
    source="Moritz & Frank: LoGPC (8)",
    validity="messages of one packet; C_n from logpc-network",
    parameters=(
        Parameter("L", "time", "unloaded latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("C_n", "time", "network contention per message", default=0.0),
        SIZE_SELECTOR,
    ),
    outputs=(Output("T_sr", "time", "end-to-end delivery time"),),
    evaluate=_evaluate_short,
)

LONG = Model(
    name="logpc-long",
    title="LoGPC long message with a pipelined receiving DMA",
    equations=(
        "(1) T_bandwidth = o_sl + L + (B-1) G + C_n",
        "(2) T_sr = o_sl + L + max(o_rl + a G + B G_m, (B-1) G) + C_n",
        "crossover = (o_rl + (a+1) G)/(G - G_m)",
    ),
    source="Moritz & Frank: LoGPC (1), (2), (10)",
    validity="(1) above the crossover, (2) for every size",
    parameters=(
        Parameter("L", "time", "latency of the header"),
        Parameter("o_sl", "time", "send overhead with DMA set-up"),
        Parameter("o_rl", "time", "receive overhead with interrupt and DMA set-up"),
        Parameter("G", "time_per_byte", "gap per byte of the network"),
        Parameter("G_m", "time_per_byte", "gap per byte of the memory", default=0.0),
        Parameter("a", "bytes", "header bytes before the interrupt", default=0.0),
        Parameter("B", "bytes", "message size"),
        Parameter("C_n", "time", "network contention per message", default=0.0),
    ),
    outputs=(
        Output("T_sr", "time", "last byte in the receiver's memory, (2)"),
        Output("T_bandwidth", "time", "last byte at the receiver, (1)"),
        Output("tail", "time", "receiver's work after the last byte"),
        Output("crossover", "bytes", "size from which (1) holds"),
    ),
    evaluate=_evaluate_long,
    notes=("a = 8 and G_m = 0.3625 are inferred for Alewife: 971 B for the paper's 'about 1,000 bytes'.",),
)
