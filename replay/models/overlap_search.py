"""Which message size and burst length: the search of OVL section 3.

    S = V/2^i with at most 8192 messages ;  b = 1, 2, 4, ... 64, b <= V/S
    drop points that violate (2), (3), (8) or the outstanding limit; take the first in rank; ties to the largest b.
    rank by time:      the least T of ``overlap``
    rank by equation:  the least of the equation as printed: balanced (5), whatever the regime, pipelined (4) or (7),
                       tight (1) or (6), with (9) to (11)

Symbols and equations: see ``overlap``. T of a point is its time, whatever it was ranked by.

Source: OVL sections 3 and 3.1; section 4 for (5) as the one model to choose by: "using only the model for
communication bound problems (Equation 5) produces good solutions even for computation bound problems", when t_V is
uncertain. For constant o, (1), (4) to (7) never grow with b, so the longest burst within the constraints wins.

Validity: when no point satisfies the constraints there is no perfect overlap: the result says so and how many
points each constraint dropped, instead of returning a point that the model does not describe. (7) as printed hides
the initiations of two bursts whatever they take, so that it ranks many small messages first; T counts them.

Errors: ModelError for V < 1, for an unknown rank, for a P that is not whole (of the model), for o, G or L that neither
the profile nor the caller gives, and for asking ``best`` of a search that found nothing, with what dropped the points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from logpost.replay.models.arrays import ModelError, values, whole
from logpost.replay.models.interface import MissingParametersError, Model, Output, Parameter, row_by_row
from logpost.replay.models.overlap import (
    COMMON_PARAMETERS,
    Decomposition,
    Form,
    Topology,
    constraints,
    is_interleaved,
    ranking,
    with_peers,
)
from logpost.replay.models.overlap_profile import Operation, OverlapProfile
from logpost.replay.models.units import SECOND

LARGEST_MESSAGE_COUNT = 8192
Rank: TypeAlias = Literal["time", "equation"]
RANKS: tuple[Rank, ...] = get_args(Rank)
BURSTS = (1, 2, 4, 8, 16, 32, 64)


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
    counts = 2.0 ** np.arange(int(np.log2(largest_count)) + 1)
    counts = counts[counts <= V]
    N, b = (grid.ravel() for grid in np.meshgrid(counts, np.asarray(bursts, dtype=np.float64), indexing="ij"))
    possible = b <= N
    N, b = N[possible], b[possible]
    S = V / N
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
    held = constraints(d, profile.HD, profile.outstanding_bytes)
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


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, float]:
    whole("P", given["P"], at_least=1.0)
    if "G" in given:
        values("G", given["G"], above=0.0)
    found = search(
        _profile(given),
        given["V"],
        given["t_V"],
        **{name: given[name] for name in ("topology", "form", "operation", "P", "rank")},
    )
    if not found.points:
        return {"S": np.nan, "b": np.nan, "T": np.nan, "admissible": 0.0}
    return {"S": found.best.S, "b": found.best.b, "T": found.best.T, "admissible": float(len(found.points))}


def _profile(given: Mapping[str, Any]) -> OverlapProfile:
    """The machine's profile with what is given in its place; without a profile, what is given for every size."""
    limits = {"HD": given["HD"], "outstanding_bytes": given["outstanding"]}
    profile: OverlapProfile | None = given.get("profile")
    if profile is not None:
        return profile.given(o=given.get("o"), G=given.get("G"), L_roundtrip=given.get("L"), **limits)
    missing = [name for name in ("o", "L", "G") if name not in given]
    if missing:
        raise MissingParametersError("overlap-search", missing)
    return OverlapProfile.constant(o=given["o"], G=given["G"], L_roundtrip=given["L"], unit=SECOND, **limits)


MODEL = Model(
    name="overlap-search",
    title="Communication overlap: which message size and burst length to use",
    equations=(
        "rank = time: least T of the overlap model over S = V/2^i (V/S <= 8192) and b = 1, 2, ... 64",
        "rank = equation: least of (5), whatever the regime; pipelined (4) or (7), tight (1) or (6); with (9) to (11)",
        "subject to (2) G_V V - t_V > N o ;  (3) L + G S > (b-1) o ;  (8) b < HD ;  b S <= outstanding",
    ),
    source="Iancu & Strohmaier: Optimizing Communication Overlap for High-Speed Networks, section 3",
    validity="S, b, T are empty when no decomposition satisfies the constraints; rank = equation is the paper's: by "
    "(5) alone when t_V is uncertain, also for computation-bound programs, whose T is by (7); o, G, L are needed where "
    "no machine gives them by size",
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
    evaluate=row_by_row(_evaluate),
)
