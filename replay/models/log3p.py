"""log_3P: middleware, network, middleware.

    (6)   T(s,d) = o_mw(s) + l_mw(s,d) + o_net(s)

    measured as half round trips, T00 to oneself and T01 to another node:
    o_mw = T00(s) - T_mem(s) ;  o_net = T01(s) - o_mw ;  l_mw = T00(s,d) - o_mw - T_mem(s)

Symbols (times): o_mw middleware overhead of both ends for contiguous data, l_mw additional middleware latency
of both ends for strided data (0 for contiguous data), o_net network transfer, T_mem memory copy; s size, d
stride (bytes).

Source: LOG3P (3) to (6), section 4.1, Fig. 4. The paper prints one point for Titan (16 KB, stride 1 KB: 29,
420, 131 us, T_mem 3); its Table 1 with the LogGP parameters has no values in the text.

Validity: no contention (g = o); between tabulated points see ``tables``; regular strides. A contiguous message
has l_mw = 0 and its time is T(s) = o_mw + o_net; so have blocks that lie side by side (a stride of their size).

Errors: ModelError when a measured difference is negative: then the measurements do not belong together.

Stages: send o_mw/2 and middleware l_mw/2; wire o_net, split into latency o_net(1 byte) and the rest as
serialization; receive as send.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.models.arrays import ModelError, Number, NumberLike, scalar_or_array, values
from logpost.replay.models.interface import SIZE_SELECTOR, Messages, MessageStages, Model, Output, Parameter, row_by_row
from logpost.replay.models.tables import Line, Surface
from logpost.replay.models.units import TimeUnit


def point_to_point(o_mw: NumberLike, l_mw: NumberLike, o_net: NumberLike) -> Number:
    """(6): o_mw + l_mw + o_net."""
    return values("o_mw", o_mw) + values("l_mw", l_mw) + values("o_net", o_net)


def send_to_self(o_mw: NumberLike, l_mw: NumberLike, T_mem: NumberLike) -> Number:
    """T00(s,d) = o_mw + l_mw + T_mem: half round trip to oneself."""
    return values("o_mw", o_mw) + values("l_mw", l_mw) + values("T_mem", T_mem)


@dataclass(frozen=True)
class Measured:
    """o_mw, l_mw, o_net of one (size, stride)."""

    o_mw: float
    l_mw: float
    o_net: float


def extract(*, T00: float, T01: float, T00_strided: float, T_mem: float) -> Measured:
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
        if value < 0:
            raise ModelError(f"{name} = {{value}} is negative: {why}; measure again", value=value)
    return Measured(o_mw=o_mw, l_mw=l_mw, o_net=o_net)


@dataclass(frozen=True, eq=False)
class Log3PTable:
    """o_mw(s), o_net(s) and l_mw(s, d), in ``unit``; strides in bytes from block to block of ``block`` bytes.

    Blocks that lie side by side are contiguous data: d up to ``block``, and d = 0.
    """

    o_mw: Line
    o_net: Line
    l_mw: Surface | None
    unit: TimeUnit
    block: float = 0.0

    @classmethod
    def from_points(
        cls,
        *,
        contiguous: Iterable[tuple[float, float, float]],
        strided: Iterable[tuple[float, float, float]] = (),
        unit: TimeUnit,
        block: float = 0.0,
    ) -> Log3PTable:
        """``contiguous``: (s, o_mw, o_net); ``strided``: (s, d, l_mw), of blocks of ``block`` bytes."""
        rows, gaps = list(contiguous), list(strided)
        return cls(
            o_mw=Line.through(((s, o) for s, o, _ in rows), what="o_mw"),
            o_net=Line.through(((s, net) for s, _, net in rows), what="o_net"),
            l_mw=Surface.through(gaps, what="l_mw") if gaps else None,
            unit=unit,
            block=block,
        )

    def latency_of_stride(self, s: NumberLike, d: NumberLike) -> Number:
        """l_mw(s, d), 0 for contiguous data (d up to a block). Raises ModelError for strided data without a table."""
        stride = np.asarray(values("stride", d))
        strided = stride > self.block
        if not strided.any():
            return scalar_or_array(np.zeros(np.broadcast(values("size", s), stride).shape))
        if self.l_mw is None:
            raise ModelError(
                "no l_mw over size and stride: strided messages cannot be predicted; take stride 0, or l_mw"
            )
        return scalar_or_array(np.where(strided, self.l_mw(s, np.where(strided, stride, 1.0)), 0.0))

    def point_to_point(self, s: NumberLike, d: NumberLike = 0.0) -> Number:
        """(6) at size s and stride d."""
        return self.o_mw(s) + self.latency_of_stride(s, d) + self.o_net(s)

    def crossover(self, d: float = 0.0) -> float:
        """Least size at which o_mw + l_mw(d) reaches o_net; inf when it never does in the table."""
        sizes = np.unique(
            np.concatenate([self.o_mw.x, self.o_net.x, *([line.x for line in self.l_mw.lines] if self.l_mw else [])])
        )
        excess = np.asarray(self.o_mw(sizes) + self.latency_of_stride(sizes, d) - self.o_net(sizes))
        reached = np.flatnonzero(excess >= 0.0)
        if not reached.size:
            return float("inf")
        i = int(reached[0])
        if i == 0:
            return float(sizes[0])
        # Linear between the two sizes, like the tables.
        return float(sizes[i - 1] + (sizes[i] - sizes[i - 1]) * excess[i - 1] / (excess[i - 1] - excess[i]))


@dataclass(frozen=True)
class Log3P:
    """log_3P as the replay engine uses it."""

    table: Log3PTable

    @property
    def name(self) -> str:
        return "log3p"

    @property
    def contention(self) -> frozenset[str]:
        return frozenset()

    def stages(self, messages: Messages) -> MessageStages:
        table = self.table
        half_overhead = table.o_mw(messages.size) / 2.0
        half_latency = table.latency_of_stride(messages.size, messages.stride) / 2.0
        each = (messages.size + messages.stride) * 0.0
        net = np.asarray(table.o_net(messages.size)) + each
        first = np.minimum(np.asarray(table.o_net(1.0)), net)
        return MessageStages(
            send_overhead=half_overhead + each,
            send_middleware=half_latency + each,
            latency=scalar_or_array(first),
            serialization=scalar_or_array(net - first),
            recv_middleware=half_latency + each,
            recv_overhead=half_overhead + each,
            gap=scalar_or_array(net - first),
            unit=table.unit,
        )


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    o_mw, l_mw, o_net = given["o_mw"], given["l_mw"], given["o_net"]
    found = {"T": point_to_point(o_mw, l_mw, o_net), "T_contiguous": point_to_point(o_mw, 0.0, o_net)}
    return {**found, "T_self": send_to_self(o_mw, l_mw, given["T_mem"])} if "T_mem" in given else found


SELECTORS = (
    SIZE_SELECTOR,
    Parameter("stride", "bytes", "from block to block, where a machine's l_mw is taken (0: contiguous)", optional=True),
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


def _evaluate_extract(given: Mapping[str, Any]) -> Mapping[str, float]:
    found = extract(T00=given["T00"], T01=given["T01"], T00_strided=given["T00_strided"], T_mem=given["T_mem"])
    T = float(np.asarray(point_to_point(found.o_mw, found.l_mw, found.o_net)))
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
    evaluate=row_by_row(_evaluate_extract),
)
