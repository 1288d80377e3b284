"""LogGOPS: LogGP with overhead per byte (O) and a rendezvous above S bytes.

    eager,      B <= S:  T = o_s + B O + L + (B-1) G + o_r + B O
    rendezvous, B >  S:  T = o_s + L + o_ctl + L + o_ctl + B O + L + (B-1) G + o_r + B O

Symbols: L, o_s, o_r (times), G, O (time per byte), S (bytes), B size (bytes), o_ctl CPU time for a control
message, taken as o_s. The three L are request-to-send, clear-to-send and the data.

Source: the LogGOPS letters of the LogGP family (not in the five papers); the rendezvous is the replay engine's
sequence for a receiver that waits already.

Validity: as LogGP. With O = 0 and S infinite it is LogGP.

Errors: ModelError for negative times, sizes or a negative S.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import Number, NumberLike, scalar_or_array, values
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.loggp import one_message
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND


def eager(p: LogGPParameters, B: NumberLike) -> Number:
    """o_s + B O + L + (B-1) G + o_r + B O."""
    return one_message(p, B) + 2.0 * values("B", B) * p.O


def handshake(p: LogGPParameters) -> Number:
    """L + o_ctl + L + o_ctl: request to send, clear to send, and the sender's answer to it."""
    return 2.0 * (p.L + p.o_s)


def point_to_point(p: LogGPParameters, B: NumberLike) -> Number:
    """Eager up to S bytes, rendezvous above, with the receive posted in time."""
    size = np.asarray(values("B", B))
    return scalar_or_array(eager(p, size) + np.where(size > p.S, handshake(p), 0.0))


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    p = LogGPParameters(**{name: given[name] for name in ("L", "o_s", "o_r", "G", "O", "S")}, unit=SECOND)
    return {"T": point_to_point(p, given["B"]), "T_eager": eager(p, given["B"])}


MODEL = Model(
    name="loggops",
    title="LogGOPS: LogGP with overhead per byte and a rendezvous above S bytes",
    equations=(
        "B <= S: T = o_s + L + (B-1) G + o_r + 2 B O",
        "B >  S: T = the same + 2 (L + o_s)",
    ),
    source="the LogGOPS letters; rendezvous as in the replay engine",
    validity="B >= 1, no contention, receive posted before the message; equals LogGP for O = 0, S infinite",
    parameters=(
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead (o sets both)"),
        Parameter("o_r", "time", "receive overhead"),
        Parameter("G", "time_per_byte", "gap per byte"),
        Parameter("O", "time_per_byte", "overhead per byte", default=0.0),
        Parameter("S", "bytes", "largest eager message", default=float("inf")),
        Parameter("B", "bytes", "message size"),
    ),
    outputs=(
        Output("T", "time", "one message"),
        Output("T_eager", "time", "the same without a handshake"),
    ),
    evaluate=_evaluate,
)
