"""Which message size and burst length: the search of OVL section 3.

    S = V/2^i with at most 8192 messages ;  b = 1, 2, 4, ... 64, b <= V/S
    drop points that violate (2), (3), (8) or the outstanding limit; take the first in rank; ties to the largest b.
    rank by time:      the smallest T of ``overlap``
    rank by equation:  the smallest of the equation as printed: balanced (5), whatever the regime, pipelined (4) or (7),
                       tight (1) or (6), with (9) to (11)

Symbols and equations: see ``overlap``. T of a point is its time, whatever it was ranked by.

Source: OVL sections 3 and 3.1; section 4 for (5) as the one model to choose by: "using only the model for
communication bound problems (Equation 5) produces good solutions even for computation bound problems", when t_V is
uncertain. For constant o, (1), (4) to (7) never grow with b, so the longest burst within the constraints wins.

Validity: when no point satisfies the constraints there is no perfect overlap: the result says so and how many
points each constraint dropped, instead of returning a point that the model does not describe. (7) as printed hides
the initiations of two bursts whatever their cost, so that it ranks many small messages first; T counts them.

Cost: 77 decompositions of each row, all rows at once: about 200 times the time of ``loggp``.

Errors: ModelError for V < 1, for an unknown rank, for a P that is not whole (of the model), for o, G or L that neither
the profile nor the caller gives, and for asking ``best`` of a search that found nothing, with what dropped the points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, Number, scalar_or_array, values, whole
from logpost.replay.models.interface import MissingParametersError, Model, Output, Parameter
from logpost.replay.models.overlap import (
    COMMON_PARAMETERS,
    Constraints,
    Decomposition,
    Form,
    Topology,
    constraints,
    is_interleaved,
    ranking,
    with_peers,
)
from logpost.replay.models.overlap_profile import Curve, Operation, OverlapProfile
from logpost.replay.models.units import SECOND

LARGEST_MESSAGE_COUNT = 8192
"""Of V, as OVL searches."""
Rank: TypeAlias = Literal["time", "equation"]
RANKS: tuple[Rank, ...] = get_args(Rank)
BURSTS = (1, 2, 4, 8, 16, 32, 64)
"""Messages that are sent back to back; the longest burst within the constraints wins, and few have more in flight."""


@dataclass(frozen=True)
class Point:
    """One admissible decomposition and its predicted time."""

    S: float
    b: float
    T: float


@dataclass(frozen=True)
class SearchResult:
    """All admissible points, first in rank first, and how many each constraint dropped."""

    points: tuple[Point, ...]
    visited: int
    dropped: Mapping[str, int]

    @property
    def best(self) -> Point:
        """The point to use. Raises ModelError when no point satisfies the constraints."""
        if not self.points:
            reasons = ", ".join(f"{name} drops {count}" for name, count in self.dropped.items() if count)
            raise ModelError(
                f"none of {self.visited} decompositions overlaps perfectly ({reasons}): no (S, b) to advise"
            )
        return self.points[0]


def search(
    profile: OverlapProfile,
    V: float,
    t_V: float,
    *,
    P: float = 1.0,
    topology: Topology = "point-to-point",
    form: Form = "balanced",
    operation: Operation = "get",
    rank: Rank = "equation",
    largest_count: int = LARGEST_MESSAGE_COUNT,
    bursts: tuple[int, ...] = BURSTS,
) -> SearchResult:
    """Search (S, b) for V bytes and t_V computation (in the profile's unit).

    ``rank``: by the equation as printed, which is OVL's search, or by the time that it gives at least.
    """
    if rank not in RANKS:
        raise ModelError(f"rank = {rank!r}: choose {' or '.join(RANKS)}")
    values("V", V, at_least=1.0)
    N, b = _grid(largest_count, bursts)
    possible = (b <= N) & (N <= V)
    N, b = N[possible], b[possible]
    S = V / N
    T, first, held = _judged(
        profile, V, S, b, t_V, P=P, topology=topology, form=form, operation=operation, rank=rank, HD=profile.HD,
        outstanding=profile.outstanding_bytes,
    )  # fmt: skip
    admissible = np.flatnonzero(held.all())
    order = admissible[np.lexsort((-b[admissible], first[admissible]))]
    return SearchResult(
        points=tuple(Point(S=float(S[i]), b=float(b[i]), T=float(T[i])) for i in order),
        visited=len(S),
        dropped={
            "(2) G_V V - t_V > N o": int((~held.hides_initiation).sum()),
            "(3) L + G S > (b-1) o": int((~held.hides_burst).sum()),
            "(8) b < HD": int((~held.below_queue_depth).sum()),
            "outstanding bytes": int((~held.below_outstanding).sum()),
        },
    )


def _grid(largest_count: int, bursts: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """N and b of all decompositions, few messages first."""
    counts = 2.0 ** np.arange(int(np.log2(largest_count)) + 1)
    N, b = np.meshgrid(counts, np.asarray(bursts, dtype=np.float64), indexing="ij")
    return N.ravel(), b.ravel()


def _judged(
    profile: OverlapProfile,
    V: Number,
    S: Number,
    b: Number,
    t_V: Number,
    *,
    P: Number,
    topology: Topology,
    form: Form,
    operation: Operation,
    rank: Rank,
    HD: Number,
    outstanding: Number,
) -> tuple[NDArray[np.float64], NDArray[np.float64], Constraints]:
    """T, the quantity that ranks, and the constraints of decompositions (S, b)."""
    interleaved = is_interleaved(topology)
    d = Decomposition(
        V=V,
        S=S,
        b=b,
        t_V=t_V,
        o=profile.o(S, b),
        L=profile.L(operation, S),
        G_S=profile.G(P, S, interleaved=interleaved),
        G_V=profile.G(P, V, interleaved=interleaved),
    )
    T = np.asarray(with_peers(d, topology, P, form))
    first = T if rank == "time" else np.asarray(ranking(d, topology, P, form))
    return T, first, constraints(d, HD, outstanding)


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The best of each row: the decompositions one after the other, all rows at once."""
    whole("P", given["P"], at_least=1.0)
    if "G" in given:
        values("G", given["G"], above=0.0)
    numbers = ("V", "t_V", "P", "o", "L", "G", "HD", "outstanding")
    shape = np.broadcast_shapes(*(np.shape(given[name]) for name in numbers if name in given))
    V = np.broadcast_to(np.asarray(values("V", given["V"], at_least=1.0)), shape)
    profile = _profile(given)
    HD = np.where(np.isfinite(given["HD"]), given["HD"], profile.HD)
    outstanding = np.where(np.isfinite(given["outstanding"]), given["outstanding"], profile.outstanding_bytes)
    chosen: dict[str, Any] = {name: given[name] for name in ("topology", "form", "operation", "P", "rank")}
    best = {name: np.full(shape, np.nan) for name in ("S", "b", "T")}
    least, count = np.full(shape, np.inf), np.zeros(shape)
    for N, b in zip(*_grid(LARGEST_MESSAGE_COUNT, BURSTS), strict=True):
        possible = N <= V
        if b > N or not possible.any():
            continue
        # A row that is too small for N messages is judged as one message, and not counted.
        S, burst = np.where(possible, V / N, V), np.where(possible, b, 1.0)
        T, first, held = _judged(profile, V, S, burst, given["t_V"], HD=HD, outstanding=outstanding, **chosen)
        admissible = possible & held.all()
        count += admissible
        better = admissible & ((first < least) | ((first == least) & (burst > best["b"])))
        # Nothing is less than an infinite time, which is a time all the same.
        better |= admissible & np.isnan(best["b"])
        least = np.where(better, first, least)
        for name, value in (("S", S), ("b", burst), ("T", T)):
            best[name] = np.where(better, value, best[name])
    return {**{name: scalar_or_array(value) for name, value in best.items()}, "admissible": scalar_or_array(count)}


def _profile(given: Mapping[str, Any]) -> OverlapProfile:
    """The machine's profile with what is given in its place; without a profile, what is given for every size."""
    profile: OverlapProfile | None = given.get("profile")
    missing = [name for name in ("o", "L", "G") if name not in given]
    if profile is None and missing:
        raise MissingParametersError("overlap-search", missing)

    def everywhere(name: str) -> Curve:
        return lambda S, other: given[name] + 0.0 * np.asarray(S)

    return OverlapProfile(
        overhead=everywhere("o") if "o" in given or profile is None else profile.overhead,
        gap={("N", "l"): everywhere("G")} if "G" in given or profile is None else profile.gap,
        L_roundtrip=(lambda S: given["L"] + 0.0 * np.asarray(S))
        if "L" in given or profile is None
        else profile.L_roundtrip,
        unit=SECOND if profile is None else profile.unit,
        HD=float("inf") if profile is None else profile.HD,
        outstanding_bytes=float("inf") if profile is None else profile.outstanding_bytes,
    )


MODEL = Model(
    name="overlap-search",
    title="Communication overlap: which message size and burst length to use",
    equations=(
        "rank = time: smallest T of the overlap model over S = V/2^i (V/S <= 8192) and b = 1, 2, ... 64",
        "rank = equation: smallest of (5) in any regime; pipelined (4) or (7), tight (1) or (6); with (9) to (11)",
        "subject to (2) G_V V - t_V > N o ;  (3) L + G S > (b-1) o ;  (8) b < HD ;  b S <= outstanding",
    ),
    source="Iancu & Strohmaier: Optimizing Communication Overlap for High-Speed Networks, section 3",
    validity="S, b, T are empty when no decomposition satisfies the constraints; rank = equation is the paper's: by "
    "(5) alone when t_V is uncertain, also for computation-bound programs, whose T is by (7); o, G, L are needed where "
    "no machine gives them by size; about 200 times the time of loggp, 10 s for 10^6 rows",
    parameters=(
        *(
            replace(parameter, optional=True, meaning=f"{parameter.meaning}; instead of the machine's at each size")
            if parameter.name in ("o", "L", "G")
            else parameter
            for parameter in COMMON_PARAMETERS
            if parameter.name != "G_V"
        ),
        Parameter("rank", "choice", "choose by the time, or by the equation as printed", default="time", choices=RANKS),
        Parameter(
            "profile",
            "table",
            "o, G and L by size where not given; from a machine's tables or LogGP ranges",
            optional=True,
        ),
    ),
    outputs=(
        Output("S", "bytes", "best message size"),
        Output("b", "count", "best burst length"),
        Output("T", "time", "predicted time of this decomposition"),
        Output("admissible", "count", "decompositions that satisfy the constraints"),
    ),
    evaluate=_evaluate,
)
