"""Linear and tree broadcasts under LogGP and log_3P.

    linear  LogGP   2o + L + (P-1) G k + (P-2) g                 message of k+1 bytes
            log_3P  P (o_mw/2 + l_mw/2) + o_net
    tree    LogGP   h (2o + L + kG) + (h-1) g                    h = log2 P
            log_3P  h (o_mw + l_mw + o_net)

Symbols: P processes, message of B = k+1 bytes, o overhead (2o = o_s + o_r), L latency, g gap (times), G gap per
byte; o_mw, l_mw, o_net of log_3P at the message's size and stride (times); h height of the tree.

Source: LOG3P section 4.3.3.

Validity: P >= 2. A gap below o_s is taken as o_s in the linear broadcast: the root's CPU makes every send. For
a P that is no power of two h is rounded up, the height of the tree that is built; for P = 2 the linear and the
tree broadcast are one message. Tree errors in the paper are 6 % on average, not the 3 % of its introduction.

Errors: ModelError for P < 2 or no whole number, and for negative times or sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models import log3p, loggp
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND


def height(P: NumberLike) -> Number:
    """h = log2 P, rounded up to whole steps."""
    return scalar_or_array(np.ceil(np.log2(whole("P", P, at_least=2.0))))


def linear_loggp(p: LogGPParameters, B: NumberLike, P: NumberLike) -> Number:
    """2o + L + (P-1) G k + (P-2) g with k = B - 1: P-1 sends in succession, no faster than o_s each."""
    others = whole("P", P, at_least=2.0) - 1.0
    gap = scalar_or_array(np.maximum(p.g, p.o_s))
    return p.o_s + p.o_r + p.L + others * loggp.serialization(p, B) + (others - 1.0) * gap


def tree_loggp(p: LogGPParameters, B: NumberLike, P: NumberLike) -> Number:
    """h (2o + L + kG) + (h-1) g with k = B - 1."""
    h = height(P)
    return h * loggp.one_message(p, B) + (h - 1.0) * p.g


def linear_log3p(o_mw: NumberLike, l_mw: NumberLike, o_net: NumberLike, P: NumberLike) -> Number:
    """P (o_mw/2 + l_mw/2) + o_net: P-1 sends and the last receive in the middleware, one transfer."""
    processes = whole("P", P, at_least=2.0)
    return processes * (values("o_mw", o_mw) + values("l_mw", l_mw)) / 2.0 + values("o_net", o_net)


def tree_log3p(o_mw: NumberLike, l_mw: NumberLike, o_net: NumberLike, P: NumberLike) -> Number:
    """h (o_mw + l_mw + o_net)."""
    return height(P) * log3p.point_to_point(o_mw, l_mw, o_net)


def _evaluate_loggp(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LogGPParameters(**{name: given[name] for name in ("L", "o_s", "o_r", "g", "G")}, unit=SECOND)
    B, P = given["B"], given["P"]
    return {"linear": linear_loggp(p, B, P), "tree": tree_loggp(p, B, P), "h": height(P)}


def _evaluate_log3p(given: Mapping[str, Any]) -> Mapping[str, Any]:
    costs = (given["o_mw"], given["l_mw"], given["o_net"])
    return {"linear": linear_log3p(*costs, given["P"]), "tree": tree_log3p(*costs, given["P"]), "h": height(given["P"])}


_OUTPUTS = (
    Output("linear", "time", "the root sends to everyone"),
    Output("tree", "time", "binary tree"),
    Output("h", "count", "height of the tree"),
)

LOGGP = Model(
    name="broadcast-loggp",
    title="Linear and tree broadcast under LogGP",
    equations=(
        "linear = 2o + L + (P-1) G k + (P-2) max(g, o_s) ;  k = B - 1",
        "tree   = h (2o + L + kG) + (h-1) g ;  h = log2 P, rounded up",
    ),
    source="Cameron, Ge & Sun: log_nP and log_3P, 4.3.3",
    validity="P >= 2; contiguous data; no contention",
    parameters=(
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("g", "time", "gap between messages", default=0.0),
        Parameter("G", "time_per_byte", "gap per byte"),
        Parameter("B", "bytes", "message size, k+1"),
        Parameter("P", "count", "processes"),
    ),
    outputs=_OUTPUTS,
    evaluate=_evaluate_loggp,
)

LOG3P = Model(
    name="broadcast-log3p",
    title="Linear and tree broadcast under log_3P",
    equations=(
        "linear = P (o_mw/2 + l_mw/2) + o_net",
        "tree   = h (o_mw + l_mw + o_net) ;  h = log2 P, rounded up",
    ),
    source="Cameron, Ge & Sun: log_nP and log_3P, 4.3.3",
    validity="P >= 2; parameters of the message's size and stride",
    parameters=(
        Parameter("o_mw", "time", "middleware overhead, both ends"),
        Parameter("l_mw", "time", "middleware latency for strided data, both ends", default=0.0),
        Parameter("o_net", "time", "network overhead"),
        Parameter("P", "count", "processes"),
        *log3p.SELECTORS,
    ),
    outputs=_OUTPUTS,
    evaluate=_evaluate_log3p,
)
