"""Diamond DAG: makespan of an n x n task grid in P stripes of b blocks, and the best b.

    (15)  M = (W + d) + (P-2) u + (b-1) v + O_r + W
          u = O_r + W + d ;  v = O_s + W + O_r ;  W = n^2 c/(P b) + alpha n/b ;  d = L + a G
          O_s = o_s + (B-1) G ;  O_r = (B-1-a) G + o_rl' ;  B = n s/b
    m_c = 1/(v + 2 C_n)                                       one message in, one out per block: w = 2
    M_c <= M + (P-1) C_n + 2 (b-1) C_n                        every communication on the critical path waits

    Collected in b:  M = (P+b-1) W + (P-1) d + (P+b-2) O_r + (b-1) O_s, so with
    w = n^2 c/P + alpha n  and  beta = n s G
    b* = sqrt( [(P-1) w + (P-3) beta] / [o_s - (2+a) G + o_rl'] )

Symbols: n tasks per side, P processors, b blocks per stripe, c time per task, alpha aggregation cost per value
(times), s bytes per value (1 as printed: B = n/b), L latency, o_s send overhead, o_rl' receive interrupt (0 as
printed, 129 cycles on Alewife) (times), G gap per byte, a header bytes, C_n network contention per message.

Source: LOGPC (15), section 5.2.1; b* from the derivative set to zero (the text calls it a maximum; it is a
minimum).

Validity: B >= a + 1, that is b <= n s/(a+1): below that (15)'s O_r is negative. It is taken as at least o_rl'
here, and ``as_printed=True`` evaluates the printed terms, as long as v and M stay times. The denominator of b* may
be <= 0: then more blocks are always better. With Alewife's numbers b* = 2253.8 > n, so b = n is best on the printed
formula (M = 3,397,731 cycles, with O_r = -4 in it); adding o_rl' = 129 gives 826. P >= 2.

Errors: ModelError for negative parameters, P < 2, b outside 1..n, and times that ``as_printed`` makes negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.models.arrays import ModelError, Number, NumberLike, scalar_or_array, values
from logpost.replay.models.interface import Model, Output, Parameter, row_by_row
from logpost.replay.models.network_contention import NETWORK_PARAMETERS, Network, closed_contention, network_from
from logpost.replay.models.units import SECOND, TimeUnit

# The search for the best number of blocks visits every one.
_MOST_TASKS = 10.0**7


def _time(name: str, value: Number) -> Number:
    """``value``, unless the printed O_r of messages shorter than their header has made it negative."""
    least = float(np.min(value))
    if least < 0.0:
        raise ModelError(
            f"{name} = {{least}} is negative: O_r of (15) is, for messages shorter than their header of a bytes; take "
            "as_printed=no, or fewer blocks",
            least=least,
        )
    return value


@dataclass(frozen=True, kw_only=True)
class DiamondDAG:
    """Problem and machine; times in ``unit``. ``as_printed`` lets O_r be negative, as (15) does."""

    n: float
    P: float
    task: float
    L: float
    o_s: float
    G: float
    a: float = 0.0
    o_rl: float = 0.0
    alpha: float = 0.0
    bytes_per_value: float = 1.0
    as_printed: bool = False
    unit: TimeUnit

    def __post_init__(self) -> None:
        values("n", self.n, at_least=1.0, at_most=_MOST_TASKS)
        values("P", self.P, at_least=2.0)
        for name in ("task", "L", "o_s", "G", "a", "o_rl", "alpha", "bytes_per_value"):
            values(name, getattr(self, name))

    def work(self, b: NumberLike) -> Number:
        """W = n^2 c/(P b) + alpha n/b."""
        blocks = values("b", b, at_least=1.0, at_most=self.n)
        return (self.n**2 * self.task / self.P + self.alpha * self.n) / blocks

    def block_bytes(self, b: NumberLike) -> Number:
        """B = n s/b."""
        return self.n * self.bytes_per_value / values("b", b, at_least=1.0, at_most=self.n)

    def send(self, B: NumberLike) -> Number:
        """O_s = o_s + (B-1) G."""
        return self.o_s + scalar_or_array(np.maximum(np.asarray(values("B", B)) - 1.0, 0.0)) * self.G

    def receive(self, B: NumberLike) -> Number:
        """O_r = (B-1-a) G + o_rl'; the first term at least 0 unless ``as_printed``."""
        stream = (np.asarray(values("B", B)) - 1.0 - self.a) * self.G
        return scalar_or_array((stream if self.as_printed else np.maximum(stream, 0.0)) + self.o_rl)

    def header(self) -> float:
        """d = L + a G."""
        return self.L + self.a * self.G

    def cycle(self, b: NumberLike, B: NumberLike | None = None) -> Number:
        """v = O_s + W + O_r: one block of the last stripe, the time between two messages."""
        size = self.block_bytes(b) if B is None else B
        return _time("v", self.send(size) + self.work(b) + self.receive(size))

    def makespan(self, b: NumberLike, B: NumberLike | None = None) -> Number:
        """(15). ``B`` overrides the message size, as LOGPC's experiment of Fig. 9 does."""
        size = self.block_bytes(b) if B is None else B
        blocks = values("b", b, at_least=1.0, at_most=self.n)
        W, d, O_r = self.work(b), self.header(), self.receive(size)
        u = O_r + W + d
        v = self.cycle(b, size)
        return _time("M", (W + d) + (self.P - 2.0) * u + (blocks - 1.0) * v + O_r + W)

    def contended_makespan(self, b: NumberLike, network: Network, B: NumberLike | None = None) -> Number:
        """Upper bound: M + (P-1) C_n + 2(b-1) C_n, C_n closed by m_c = 1/(v + 2 C_n)."""
        size = self.block_bytes(b) if B is None else B
        C_n = closed_contention(size, self.cycle(b, size), network, per_period=2.0).C_n
        blocks = values("b", b, at_least=1.0, at_most=self.n)
        return self.makespan(b, size) + ((self.P - 1.0) + 2.0 * (blocks - 1.0)) * C_n

    def stationary_blocks(self) -> float:
        """b* of dM/db = 0 on the printed terms: a real number, perhaps above n; inf when M falls for every b."""
        w = self.n**2 * self.task / self.P + self.alpha * self.n
        beta = self.n * self.bytes_per_value * self.G
        numerator = (self.P - 1.0) * w + (self.P - 3.0) * beta
        denominator = self.o_s - (2.0 + self.a) * self.G + self.o_rl
        if numerator <= 0.0:
            return 1.0
        return float(np.sqrt(numerator / denominator)) if denominator > 0.0 else float("inf")

    def best_blocks(self) -> int:
        """The whole b in 1..n with the least makespan (the last such one)."""
        blocks = np.arange(1, int(self.n) + 1, dtype=np.float64)
        spans = np.asarray(self.makespan(blocks))
        return int(blocks[len(spans) - 1 - int(np.argmin(spans[::-1]))])


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, float]:
    same = ("P", "task", "L", "o_s", "G", "a", "alpha", "bytes_per_value")
    dag = DiamondDAG(
        n=given["n_tasks"],
        o_rl=given["interrupt"],
        as_printed=given["as_printed"] == "yes",
        unit=SECOND,
        **{name: given[name] for name in same},
    )
    b = given["b"]
    B = given.get("B", dag.block_bytes(b))
    results = {
        "M": dag.makespan(b, B),
        "B": B,
        "W": dag.work(b),
        "v": dag.cycle(b, B),
        "b_best": dag.best_blocks(),
        "b_star": dag.stationary_blocks(),
    }
    if {"k_d", "kx"} & given.keys():
        results["M_contended"] = dag.contended_makespan(b, network_from(given), B)
    return {name: float(np.asarray(value)) for name, value in results.items()}


MODEL = Model(
    name="diamond-dag",
    title="Diamond DAG: makespan in stripes and blocks, and the best number of blocks",
    equations=(
        "(15) M = (W+d) + (P-2) u + (b-1) v + O_r + W ;  u = O_r+W+d ;  v = O_s+W+O_r",
        "W = n^2 c/(P b) + alpha n/b ;  d = L + aG ;  O_s = o_s + (B-1)G ;  O_r = (B-1-a)G + o_rl' ;  B = n s/b",
        "b* = sqrt([(P-1)w + (P-3)beta]/[o_s - (2+a)G + o_rl']) ;  w = n^2 c/P + alpha n ;  beta = n s G",
        "M_contended = M + (P-1) C_n + 2(b-1) C_n ;  1/m_c = v + 2 C_n",
    ),
    source="Moritz & Frank: LoGPC (15), 5.2.1; b* derived from it",
    validity="b <= n s/(a+1) (else O_r of (15) is negative: taken as o_rl' unless as_printed=yes); P >= 2",
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
        Output("B", "bytes", "message size"),
        Output("W", "time", "work per block"),
        Output("v", "time", "time between two messages"),
        Output("b_best", "count", "best whole number of blocks"),
        Output("b_star", "count", "where dM/db = 0"),
    ),
    evaluate=row_by_row(_evaluate),
    notes=(
        "The text calls the stationary point a maximum; it is a minimum.",
        "O_r of (15) omits the 129-cycle interrupt: interrupt=129cycle adds it.",
        "Measured slow-downs by contention are 54 % (LOGPC's introduction), 56 % (5.2.2) and up to 30 % (conclusion); "
        "the bound gives 2.39 for the 56 %.",
    ),
)
