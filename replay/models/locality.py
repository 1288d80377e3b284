"""Mean distances of a program's actual traffic on a mesh without end-around channels: LOGPC section 3.3.

    (12)  2 k_dl = 1/(xy) sum_p [hops(p, p-1) + hops(p, p+1)]/2
    span  k_dl = mean over nodes of the mean |i - j| over destinations with |i - j| <= l

Symbols: hops number of channels in dimension order, l span in hops, x, y nodes per dimension; node p sits at (p
mod x, p div x): numbered along the first dimension.

Source: LOGPC (12) and section 3.3 ("destinations are randomly chosen inside this span").

What (12) means at the ends is not printed. The printed 1.875 comes out only when the neighbours -1 and P are
NOT reduced modulo P ("unreduced": node -1 is (x-1, -1), node P is (0, y), 8 hops each on 8x4). A mesh without
end-around gives 1.9375 for "modulo", 1.625 when a missing neighbour counts 0 hops ("zero"), 1.677 when only
existing pairs are averaged ("existing"). "modulo" is the default here.

Validity: meshes without end-around channels; destinations beyond the edge do not exist, so that nodes near it have
fewer. In every case of (12) above k_dl < 1, for which (3) is negative and C_n is taken as 0.

Errors: ModelError for a network of one node or more than 10^7, a dimension above 4096 nodes, a negative span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError, whole
from logpost.replay.models.interface import Model, Output, Parameter, row_by_row
from logpost.replay.models.kary_ncube import SIDES

_MOST_NODES = 10**7
_MOST_SIDE = 4096
"""Nodes of a dimension, and of all: its pairs are counted in seconds."""

Ends: TypeAlias = Literal["modulo", "unreduced", "zero", "existing"]


def coordinates(node: NDArray[np.int64] | int, dims: Sequence[int]) -> NDArray[np.int64]:
    """Positions of nodes numbered along the first dimension, shape (..., dimensions); the last is not reduced."""
    rest = np.asarray(node, dtype=np.int64)
    position = []
    for k in dims[:-1]:
        position.append(rest % k)
        rest = rest // k
    return np.stack([*position, rest], axis=-1)


def hops(a: NDArray[np.int64] | int, b: NDArray[np.int64] | int, dims: Sequence[int]) -> NDArray[np.int64]:
    """Channels between nodes of a mesh in dimension order (shortest path)."""
    return np.asarray(np.abs(coordinates(a, dims) - coordinates(b, dims)).sum(axis=-1))


def neighbour_distance(dims: Sequence[int], ends: Ends = "modulo") -> float:
    """2 k_dl of (12): mean hops to the processors p-1 and p+1 with equal probability.

    Dimensions of one node are left out: otherwise the nodes beyond the end of a line ("unreduced") would start a
    second one.
    """
    P = prod(dims)
    if not 2 <= P <= _MOST_NODES:
        raise ModelError(f"dims = {list(dims)}: a network of 2 to {_MOST_NODES} nodes is needed to count its pairs")
    sides = [k for k in dims if k > 1]
    p = np.arange(P)
    total, pairs = 0, 0
    for q in (p - 1, p + 1):
        exists = (q >= 0) & (q < P)
        way = hops(p, q % P if ends == "modulo" else q, sides)
        total += int(way[exists].sum() if ends in ("zero", "existing") else way.sum())
        pairs += int(exists.sum()) if ends == "existing" else P
    return total / pairs


def span_distances(dims: Sequence[int], span: int) -> tuple[float, ...]:
    """k_dl per dimension for destinations drawn evenly from the nodes within ``span`` hops in each direction.

    The node itself is a possible destination, as in (11): a span as long as the mesh gives (11).
    """
    if span < 0:
        raise ModelError(f"span = {span} must be at least 0")
    if max(dims) > _MOST_SIDE:
        raise ModelError(f"dims = {list(dims)}: at most {_MOST_SIDE} nodes per dimension can be counted pair by pair")
    distances = []
    for k in dims:
        i = np.arange(k)
        apart = np.abs(i[:, None] - i[None, :])
        inside = apart <= span
        distances.append(float(((apart * inside).sum(axis=1) / inside.sum(axis=1)).mean()))
    return tuple(distances)


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, float]:
    dims = [int(whole(name, given[name])) for name in SIDES if name in given]
    return {
        "neighbours": neighbour_distance(dims, given["ends"]),
        "within_span": sum(span_distances(dims, int(whole("span", given.get("span", max(dims)))))),
    }


MODEL = Model(
    name="locality",
    title="Mean distance on a mesh of messages to neighbours and within a span",
    equations=(
        "(12) neighbours = 1/P sum_p [hops(p, p-1) + hops(p, p+1)]/2",
        "within_span = sum over dimensions of the mean |i - j| over |i - j| <= span",
    ),
    source="Moritz & Frank: LoGPC (12), 3.3",
    validity="mesh without end-around, numbered along x; a distance per dimension <= 1 has no contention in (3)",
    parameters=(
        Parameter("kx", "count", "nodes in x"),
        Parameter("ky", "count", "nodes in y", optional=True),
        Parameter("kz", "count", "nodes in z", optional=True),
        Parameter("span", "count", "longest way per dimension (the whole mesh when left out)", optional=True),
        Parameter(
            "ends",
            "choice",
            "what the neighbours -1 and P are",
            default="modulo",
            choices=("modulo", "unreduced", "zero", "existing"),
        ),
    ),
    outputs=(
        Output("neighbours", "count", "2 k_dl, mean hops to p-1 and p+1"),
        Output("within_span", "count", "mean hops within the span"),
    ),
    evaluate=row_by_row(_evaluate),
    notes=("LOGPC prints 1.875 for 8 x 4, which needs ends=unreduced; a mesh gives 1.9375.",),
)
