"""log_nP: a transfer as a chain of n implicit transfers, and the models that are special cases of it.

    (1)  T = sum_{i=0}^{n-1} max(o_i, g_i) + l_i
    (2)  T = sum_{i=0}^{n-1} f(s,1)_i + f(s,d)_i                       with g_i = o_i

    special case     o_i                       l_i                      terms
    PRAM             {1}                       {0}                      1
    LogP             {o, L, o}                 0                        3
    LogGP            {o + (k-1)G, L, o}        0                        4
    LoPC             {o, L, C_n + o}           0                        3 + |C_n|
    memory logP      {f(s,1)_0, L, f(s,1)_2}   {f(s,d)_0, 0, f(s,d)_2}  3 S (1+D)
    log_3P           {o_mw/2, o_net, o_mw/2}   {l_mw/2, 0, l_mw/2}      3 S (1+D)
    copy-transfer    {s/bandwidth_i}           strided rate less that   N S (1+D)
    log_nP           any                       any                      sum_i (S_i + S_i D_i)

Symbols: o_i overhead of transfer i for contiguous data, l_i additional latency for strided data, g_i gap (o_i
plus contention), all times; s size, d stride (bytes); N transfers, S_i sizes and D_i distributions tabulated
for transfer i, |C_n| terms of the contention model.

Source: LOG3P (1) to (7), section 5. LOG3P writes C_n for LoPC's contention; LOGPC calls it C_r.

Validity: no overlap between the transfers; g_i = o_i unless contention is given.

Errors: ModelError for negative times, columns of different length, no transfer at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import ModelError, Number, scalar_or_array, values, whole
from logpost.replay.models.interface import Model, Output, Parameter, common_shape, row_by_row


@dataclass(frozen=True)
class Chain:
    """o_i, l_i and g_i of every implicit transfer from source memory to target memory."""

    o: tuple[Number, ...]
    l: tuple[Number, ...]  # noqa: E741 - the paper's letter
    g: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        if not self.o:
            raise ModelError("a transfer has at least one implicit transfer (n >= 1)")
        if len(self.l) != len(self.o) or len(self.g) not in (0, len(self.o)):
            raise ModelError(f"o, l and g differ in length ({len(self.o)}, {len(self.l)}, {len(self.g)})")
        for name in ("o", "l", "g"):
            checked = tuple(values(f"{name}_{i}", value) for i, value in enumerate(getattr(self, name)))
            object.__setattr__(self, name, checked)
        common_shape({f"{name}_{i}": value for name in ("o", "l", "g") for i, value in enumerate(getattr(self, name))})

    @property
    def n(self) -> int:
        return len(self.o)

    def time(self) -> Number:
        """(1): sum of max(o_i, g_i) + l_i."""
        gaps = self.g or self.o
        total: Number = 0.0
        for o, l, g in zip(self.o, self.l, gaps, strict=True):  # noqa: E741
            total = total + scalar_or_array(np.maximum(o, g)) + l
        return total


def terms(S: Sequence[int], D: Sequence[int]) -> int:
    """Complexity: sum_i (S_i + S_i D_i), with S_i sizes and D_i distributions for transfer i."""
    if len(S) != len(D) or not S:
        raise ModelError(f"{len(S)} size counts and {len(D)} distribution counts: one of each per transfer")
    if min(S) < 0 or min(D) < 0:
        raise ModelError("counts of sizes and distributions cannot be negative")
    return sum(s + s * d for s, d in zip(S, D, strict=True))


def complexity(model: str, *, N: int = 3, S: int = 1, D: int = 0, contention_terms: int = 1) -> int:
    """Terms a model needs to describe one communication (LOG3P section 5, Fig. 13b)."""
    if model in ("lognp", "copy-transfer"):
        return N * terms((S,), (D,))
    if model in ("log3p", "memory-logp"):
        return terms((S,) * 3, (D,) * 3)
    if model == "loggp":
        return terms((2, 1, 1), (0, 0, 0))
    if model == "logp":
        return terms((1, 1, 1), (0, 0, 0))
    if model in ("lopc", "logpc"):
        return terms((1, 1, 1), (0, 0, 0)) + contention_terms
    if model == "pram":
        return terms((1,), (0,))
    raise ModelError(f"no complexity known for {model!r}: choose {', '.join(COMPLEXITY_OF)}")


COMPLEXITY_OF = ("lognp", "log3p", "memory-logp", "copy-transfer", "logp", "loggp", "lopc", "logpc", "pram")

_HOPS = 8
"""The transfers of a chain that parameters are named for, o0 to o7."""


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    used = [i for i in range(_HOPS) if f"o{i}" in given or f"l{i}" in given or f"g{i}" in given]
    chain = Chain(
        o=tuple(given.get(f"o{i}", 0.0) for i in used),
        l=tuple(given.get(f"l{i}", 0.0) for i in used),
        g=tuple(given.get(f"g{i}", given.get(f"o{i}", 0.0)) for i in used),
    )
    return {"T": chain.time(), "N": float(chain.n)}


MODEL = Model(
    name="lognp",
    title="log_nP: a chain of up to eight implicit transfers",
    equations=("(1) T = sum over i of max(o_i, g_i) + l_i",),
    source="Cameron, Ge & Sun: log_nP and log_3P (1)",
    validity="no overlap between transfers; g_i = o_i when not given",
    parameters=tuple(
        Parameter(f"{letter}{i}", "time", f"{what} of transfer {i}", optional=True)
        for i in range(_HOPS)
        for letter, what in (("o", "contiguous overhead"), ("l", "strided latency"), ("g", "gap"))
    ),
    outputs=(Output("T", "time", "one transfer"), Output("N", "count", "implicit transfers given")),
    evaluate=_evaluate,
    notes=(
        "LogP: o0 = o_s, o1 = L, o2 = o_r. LogGP: o0 = o_s + (k-1) G. LoPC: o2 = C_r + o_r. PRAM: o0 = 1.",
        "log_3P: o0 = o2 = o_mw/2, l0 = l2 = l_mw/2, o1 = o_net. Memory logP: o1 = L, o0, l0, o2, l2 by memory copies.",
        "Copy-transfer: o_i = s/bandwidth_i, l_i = s/strided bandwidth_i - o_i.",
    ),
)


def _evaluate_complexity(given: Mapping[str, Any]) -> Mapping[str, float]:
    N, S, D, C = (int(whole(name, given[name])) for name in "NSDC")
    counts = {"N": N, "S": S, "D": D, "contention_terms": C}
    return {name: float(complexity(name, **counts)) for name in COMPLEXITY_OF}


COMPLEXITY = Model(
    name="complexity",
    title="Number of terms each model needs for one communication",
    equations=("sum_i (S_i + S_i D_i) = N S (1+D)",),
    source="Cameron, Ge & Sun: log_nP and log_3P, section 5, Fig. 13b",
    validity="S sizes and D strides for every transfer; LogGP has S_0 = 2; LoPC and LoGPC add |C|",
    parameters=(
        Parameter("N", "count", "implicit transfers", default=3.0),
        Parameter("S", "count", "discrete sizes", default=1.0),
        Parameter("D", "count", "discrete strides", default=0.0),
        Parameter("C", "count", "terms of the contention model", default=1.0),
    ),
    outputs=tuple(Output(name, "count", f"terms of {name}") for name in COMPLEXITY_OF),
    evaluate=row_by_row(_evaluate_complexity),
)
