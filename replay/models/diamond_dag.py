"""Diamond DAG: makespan of an n x n task grid in P stripes of b blocks, and the best b.

    (15)  M = (W + d) + (P-2) u + (b-1) v + O_r + W
          u = O_r + W + d ;  v = O_s + W + O_r ;  W = n^2 c/(P b) + alpha n/b ;  d = L + a G
          O_s = o_s + (B-1) G ;  O_r = (B-1-a) G + o_rl' ;  B = n s/b
    m_c = 1/(v + 2 C_n)                                       one message in, one out per block: w = 2
    M_c <= M + (P-1) C_n + 2 (b-1) C_n                        every communication on the critical path waits

    Collected in b:  M = (P+b-1) W + (P-1) d + (P+b-2) O_r + (b-1) O_s, so with
    w = n^2 c/P + alpha n  and  beta = n s G
    b* = sqrt( [(P-1) w + (P-3) beta] / [o_s - (2+a) G + o_rl'] )         B = n s/b
    b* = sqrt( (P-1) w / [O_s + O_r] )                                     B given, the same for every b

Symbols: n tasks per side, P processors, b blocks per stripe, c time per task, alpha aggregation cost per value
(times), s bytes per value (1 as printed: B = n/b), L latency, o_s send overhead, o_rl' receive interrupt (0 as
printed, 129 cycles on Alewife) (times), G gap per byte, a header bytes, C_n network contention per message.

Source: LOGPC (15), section 5.2.1; b* from the derivative set to zero (the text calls it a maximum; it is a
minimum).

Validity: B >= a + 1, that is b <= n s/(a+1): below that (15)'s O_r is negative. It is taken as at least o_rl'
here, and ``as_printed=True`` evaluates the printed terms, as long as v and M stay times. The denominator of b* may
be <= 0: then more blocks are always better. With Alewife's numbers b* = 2253.8 > n, so b = n is best on the printed
formula (M = 3,397,731 cycles, with O_r = -4 in it); adding o_rl' = 129 gives 826. P >= 2.

Errors: ModelError for negative parameters, P < 2, b outside 1..n, an n, P or b that is no whole number, and times
that ``as_printed`` makes negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import Model, Output, Parameter
from logpost.replay.models.network_contention import NETWORK_PARAMETERS, Network, closed_contention, network_from
from logpost.replay.models.units import SECOND, TimeUnit

# As printed, the search for the best number of blocks visits every one.
_MOST_TASKS = 10.0**7


def _time(name: str, value: Number) -> Number:
    """``value``, unless the printed O_r of messages shorter than their header has made it negative."""
    least = float(np.min(value, initial=0.0))
    if least < 0.0:
        raise ModelError(
            f"{name} = {{least}} is negative: O_r of (15) is, for messages shorter than their header of a bytes; take "
            "as_printed=no, or fewer blocks",
            least=least,
        )
    return value


@dataclass(frozen=True, kw_only=True)
class DiamondDAG:
    """Problem and machine, or columns of them; times in ``unit``. ``as_printed`` lets O_r be negative, as (15) does."""

    n: Number
    P: Number
    task: Number
    L: Number
    o_s: Number
    G: Number
    a: Number = 0.0
    o_rl: Number = 0.0
    alpha: Number = 0.0
    bytes_per_value: Number = 1.0
    as_printed: bool = False
    unit: TimeUnit

    def __post_init__(self) -> None:
        whole("n", values("n", self.n, at_most=_MOST_TASKS), at_least=1.0)
        whole("P", self.P, at_least=2.0)
        for name in ("task", "L", "o_s", "G", "a", "o_rl", "alpha", "bytes_per_value"):
            values(name, getattr(self, name))

    def work(self, b: NumberLike) -> Number:
        """W = n^2 c/(P b) + alpha n/b."""
        blocks = self._blocks(b)
        return (self.n**2 * self.task / self.P + self.alpha * self.n) / blocks

    def block_bytes(self, b: NumberLike) -> Number:
        """B = n s/b."""
        return self.n * self.bytes_per_value / self._blocks(b)

    def send(self, B: NumberLike) -> Number:
        """O_s = o_s + (B-1) G."""
        return self.o_s + scalar_or_array(np.maximum(np.asarray(values("B", B)) - 1.0, 0.0)) * self.G

    def receive(self, B: NumberLike) -> Number:
        """O_r = (B-1-a) G + o_rl'; the first term at least 0 unless ``as_printed``."""
        stream = (np.asarray(values("B", B)) - 1.0 - self.a) * self.G
        return scalar_or_array((stream if self.as_printed else np.maximum(stream, 0.0)) + self.o_rl)

    def header(self) -> Number:
        """d = L + a G."""
        return self.L + self.a * self.G

    def cycle(self, b: NumberLike, B: NumberLike | None = None) -> Number:
        """v = O_s + W + O_r: one block of the last stripe, the time between two messages."""
        return _time("v", self._cycle_and_span(b, B)[0])

    def makespan(self, b: NumberLike, B: NumberLike | None = None) -> Number:
        """(15). ``B`` overrides the message size, as LOGPC's experiment of Fig. 9 does."""
        v, M = self._cycle_and_span(b, B)
        _time("v", v)
        return _time("M", M)

    def contended_makespan(self, b: NumberLike, network: Network, B: NumberLike | None = None) -> Number:
        """Upper bound: M + (P-1) C_n + 2(b-1) C_n, C_n closed by m_c = 1/(v + 2 C_n)."""
        size = self.block_bytes(b) if B is None else B
        C_n = closed_contention(size, self.cycle(b, size), network, per_period=2.0).C_n
        return self.makespan(b, size) + ((self.P - 1.0) + 2.0 * (self._blocks(b) - 1.0)) * C_n

    def stationary_blocks(self, B: NumberLike | None = None) -> Number:
        """b* of dM/db = 0: a real number, perhaps above n; 1 when M grows with every b, inf when it falls in the end.

        Without ``B`` on the printed terms; with it, of messages that have B bytes whatever b is.
        """
        w = self.n**2 * self.task / self.P + self.alpha * self.n
        if B is None:
            beta = self.n * self.bytes_per_value * self.G
            numerator = np.asarray((self.P - 1.0) * w + (self.P - 3.0) * beta)
            denominator = np.asarray(self.o_s - (2.0 + self.a) * self.G + self.o_rl)
        else:
            numerator = np.asarray((self.P - 1.0) * w)
            denominator = np.asarray(self.send(B) + self.receive(B))
        return scalar_or_array(_stationary(numerator, denominator))

    def best_blocks(self, B: NumberLike | None = None) -> Number:
        """The whole b in 1..n with the shortest makespan (the last such one), of those whose v and M are times.

        M is a sum of a constant, a share that falls as 1/b and one that grows with b, between the b where messages
        become shorter than their header, and than a byte: the whole numbers around the ends of these pieces and around
        the stationary point of each are compared. As printed, where v and M may be negative, all n are, row by row.
        """
        if self.as_printed:
            return self._visited(B)
        n, edges = np.asarray(self.n), np.asarray(self.n * self.bytes_per_value)
        w = np.asarray(self.n**2 * self.task / self.P + self.alpha * self.n)
        beta, falling = edges * self.G, (self.P - 1.0) * w
        places = [np.asarray(1.0), n, self.stationary_blocks(B)]
        if B is None:
            places += [edges / (self.a + 1.0), edges]
            # Messages shorter than their header, and than a byte; the printed terms are those of longer ones.
            places += [_stationary(falling - beta, np.asarray(self.o_s - self.G + self.o_rl))]
            places += [_stationary(falling, np.asarray(self.o_s + self.o_rl))]
        columns = np.broadcast_arrays(n, *(np.asarray(place, dtype=np.float64) for place in places), *self._sizes(B))
        around = np.stack([np.floor(place) + step for place in columns[1 : 1 + len(places)] for step in (-1, 0, 1, 2)])
        blocks = np.clip(np.nan_to_num(around, posinf=np.inf), 1.0, columns[0])
        spans = np.asarray(self._cycle_and_span(blocks, B)[1])
        least = spans.min(axis=0)
        return scalar_or_array(np.where(spans == least, blocks, 0.0).max(axis=0))

    def _sizes(self, B: NumberLike | None) -> list[NDArray[np.float64]]:
        """The parameters, in addition to n, that give a column of results its length."""
        fields = (self.P, self.task, self.L, self.o_s, self.G, self.a, self.o_rl, self.alpha, self.bytes_per_value)
        return [np.asarray(field, dtype=np.float64) for field in (*fields, 0.0 if B is None else B)]

    def _visited(self, B: NumberLike | None) -> Number:
        """The best of all b, one problem at a time."""
        columns = np.broadcast_arrays(np.asarray(self.n, dtype=np.float64), *self._sizes(B))
        found = np.empty(columns[0].shape)
        for place in np.ndindex(found.shape):
            n, P, task, L, o_s, G, a, o_rl, alpha, per_value, size = (float(column[place]) for column in columns)
            one = replace(
                self, n=n, P=P, task=task, L=L, o_s=o_s, G=G, a=a, o_rl=o_rl, alpha=alpha, bytes_per_value=per_value
            )
            found[place] = one._least_of_all(None if B is None else size)
        return scalar_or_array(found)

    def _least_of_all(self, B: float | None) -> float:
        blocks = np.arange(1, int(np.asarray(self.n)) + 1, dtype=np.float64)
        v, M = (np.asarray(time) for time in self._cycle_and_span(blocks, B))
        possible = (v >= 0.0) & (M >= 0.0)
        if not possible.any():
            self.makespan(1, B)  # says which
        spans = np.where(possible, M, np.inf)
        return float(blocks[len(spans) - 1 - int(np.argmin(spans[::-1]))])

    def _blocks(self, b: NumberLike) -> Number:
        blocks = whole("b", b, at_least=1.0)
        every, most = np.broadcast_arrays(np.asarray(blocks), np.asarray(self.n))
        if (above := every > most).any():
            raise ModelError(f"b = {every[above].flat[0]:g} must be at most {most[above].flat[0]:g}")
        return blocks

    def _cycle_and_span(self, b: NumberLike, B: NumberLike | None) -> tuple[Number, Number]:
        """v and M as the terms of (15) add up, negative ones included."""
        blocks = self._blocks(b)
        size = self.block_bytes(blocks) if B is None else B
        W, d, O_r = self.work(blocks), self.header(), self.receive(size)
        u = O_r + W + d
        v = self.send(size) + W + O_r
        return v, (W + d) + (self.P - 2.0) * u + (blocks - 1.0) * v + O_r + W


def _stationary(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """sqrt(numerator/denominator) of M = numerator/b + denominator b; 1 and inf where one of the shares is missing."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(np.asarray(numerator) / denominator)
    inside = np.where(denominator > 0.0, root, np.inf)
    return np.where(denominator < 0.0, np.inf, np.where(numerator <= 0.0, 1.0, inside))


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    same = ("P", "task", "L", "o_s", "G", "a", "alpha", "bytes_per_value")
    dag = DiamondDAG(
        n=whole("n_tasks", given["n_tasks"], at_least=1.0),
        o_rl=given["interrupt"],
        as_printed=given["as_printed"] == "yes",
        unit=SECOND,
        **{name: given[name] for name in same},
    )
    b = given["b"]
    B = given.get("B")
    results = {
        "M": dag.makespan(b, B),
        **({} if B is not None else {"B": dag.block_bytes(b)}),
        "W": dag.work(b),
        "v": dag.cycle(b, B),
        "b_best": dag.best_blocks(B),
        "b_star": dag.stationary_blocks(B),
    }
    if {"k_d", "kx", "ky", "kz"} & given.keys():
        results["M_contended"] = dag.contended_makespan(b, network_from(given), B)
    return results


MODEL = Model(
    name="diamond-dag",
    title="Diamond DAG: makespan in stripes and blocks, and the best number of blocks",
    equations=(
        "(15) M = (W+d) + (P-2) u + (b-1) v + O_r + W ;  u = O_r+W+d ;  v = O_s+W+O_r",
        "W = n^2 c/(P b) + alpha n/b ;  d = L + aG ;  O_s = o_s + (B-1)G ;  O_r = (B-1-a)G + o_rl' ;  B = n s/b",
        "b* = sqrt([(P-1)w + (P-3)beta]/[o_s - (2+a)G + o_rl']) ;  w = n^2 c/P + alpha n ;  beta = n s G",
        "B given: b* = sqrt((P-1)w/[O_s + O_r])",
        "M_contended = M + (P-1) C_n + 2(b-1) C_n ;  1/m_c = v + 2 C_n",
    ),
    source="Moritz & Frank: LoGPC (15), 5.2.1; b* derived from it",
    validity="b <= n s/(a+1) (else O_r of (15) is negative: taken as o_rl' unless as_printed=yes, which visits every b "
    "for every row: 10^6 rows of n_tasks=1024 need minutes); P >= 2",
    parameters=(
        Parameter("n_tasks", "count", "tasks per side, n"),
        Parameter("P", "count", "processors"),
        Parameter("b", "count", "blocks per stripe"),
        Parameter("task", "time", "time per task, c"),
        Parameter("L", "time", "latency"),
        Parameter("o_s", "time", "send overhead"),
        Parameter("interrupt", "time", "receive interrupt o_rl' (0 as printed)", default=0.0),
        Parameter("a", "bytes", "header bytes before the interrupt", default=0.0),
        Parameter("alpha", "time", "aggregation cost per value", default=0.0),
        Parameter("bytes_per_value", "bytes", "bytes per value (1 as printed)", default=1.0),
        Parameter("B", "bytes", "message size, instead of n s/b", optional=True),
        Parameter("as_printed", "choice", "let O_r be negative", default="no", choices=("yes", "no")),
        *NETWORK_PARAMETERS,
    ),
    outputs=(
        Output("M", "time", "makespan without contention"),
        Output("M_contended", "time", "upper bound with contention (when k_d or kx is given)"),
        Output("B", "bytes", "message size, n s/b (when not given)"),
        Output("W", "time", "work per block"),
        Output("v", "time", "time between two messages"),
        Output("b_best", "count", "whole number of blocks with the smallest M"),
        Output("b_star", "count", "where dM/db = 0"),
    ),
    evaluate=_evaluate,
    notes=(
        "The text calls the stationary point a maximum; it is a minimum.",
        "O_r of (15) omits the 129-cycle interrupt: interrupt=129cycle adds it.",
        "Measured slow-downs by contention are 54 % (LOGPC's introduction), 56 % (5.2.2) and up to 30 % (conclusion); "
        "the bound gives 2.39 for the 56 %.",
    ),
)
