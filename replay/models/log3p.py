"""log_3P: middleware, network, middleware.

    (6)   T(s,d) = o_mw(s) + l_mw(s,d) + o_net(s)

    measured as half round trips, T00 to oneself and T01 to another node:
    o_mw = T00(s) - T_mem(s) ;  o_net = T01(s) - o_mw ;  l_mw = T00(s,d) - o_mw - T_mem(s)

Symbols (times): o_mw middleware overhead of both ends for contiguous data, l_mw additional middleware latency
of both ends for strided data (0 for contiguous data), o_net network transfer, T_mem memory copy; s size, d
stride (bytes).

Source: LOG3P (3) to (6), section 4.1, Fig. 4. The paper prints one point for Titan (16 KB, stride 1 KB: 29,
420, 131 us, T_mem 3); its Table 1 with the LogGP parameters has no values in the text.

Validity: no contention (g = o); regular strides; between and beyond tabulated points see ``replay.cost``. A contiguous
message has l_mw = 0 and its time is T(s) = o_mw + o_net; so have adjacent blocks (a stride of their size).

Errors: ModelError when a measured difference is negative: then the measurements do not belong together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, values
from logpost.replay.models.interface import SIZE_SELECTOR, Model, Output, Parameter


def point_to_point(o_mw: NumberLike, l_mw: NumberLike, o_net: NumberLike) -> Number:
    """(6): o_mw + l_mw + o_net."""
    return values("o_mw", o_mw) + values("l_mw", l_mw) + values("o_net", o_net)


def send_to_self(o_mw: NumberLike, l_mw: NumberLike, T_mem: NumberLike) -> Number:
    """T00(s,d) = o_mw + l_mw + T_mem: half round trip to oneself."""
    return values("o_mw", o_mw) + values("l_mw", l_mw) + values("T_mem", T_mem)


@dataclass(frozen=True)
class Measured:
    """o_mw, l_mw, o_net of one (size, stride), or of a column of them."""

    o_mw: Number
    l_mw: Number
    o_net: Number


def extract(*, T00: Number, T01: Number, T00_strided: Number, T_mem: Number) -> Measured:
    """Parameters from half round trips: to self, to another, strided to self, and a memory copy.

    Raises ModelError naming the difference that is negative.
    """
    o_mw = T00 - T_mem
    o_net = T01 - o_mw
    l_mw = T00_strided - o_mw - T_mem
    for name, value, why in (
        ("o_mw = T00(s) - T_mem", o_mw, "the memory copy is slower than sending to oneself"),
        ("o_net = T01(s) - o_mw", o_net, "the remote send is faster than the middleware alone"),
        ("l_mw = T00(s,d) - o_mw - T_mem", l_mw, "strided data is faster than contiguous"),
    ):
        negative = np.ravel(value)[np.ravel(value) < 0]
        if negative.size:
            raise ModelError(f"{name} = {{value}} is negative: {why}; measure again", value=float(negative[0]))
    return Measured(o_mw=o_mw, l_mw=l_mw, o_net=o_net)


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    o_mw, l_mw, o_net = given["o_mw"], given["l_mw"], given["o_net"]
    found = {"T": point_to_point(o_mw, l_mw, o_net), "T_contiguous": point_to_point(o_mw, 0.0, o_net)}
    return {**found, "T_self": send_to_self(o_mw, l_mw, given["T_mem"])} if "T_mem" in given else found


SELECTORS = (
    SIZE_SELECTOR,
    Parameter("stride", "bytes", "from block to block, where a machine's l_mw is taken (0: contiguous)", optional=True),
    Parameter("block", "bytes", "of the strided data (left out: that of the machine's measurement)", optional=True),
)

MODEL = Model(
    name="log3p",
    title="log_3P: one message through middleware, network, middleware",
    equations=(
        "(6) T = o_mw + l_mw + o_net",
        "T_self = o_mw + l_mw + T_mem",
        "o_mw = T00(s) - T_mem ;  o_net = T01(s) - o_mw ;  l_mw = T00(s,d) - o_mw - T_mem",
    ),
    source="Cameron, Ge & Sun: log_nP and log_3P (6), 4.1",
    validity="parameters of the message's size and stride; l_mw = 0 for contiguous data; no contention",
    parameters=(
        Parameter("o_mw", "time", "middleware overhead, both ends"),
        Parameter("l_mw", "time", "middleware latency for strided data, both ends", default=0.0),
        Parameter("o_net", "time", "network overhead"),
        Parameter("T_mem", "time", "memory copy; without it no T_self", optional=True),
        *SELECTORS,
    ),
    outputs=(
        Output("T", "time", "one message"),
        Output("T_contiguous", "time", "the same size, contiguous"),
        Output("T_self", "time", "sent to oneself (when T_mem is given)"),
    ),
    evaluate=_evaluate,
)


def _evaluate_extract(given: Mapping[str, Any]) -> Mapping[str, Any]:
    found = extract(T00=given["T00"], T01=given["T01"], T00_strided=given["T00_strided"], T_mem=given["T_mem"])
    T = point_to_point(found.o_mw, found.l_mw, found.o_net)
    return {"o_mw": found.o_mw, "l_mw": found.l_mw, "o_net": found.o_net, "T": T}


EXTRACT = Model(
    name="log3p-extract",
    title="log_3P parameters from half round trips, and the strided remote send they predict",
    equations=(
        "o_mw = T00 - T_mem",
        "o_net = T01 - o_mw",
        "l_mw = T00_strided - o_mw - T_mem",
        "T = o_mw + l_mw + o_net",
    ),
    source="Cameron, Ge & Sun: log_nP and log_3P, 4.1",
    validity="one size and stride; refused when a difference is negative",
    parameters=(
        Parameter("T00", "time", "contiguous, to oneself"),
        Parameter("T01", "time", "contiguous, to another node"),
        Parameter("T00_strided", "time", "strided, to oneself"),
        Parameter("T_mem", "time", "memory copy"),
    ),
    outputs=(
        Output("o_mw", "time", "middleware overhead, both ends"),
        Output("l_mw", "time", "middleware latency, both ends"),
        Output("o_net", "time", "network overhead"),
        Output("T", "time", "strided, to another node"),
    ),
    evaluate=_evaluate_extract,
)
