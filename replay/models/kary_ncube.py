"""Agarwal's k-ary n-cube: mean distances, and the wait at a switch.

    k_d   mesh                      (k - 1/k)/3 = (k^2 - 1)/(3k)           LOGPC (11)
          torus, both directions    k/4 (k even), (k - 1/k)/4 (k odd)
          torus, one direction      (k - 1)/2                              LOGPC section 4
    rho   = m B n k_d/(2n) = m B k_d/2      two channels per dimension     LOGPC (4)
    rho   = m B k_d                         one channel per dimension
    w_b   = rho B/(1-rho) (k_d-1)/k_d^2 (1+1/n)                            LOGPC (3)
    T_net = n k_d (1 + w_b) + B             channel cycles, B flits        Agarwal

Symbols: k nodes per dimension, n dimensions, k_d mean hops per dimension (self-messages included: every
destination equally likely), m messages per node and channel cycle, B message length in channel cycles, rho
channel utilisation, w_b wait per switch (channel cycles).

Source: Agarwal, Limits on Interconnection Network Performance, as LOGPC section 3 prints it; the torus
distances and T_net are not printed there.

Validity: k_d > 1, n >= 2 (the term 1 + 1/n counts a message's own dimension), rho < 1, uniform traffic, B much
larger than a switch delay. k_d <= 1 gives no wait (the equation would turn negative: a message that makes one
hop or less has no turn to wait at); rho >= 1 elsewhere is a saturated channel: inf; n = 1 with any load is
refused. Asymmetric machines keep one k_d per dimension and sum over the dimensions. A dimension of one node is
none: 16 x 1 nodes are a line.

Excluding messages to oneself multiplies every distance by P/(P-1): on Alewife's 8x4 mesh 3.875 hops (printed)
become exactly 4 = (k_x + k_y)/3.

Errors: ModelError for negative arguments, fewer than two nodes, unknown topologies, other than 1 or 2 channels,
n < 1, waits for n = 1, a k that is no whole number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array, values, whole
from logpost.replay.models.interface import Model, Output, Parameter

ONE_DIMENSION = (
    "n = 1: LOGPC (3) is derived for two dimensions or more and says nothing of the waits on a line or a ring; leave "
    "contention out (models logp, loggp)"
)

Topology: TypeAlias = Literal["mesh", "torus", "unidirectional_torus"]
TOPOLOGIES: tuple[Topology, ...] = ("mesh", "torus", "unidirectional_torus")
SIDES = ("kx", "ky", "kz")
"""The parameters that give the nodes per dimension."""


def mean_hops(k: NumberLike, topology: Topology = "mesh") -> Number:
    """k_d: mean hops in one dimension of k nodes, self-messages included. Hypercube: torus, k = 2."""
    nodes = np.asarray(whole("k", k, at_least=1.0))
    if topology == "mesh":
        return scalar_or_array((nodes - 1.0 / nodes) / 3.0)
    if topology == "torus":
        return scalar_or_array(np.where(nodes % 2 == 0, nodes / 4.0, (nodes - 1.0 / nodes) / 4.0))
    if topology == "unidirectional_torus":
        return scalar_or_array((nodes - 1.0) / 2.0)
    raise ModelError(f"topology = {topology!r}: choose {', '.join(TOPOLOGIES)}")


def mean_distances(
    dims: Sequence[NumberLike], topology: Topology = "mesh", *, self_messages: bool = True
) -> tuple[Number, ...]:
    """k_d per dimension; their sum is the mean distance. Without self-messages: times P/(P-1).

    Dimensions of one node are left out; a column with one node in some rows only has k_d = 0 there.
    """
    sizes = _sides(dims)
    P = np.asarray(prod(sizes))
    scale = scalar_or_array(np.ones_like(P) if self_messages else P / (P - 1.0))
    return tuple(mean_hops(k, topology) * scale for k in sizes)


def dimensions(dims: Sequence[NumberLike]) -> Number:
    """n: how many dimensions have more than one node, one n per row where columns differ in that."""
    sizes = _sides(dims)
    n = np.asarray(sum(np.asarray(k) > 1.0 for k in sizes), dtype=np.float64)
    return float(n.flat[0]) if n.size and (n == n.flat[0]).all() else n


def _sides(dims: Sequence[NumberLike]) -> list[Number]:
    """The nodes per dimension, without the dimensions that have one node in every row."""
    sizes = [whole("k", k, at_least=1.0) for k in dims]
    rows = np.broadcast_arrays(*sizes)
    alone = np.logical_and.reduce([k == 1.0 for k in rows]) if rows else np.asarray(True)
    if alone.any():
        raise ModelError(f"dims = {[1] * len(sizes)}: a network needs at least two nodes")
    return [k for k in sizes if np.size(k) == 0 or (np.asarray(k) > 1.0).any()]


def utilisation(m: NumberLike, B: NumberLike, k_d: NumberLike, channels: int = 2) -> Number:
    """rho = m B k_d/channels: LOGPC (4) for two channels per dimension and direction pair."""
    if channels not in (1, 2):
        raise ModelError(f"channels = {channels}: 1 (unidirectional) or 2 (bidirectional) per dimension")
    return values("m", m) * values("B", B) * values("k_d", k_d) / channels


def switch_wait(rho: NumberLike, B: NumberLike, k_d: NumberLike, n: NumberLike = 2) -> Number:
    """w_b = rho B/(1-rho) (k_d-1)/k_d^2 (1+1/n): LOGPC (3), n >= 2. 0 for k_d <= 1, else inf for rho >= 1."""
    load, size, distance, count = np.broadcast_arrays(
        values("rho", rho), values("B", B), values("k_d", k_d), whole("n", n, at_least=1.0)
    )
    turns = distance > 1.0
    wait = np.where(turns, np.inf, 0.0)
    if (turns & (load > 0.0) & (count == 1.0)).any():
        raise ModelError(ONE_DIMENSION)
    fits = turns & (load < 1.0)
    wait[fits] = (
        load[fits] * size[fits] / (1.0 - load[fits])
        * (distance[fits] - 1.0) / distance[fits] ** 2
        * (1.0 + 1.0 / count[fits])
    )  # fmt: skip
    return scalar_or_array(wait)


@dataclass(frozen=True)
class NetworkLatency:
    """T_net and its parts: hops without load, C_n (the waits), rho of the busiest dimension."""

    T: Number
    C_n: Number
    rho: Number


def latency(
    m: NumberLike, B: NumberLike, k_d: Sequence[NumberLike], channels: int = 2, *, n: NumberLike | None = None
) -> NetworkLatency:
    """T_net = sum_i k_d,i (1 + w_b,i) + B, in channel cycles, for k_d per dimension.

    With equal dimensions this is n k_d (1 + w_b) + B. ``n`` is the number of ``k_d``, unless given (see `dimensions`).
    """
    n = len(k_d) if n is None else n
    hops: Number = 0.0
    waits: Number = 0.0
    busiest: Number = 0.0
    for distance in k_d:
        d = values("k_d", distance)
        rho = utilisation(m, B, d, channels)
        hops = hops + d
        waits = waits + d * switch_wait(rho, B, d, n)
        busiest = scalar_or_array(np.maximum(busiest, rho))
    return NetworkLatency(T=hops + waits + values("B", B), C_n=waits, rho=busiest)


def _evaluate(given: Mapping[str, Any]) -> Mapping[str, Any]:
    dims = [given[name] for name in SIDES if name in given]
    distances = mean_distances(dims, given["topology"], self_messages=given["self_messages"] == "yes")
    channels = 1 if given["topology"] == "unidirectional_torus" else 2
    result = latency(given["m"], given["B"], distances, channels, n=dimensions(dims))
    return {"hops": sum(distances), "T_net": result.T, "C_n": result.C_n, "rho": result.rho}


MODEL = Model(
    name="kary-ncube",
    title="Agarwal's k-ary n-cube: mean distance and network latency under load",
    equations=(
        "mesh: k_d = (k - 1/k)/3 ;  torus: k/4 even, (k - 1/k)/4 odd ;  one direction: (k-1)/2",
        "rho = m B k_d/2   (one channel per dimension: m B k_d)",
        "w_b = rho B/(1-rho) (k_d-1)/k_d^2 (1+1/n)",
        "T_net = sum over dimensions of k_d (1 + w_b), + B",
    ),
    source="Agarwal: Limits on Interconnection Network Performance; Moritz & Frank: LoGPC (3), (4), (11)",
    validity="uniform traffic, n >= 2 under load, rho < 1 (else inf), k_d > 1 (else no wait); times in channel cycles",
    parameters=(
        Parameter("kx", "count", "nodes in x"),
        Parameter("ky", "count", "nodes in y", optional=True),
        Parameter("kz", "count", "nodes in z", optional=True),
        Parameter("B", "count", "message length in channel cycles (flits)"),
        Parameter("m", "ratio", "messages per node and channel cycle", default=0.0),
        Parameter("topology", "choice", "network", default="mesh", choices=TOPOLOGIES),
        Parameter("self_messages", "choice", "messages to oneself counted", default="yes", choices=("yes", "no")),
    ),
    outputs=(
        Output("hops", "count", "mean distance"),
        Output("T_net", "count", "latency in channel cycles"),
        Output("C_n", "count", "waits in channel cycles"),
        Output("rho", "ratio", "utilisation of the busiest dimension"),
    ),
    evaluate=_evaluate,
)
