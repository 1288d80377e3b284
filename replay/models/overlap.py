"""Communication overlap: time of a program that moves V bytes in N messages, n_b bursts of b.

    T(S) = o + L + G S ;  N = V/S ,  n_b = N/b ,  t_S = t_V S/V
    (1)  communication bound, tight       (o+L) n_b + N G_S S + n_b t_S
    (4)  communication bound, pipelined   o + L + N G_S S + t_S
    (5)  balanced, pipelined              (o+L) n_b t_V/(G_V V) + N G_S S + t_S
    (6)  computation bound, tight         (o + L + G_S S + b t_S) n_b
    (7)  computation bound, pipelined     (o + L + G_S S) + b t_S n_b + o b (n_b - 2)
    several end-points                    P T(V,S,b), G of neighbours (contiguous) or of the cross pattern (interleaved)
    (9)  end-point congestion             T(V,S,b) + (P-1) b G_S S
    all-to-all, same order everywhere     P times (9)
    (10) all-to-all, contiguous           (5) + (P-1) 2 b G_S S
    (11) all-to-all, interleaved          (5) + n_b b G_S S
    constraints: (2) G_V V - t_V > N o ;  (3) L + G_S S > (b-1) o ;  (8) b < HD ;  b S <= outstanding limit (Elan 4 MB)

Symbols: V bytes per process (and peer), S message size, N messages, b burst length, n_b bursts, P peers; t_V
time to compute on all V bytes, t_S on one message, o = o(S,b) initiation overhead, L latency (round trip for
get, one way for put) (times); G_S, G_V inverse bandwidth for messages of S, of V bytes (time per byte; G_S is 0
where short messages carry their bytes within o, as on Alewife); HD queue depth.

Source: OVL (1) to (11), section 3. Tight is Fig. 6-C, pipelined Fig. 6-E.

Time and ranking. The program is communication bound where t_V <= G_V V: its time is (1), (4) or (5); computation
bound where t_V > G_V V: (6) or (7). OVL derives (5) "for balanced problems, where communication time is similar to
the computation time (G_V V ~ t_V)" (3.1); far from that it is no time (it falls to the communication alone for one
burst, and grows with t_V/(G_V V) for many). "Using only the model for communication bound problems (Equation 5)
produces good solutions even for computation bound problems" (4): solutions are S and b, so (5) may rank the
decompositions of both kinds (``ranking``) and gives the time of communication-bound ones only
(``point_to_point``, ``with_peers``). (10) and (11), printed for communication-bound programs, take the base of the
regime too, (5) or (7).

No time is below that of its parts (``least_time``): the link or the computation without a pause, which OVL calls
the lower bound, and the processor's own work t_V + N o, which (2) fits into the communication. (5) would be for few
bursts (n_b t_V < G_V V); (7) where L + G_S S < (2b-1) o, because it counts the initiations of two bursts as hidden by
the first message; all where G_S differs so much from G_V that the messages of S are bound otherwise than the whole.
These bounds are one peer's. (9) to (11) add to it what is printed: bursts of the other peers (11: once more V), not all
the bytes that P peers move. Through one link those take P N G_S S, which the times of (9) to (11) can be far below: use
them to choose S and b.

Validity: S <= V, b <= N. In (7) the term n_b - 2 is clamped at 0 (it is negative for one burst). The model describes
the best implementation, not every one: where constraint (2) or (3) fails, overlap is not perfect and the time is a
lower bound. A burst of HD operations or more, or one beyond the outstanding limit, blocks the processor in the
initiation, which no equation describes (OVL section 2 stops there): ``constraints`` says so, ``predict`` gives no
time for it and ``overlap_search`` drops it.
The text says (10), (11) are smallest at b = 1 for any S; with (5), (11) falls with b (n_b b = N) and (10) has its
minimum at b* = sqrt((o+L) N t_V/(G_V V) / (2 (P-1) G_S S)), which can exceed 1.

Errors: ModelError for negative times and G_S, for V, S and G_V that are not positive, b < 1, a message larger than V,
a burst longer than the messages there are, and unknown forms and topologies; of the model also for b and P that are
not whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import Model, Output, Parameter

Form: TypeAlias = Literal["tight", "pipelined", "balanced"]
Topology: TypeAlias = Literal[
    "point-to-point",
    "multi-contiguous",
    "multi-interleaved",
    "end-point",
    "all-to-all-same",
    "all-to-all-contiguous",
    "all-to-all-interleaved",
]
TOPOLOGIES: tuple[Topology, ...] = get_args(Topology)


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """V bytes and t_V computation, cut into messages of S in bursts of b, on a network o, L, G_S, G_V."""

    V: Number
    S: Number
    b: Number
    t_V: Number
    o: Number
    L: Number
    G_S: Number
    G_V: Number

    def __post_init__(self) -> None:
        for name in ("V", "S", "G_V"):
            object.__setattr__(self, name, values(name, getattr(self, name), above=0.0))
        for name in ("t_V", "o", "L", "G_S"):
            object.__setattr__(self, name, values(name, getattr(self, name)))
        object.__setattr__(self, "b", values("b", self.b, at_least=1.0))
        S, V, b = np.broadcast_arrays(self.S, self.V, self.b)
        large = S > V
        if large.any():
            raise ModelError(
                f"S = {S[large].flat[0]:g} is larger than V = {V[large].flat[0]:g}: a message cannot carry more than "
                f"all the data; take S up to V"
            )
        long = b * S > V * (1.0 + 1e-12)
        if long.any():
            most = np.floor((V / S)[long].flat[0])
            raise ModelError(
                f"b = {b[long].flat[0]:g} is longer than the V/S = {most:g} messages there are: take b up to that, or "
                f"a smaller S"
            )

    @property
    def N(self) -> Number:
        """Messages, V/S."""
        return self.V / self.S

    @property
    def n_b(self) -> Number:
        """Bursts, N/b."""
        return self.N / self.b

    @property
    def t_S(self) -> Number:
        """Computation on one message's data, t_V S/V."""
        return self.t_V * self.S / self.V

    @property
    def communication(self) -> Number:
        """N G_S S: all the bytes at the messages' own bandwidth."""
        return self.N * self.G_S * self.S

    @property
    def computation_bound(self) -> NDArray[np.bool_]:
        """t_V > G_V V."""
        return np.asarray(self.t_V) > np.asarray(self.G_V * self.V)


def blocking(d: Decomposition) -> Number:
    """Fig. 6-A: N messages one after the other, each waited for, then computed on; the baseline."""
    return d.N * (d.o + d.L + d.G_S * d.S) + d.t_V


def communication_bound_tight(d: Decomposition) -> Number:
    """(1): (o+L) n_b + N G_S S + n_b t_S."""
    return (d.o + d.L) * d.n_b + d.communication + d.n_b * d.t_S


def communication_bound_pipelined(d: Decomposition) -> Number:
    """(4): o + L + N G_S S + t_S."""
    return d.o + d.L + d.communication + d.t_S


def balanced_pipelined(d: Decomposition) -> Number:
    """(5): (o+L) n_b t_V/(G_V V) + N G_S S + t_S."""
    return (d.o + d.L) * d.n_b * d.t_V / (d.G_V * d.V) + d.communication + d.t_S


def computation_bound_tight(d: Decomposition) -> Number:
    """(6): (o + L + G_S S + b t_S) n_b."""
    return (d.o + d.L + d.G_S * d.S + d.b * d.t_S) * d.n_b


def computation_bound_pipelined(d: Decomposition) -> Number:
    """(7): (o + L + G_S S) + b t_S n_b + o b (n_b - 2), the last term at least 0."""
    exposed = scalar_or_array(np.maximum(np.asarray(d.n_b) - 2.0, 0.0))
    return (d.o + d.L + d.G_S * d.S) + d.b * d.t_S * d.n_b + d.o * d.b * exposed


def least_time(d: Decomposition, form: Form = "balanced") -> Number:
    """The time of the program's parts, perfectly overlapped: the greatest of

    t_V + N o                                  the processor's own work
    pipelined, balanced: o + L + N G_S S + t_S     the link without a pause, (4)
                         o + L + G_S S + t_V       the computation without a pause, (7) without its last term
    tight:               (1) and (6)
    """
    processor = d.t_V + d.N * d.o
    if form == "tight":
        link, computation = communication_bound_tight(d), computation_bound_tight(d)
    else:
        link, computation = communication_bound_pipelined(d), d.o + d.L + d.G_S * d.S + d.t_V
    return scalar_or_array(np.maximum(processor, np.maximum(link, computation)))


def equation(d: Decomposition, form: Form = "balanced") -> Number:
    """As printed, by regime and form.

    communication bound (t_V <= G_V V): tight (1), pipelined (4), balanced (5);
    computation bound: tight (6), pipelined and balanced (7).
    """
    if form == "tight":
        bound = communication_bound_tight(d), computation_bound_tight(d)
    elif form == "pipelined":
        bound = communication_bound_pipelined(d), computation_bound_pipelined(d)
    elif form == "balanced":
        bound = balanced_pipelined(d), computation_bound_pipelined(d)
    else:
        raise ModelError(f"form = {form!r}: choose tight, pipelined or balanced")
    return scalar_or_array(np.where(d.computation_bound, bound[1], bound[0]))


def point_to_point(d: Decomposition, form: Form = "balanced") -> Number:
    """The time of the program: ``equation``, and at least ``least_time``."""
    return scalar_or_array(np.maximum(equation(d, form), least_time(d, form)))


def with_peers(d: Decomposition, topology: Topology, P: NumberLike = 1.0, form: Form = "balanced") -> Number:
    """Time with P peers: several end-points, congestion at one end-point (9), all-to-all (9) to (11).

    (10) and (11) are of the pipelined program: their base is (5), or (7) where computation bound, for every form.
    """
    return _among_peers(d, topology, P, point_to_point(d, _form(topology, form)))


def ranking(
    d: Decomposition, topology: Topology = "point-to-point", P: NumberLike = 1.0, form: Form = "balanced"
) -> Number:
    """What OVL chooses S and b by: the equations as printed; balanced is (5) whatever the regime.

    Only its order means something: for computation-bound programs (5) is no time (OVL section 4).
    """
    taken = _form(topology, form)
    return _among_peers(d, topology, P, balanced_pipelined(d) if taken == "balanced" else equation(d, taken))


def _form(topology: Topology, form: Form) -> Form:
    """(10) and (11) are printed with (5)."""
    return "balanced" if topology in ("all-to-all-contiguous", "all-to-all-interleaved") else form


def _among_peers(d: Decomposition, topology: Topology, P: NumberLike, one: Number) -> Number:
    """P peers, where one takes ``one``."""
    peers = values("P", P, at_least=1.0)
    burst = d.b * d.G_S * d.S
    if topology == "point-to-point":
        return one + 0.0 * peers
    if topology in ("multi-contiguous", "multi-interleaved"):
        # The schedules differ in the bandwidth that the network gives: d.G_S and d.G_V (see is_interleaved).
        return peers * one
    congested = one + (peers - 1.0) * burst
    if topology == "end-point":
        return congested
    if topology == "all-to-all-same":
        return peers * congested
    if topology == "all-to-all-contiguous":
        return one + (peers - 1.0) * 2.0 * burst
    if topology == "all-to-all-interleaved":
        return one + d.n_b * burst + 0.0 * peers
    raise ModelError(f"topology = {topology!r}: choose {', '.join(TOPOLOGIES)}")


def is_interleaved(topology: str) -> bool:
    """Whether the peers take turns, so that G is that of the cross pattern (OVL 3.2), not of neighbours."""
    return topology.endswith("-interleaved")


@dataclass(frozen=True)
class Constraints:
    """Which of (2), (3), (8) and the limit on outstanding bytes hold; all must for a communication-bound program."""

    hides_initiation: NDArray[np.bool_]
    """(2) G_V V - t_V > N o (communication bound only)."""
    hides_burst: NDArray[np.bool_]
    """(3) L + G_S S > (b-1) o (communication bound only)."""
    below_queue_depth: NDArray[np.bool_]
    """(8) b < HD."""
    below_outstanding: NDArray[np.bool_]
    """b S within the NIC's reach (TLB: 4 MB on Elan)."""

    def all(self) -> NDArray[np.bool_]:
        return self.hides_initiation & self.hides_burst & self.below_queue_depth & self.below_outstanding


def constraints(
    d: Decomposition, HD: NumberLike = float("inf"), outstanding_bytes: NumberLike = float("inf")
) -> Constraints:
    """Check (2), (3), (8) and the outstanding limit; (2) and (3) bind communication-bound programs only."""
    free = d.computation_bound
    return Constraints(
        hides_initiation=free | np.asarray(d.N * d.o < d.G_V * d.V - d.t_V),
        hides_burst=free | np.asarray((d.b - 1.0) * d.o < d.L + d.G_S * d.S),
        below_queue_depth=np.asarray(d.b) < np.asarray(values("HD", HD, finite=False)),
        below_outstanding=np.asarray(d.b * d.S)
        <= np.asarray(values("outstanding_bytes", outstanding_bytes, finite=False)),
    )


def loss(T_model: NumberLike, T_opt: NumberLike, T_base: NumberLike) -> Number:
    """(T_model - T_opt)/T_base: OVL section 4's loss of performance."""
    return (values("T_model", T_model) - values("T_opt", T_opt)) / values("T_base", T_base, above=0.0)


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    L = given["L"] if given["operation"] == "get" else given["L"] / 2.0
    d = Decomposition(
        **{name: given[name] for name in ("V", "S", "t_V", "o")},
        b=whole("b", given["b"], at_least=1.0),
        L=L,
        G_S=given["G"],
        G_V=given["G_V"] if "G_V" in given else values("G", given["G"], above=0.0),
    )
    T = with_peers(d, given["topology"], whole("P", given["P"], at_least=1.0), given["form"])
    held = constraints(d, given["HD"], given["outstanding"])
    described = held.below_queue_depth & held.below_outstanding
    return {
        "T": scalar_or_array(np.where(described, T, np.nan)),
        "T_blocking": blocking(d),
        "N": d.N,
        "n_b": d.n_b,
        "hides_initiation": scalar_or_array(held.hides_initiation),
        "hides_burst": scalar_or_array(held.hides_burst),
        "below_queue_depth": scalar_or_array(held.below_queue_depth),
        "below_outstanding": scalar_or_array(held.below_outstanding),
    }


COMMON_PARAMETERS = (
    Parameter("V", "bytes", "data per process and peer"),
    Parameter("t_V", "time", "computation on V bytes"),
    Parameter("o", "time", "initiation overhead o_s + o_r of one message"),
    Parameter("L", "time", "round-trip latency"),
    Parameter("G", "time_per_byte", "inverse bandwidth for messages of S bytes"),
    Parameter("G_V", "time_per_byte", "inverse bandwidth for V bytes (G when left out)", optional=True),
    Parameter("P", "count", "peers", default=1.0),
    Parameter("HD", "count", "hardware queue depth", default=float("inf")),
    Parameter("outstanding", "bytes", "limit on outstanding bytes", default=float("inf")),
    Parameter("topology", "choice", "peers and their order", default="point-to-point", choices=TOPOLOGIES),
    Parameter(
        "form",
        "choice",
        "communication/computation bound: (1)/(6), (4)/(7) or (5)/(7)",
        default="balanced",
        choices=("tight", "pipelined", "balanced"),
    ),
    Parameter("operation", "choice", "get pays the round trip, put one way", default="get", choices=("get", "put")),
)

MODEL = Model(
    name="overlap",
    title="Communication overlap: V bytes in messages of S and bursts of b",
    equations=(
        "N = V/S ;  n_b = N/b ;  t_S = t_V S/V",
        "(1) (o+L) n_b + N G S + n_b t_S                 communication bound, tight",
        "(4) o + L + N G S + t_S                         communication bound, pipelined",
        "(5) (o+L) n_b t_V/(G_V V) + N G S + t_S         communication bound, balanced (G_V V ~ t_V)",
        "(6) (o + L + G S + b t_S) n_b                   computation bound (t_V > G_V V), tight",
        "(7) o + L + G S + b t_S n_b + o b max(n_b-2,0)  computation bound, pipelined",
        "T of one peer: at least t_V + N o and, pipelined, o + L + max(N G S + t_S, G S + t_V), tight, (1) and (6)",
        "several end-points: P times ;  (9) + (P-1) b G S ;  (10) + (P-1) 2 b G S ;  (11) + n_b b G S",
        "(2) G_V V - t_V > N o ;  (3) L + G S > (b-1) o ;  (8) b < HD",
    ),
    source="Iancu & Strohmaier: Optimizing Communication Overlap for High-Speed Networks, (1)-(11)",
    validity="S <= V, b <= V/S; communication bound, t_V <= G_V V: (1), (4), (5); computation bound: (6), (7), also "
    "for form = balanced and under (10), (11), because (5) is derived for G_V V ~ t_V; perfect overlap where (2), (3) "
    "hold (else a lower bound); T is empty where b >= HD or b S is above the limit: the processor is blocked",
    parameters=(
        *COMMON_PARAMETERS[:1],
        Parameter("S", "bytes", "message size"),
        Parameter("b", "count", "burst length", default=1.0),
        *COMMON_PARAMETERS[1:],
    ),
    outputs=(
        Output("T", "time", "end-to-end; empty where a burst overflows the queue"),
        Output("T_blocking", "time", "without any overlap, one peer"),
        Output("N", "count", "messages"),
        Output("n_b", "count", "bursts"),
        Output("hides_initiation", "count", "(2) holds (1) or not (0); 1 where computation bound"),
        Output("hides_burst", "count", "(3) holds; 1 where computation bound"),
        Output("below_queue_depth", "count", "(8) holds"),
        Output("below_outstanding", "count", "b S within the limit"),
    ),
    evaluate=_evaluate,
    notes=(
        "(9), (10), (11) add bursts of the other peers, not all the bytes of P peers: through one link these take "
        "P N G S, and T can be far below. They serve to choose S and b.",
        "The paper says (10), (11) are smallest at b = 1: (11) falls with b, and (10) has its minimum at "
        "sqrt((o+L) N t_V/(G_V V)/(2(P-1) G S)).",
        "The text's Table 4 is captioned Table 2.",
    ),
)
