"""Which message size and burst length: the search of OVL section 3.

    S = V/2^i with at most 8192 messages ;  b = 1, 2, 4, ... 64, b <= V/S
    drop points that violate (2), (3), (8) or the outstanding limit; take the least T; ties to the largest b.

Symbols and equations: see ``overlap``.

Source: OVL sections 3 and 3.1. For constant o, (1), (4) to (7) never grow with b, so the longest burst within
the constraints wins.

Validity: when no point satisfies the constraints there is no perfect overlap: the result says so and how many
points each constraint dropped, instead of returning a point that the model does not describe.

Errors: ModelError for V < 1, and for asking ``best`` of a search that found nothing, with what dropped the points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.replay.models.arrays import ModelError, values
from logpost.replay.models.interface import Model, Output, Parameter, row_by_row
from logpost.replay.models.overlap import (
    COMMON_PARAMETERS,
    Decomposition,
    Form,
    Topology,
    constraints,
    is_interleaved,
    with_peers,
)
from logpost.replay.models.overlap_profile import Operation, OverlapProfile
from logpost.replay.models.units import SECOND

LARGEST_MESSAGE_COUNT = 8192
BURSTS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Point:
    """One admissible decomposition and its predicted time."""

    S: float
    b: float
    T: float


@dataclass(frozen=True)
class SearchResult:
    """All admissible points, best first, and how many each constraint dropped."""

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
    largest_count: int = LARGEST_MESSAGE_COUNT,
    bursts: tuple[int, ...] = BURSTS,
) -> SearchResult:
    """Search (S, b) for V bytes and t_V computation (in the profile's unit)."""
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
        L=profile.L(operation),
        G_S=profile.G(max(P, 1.0), S, interleaved=interleaved),
        G_V=profile.G(max(P, 1.0), V, interleaved=interleaved),
    )
    T = np.asarray(with_peers(d, topology, P, form))
    held = constraints(d, profile.HD, profile.outstanding_bytes)
    admissible = np.flatnonzero(held.all())
    order = admissible[np.lexsort((-b[admissible], T[admissible]))]
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
    profile = given.get("profile") or OverlapProfile.constant(
        o=given["o"],
        G=given["G"],
        L_roundtrip=given["L"],
        unit=SECOND,
        HD=given["HD"],
        outstanding_bytes=given["outstanding"],
    )
    choice = {name: given[name] for name in ("topology", "form", "operation", "P")}
    found = search(profile, given["V"], given["t_V"], **choice)
    if not found.points:
        return {"S": np.nan, "b": np.nan, "T": np.nan, "admissible": 0.0}
    return {"S": found.best.S, "b": found.best.b, "T": found.best.T, "admissible": float(len(found.points))}


MODEL = Model(
    name="overlap-search",
    title="Communication overlap: which message size and burst length to use",
    equations=(
        "least T of the overlap model over S = V/2^i (V/S <= 8192) and b = 1, 2, ... 64",
        "subject to (2) G_V V - t_V > N o ;  (3) L + G S > (b-1) o ;  (8) b < HD ;  b S <= outstanding",
    ),
    source="Iancu & Strohmaier: Optimizing Communication Overlap for High-Speed Networks, section 3",
    validity="S, b, T are empty when no decomposition satisfies the constraints",
    parameters=(
        *(parameter for parameter in COMMON_PARAMETERS if parameter.name != "G_V"),
        Parameter("profile", "table", "measured o(S,b) and G(P,S) of a machine, instead of o and G", optional=True),
    ),
    outputs=(
        Output("S", "bytes", "best message size"),
        Output("b", "count", "best burst length"),
        Output("T", "time", "predicted time"),
        Output("admissible", "count", "decompositions that satisfy the constraints"),
    ),
    evaluate=row_by_row(_evaluate),
)
