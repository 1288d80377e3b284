"""A better place for each rank: ranks that say much to each other close together.

Cost of a placement = sum over pairs of ranks of (messages x (o_s + L + o_r) + bytes x (G + hops / link bandwidth)),
with L, o and G of the pair's distance on the seats that the ranks have: a quadratic assignment problem. It is descended
by exchanging the seats of two ranks (as Kernighan and Lin exchange nodes of a partition), from several starts; the
gains of all exchanges come from two matrix products. Graph partitioners (METIS) know no distances between parts, and
scipy's quadratic_assignment takes one matrix of traffic and one of distances, not two of each: a dependency at run time
would not pay. The candidates are replayed, and the fastest is proposed: the cost knows no time, and a replay does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.predict.whatif.mapping import Proposal, Seats, remapped
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import owners
from logpost.machines import LOCALITIES, Machine, ReplayParameters, hops_matrix

Matrix = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
RANDOM_STARTS = 4
TYPICAL = 0.5
"""the quantile of message sizes whose range of the machine's values stands for all"""


def best_seats(
    run: Run, seats: Seats, machine: Machine, values: ReplayParameters, makespan: Callable[[Seats], int]
) -> Proposal:
    """The seats, of those that the ranks have, that make the run shortest as far as is known."""
    traffic = _traffic(run, len(seats.nodes))
    distances = _distances(run, seats, machine, values)
    ranks = np.arange(len(seats.nodes))
    orders = {"as recorded": ranks, "block": _order(seats, "block"), "cyclic": _order(seats, "cyclic")}
    starts = [ranks, orders["block"], _greedy(traffic, distances)]
    starts += [np.random.default_rng(seed).permutation(ranks) for seed in range(RANDOM_STARTS)]
    found = [descended(start, traffic, distances) for start in starts]
    orders["exchanged from as recorded"] = found[0]
    orders["exchanged"] = min(found, key=lambda order: cost(order, traffic, distances))
    base = cost(ranks, traffic, distances)
    tried = {
        name: (cost(order, traffic, distances) / base if base else 1.0, makespan(seats.seated(order)))
        for name, order in orders.items()
    }
    best = min(tried, key=lambda name: tried[name][1])
    return Proposal(seats.seated(orders[best]), best, [(name, *one) for name, one in tried.items()])


def cost(order: Ids, traffic: list[Matrix], distances: list[Matrix]) -> float:
    """Of a placement: rank r on seat order[r]."""
    return float(sum((f * d[np.ix_(order, order)]).sum() for f, d in zip(traffic, distances, strict=True)) / 2)


def descended(order: Ids, traffic: list[Matrix], distances: list[Matrix]) -> Ids:
    """The placement after exchanges of two seats that lower its cost, until none does. Matrices are symmetric."""
    order = order.copy()
    size = len(order)
    for _ in range(size * 4):
        gain = np.zeros((size, size))
        for f, d in zip(traffic, distances, strict=True):
            p = d[np.ix_(order, order)]
            g = f @ p
            own = np.diag(g)
            gain -= g + g.T - own[:, None] - own[None, :] + 2 * f * p
        gain[np.tril_indices(size)] = 0
        least = 1e-9 * max(cost(order, traffic, distances), 1.0)
        if gain.max(initial=0) <= least:
            break
        # Exchanges of ranks that no earlier one of this round has moved; they may hinder each other, so few at once.
        before = cost(order, traffic, distances)
        pairs = _apart(np.argsort(-gain, axis=None), gain, least)
        while True:
            tried = order.copy()
            for i, j in pairs:
                tried[i], tried[j] = tried[j], tried[i]
            if len(pairs) == 1 or cost(tried, traffic, distances) < before - least:
                break
            pairs = pairs[: len(pairs) // 2]
        order = tried
    return order


def _apart(ranked: Ids, gain: Matrix, least: float) -> list[tuple[int, int]]:
    used: set[int] = set()
    pairs = []
    for place in ranked[: 8 * len(gain)].tolist():
        i, j = divmod(place, len(gain))
        if gain[i, j] <= least:
            break
        if i not in used and j not in used:
            used |= {i, j}
            pairs.append((i, j))
    return pairs


def _greedy(traffic: list[Matrix], distances: list[Matrix]) -> Ids:
    """Rank after rank, the one that says most to those that are placed, onto the seat that is cheapest for it."""
    size = len(traffic[0])
    weights = [float(d.mean()) for d in distances]
    said = sum((f * w for f, w in zip(traffic, weights, strict=True)), np.zeros((size, size)))
    order = np.full(size, -1, dtype=np.int64)
    free = np.ones(size, dtype=bool)
    to_placed = np.zeros(size)
    prices = [np.zeros((size, size)) for _ in traffic]  # of rank and seat, from those that are placed
    left = np.ones(size, dtype=bool)
    for _ in range(size):
        rank = int(np.where(left, to_placed + 1e-9 * said.sum(axis=1), -1.0).argmax())
        price = sum((p[rank] for p in prices), np.zeros(size))
        seat = int(np.where(free, price, np.inf).argmin())
        order[rank] = seat
        left[rank], free[seat] = False, False
        to_placed += said[rank]
        for p, f, d in zip(prices, traffic, distances, strict=True):
            p += np.outer(f[rank], d[seat])
    return order


def _order(seats: Seats, text: str) -> Ids:
    """As an order of seats, rather than as seats."""
    numbered = Seats(seats.nodes, np.arange(len(seats.nodes)))
    return remapped(numbered, text).sockets


def _traffic(run: Run, ranks: int) -> list[Matrix]:
    """Messages and bytes between ranks, symmetric."""
    of_rank = owners(run.facts("locations").sort("location").collect()).fill_null(-1).to_numpy()
    pairs = (
        run.facts("messages")
        .filter(pl.col("send_location") >= 0, pl.col("recv_location") >= 0)
        .group_by("send_location", "recv_location")
        .agg(pl.len().alias("messages"), pl.col("bytes").sum())
        .collect()
    )
    found = [np.zeros((ranks, ranks)) for _ in range(2)]
    senders, receivers = (of_rank[pairs[name].to_numpy()] for name in ("send_location", "recv_location"))
    known = (senders >= 0) & (receivers >= 0) & (senders != receivers)
    for matrix, column in zip(found, ("messages", "bytes"), strict=True):
        np.add.at(matrix, (senders[known], receivers[known]), pairs[column].to_numpy()[known].astype(np.float64))
    return [matrix + matrix.T for matrix in found]


def _distances(run: Run, seats: Seats, machine: Machine, values: ReplayParameters) -> list[Matrix]:
    """Picoseconds of a message, and of a byte, between two seats; symmetric."""
    size = run.facts("messages").select(pl.col("bytes").quantile(TYPICAL)).collect().item() or 0
    nodes = seats.nodes
    same_node = nodes[:, None] == nodes[None, :]
    same_socket = same_node & (seats.sockets[:, None] == seats.sockets[None, :]) & (seats.sockets >= 0)[:, None]
    locality = np.where(
        same_socket,
        LOCALITIES.index("same_socket"),
        np.where(same_node, LOCALITIES.index("same_node"), LOCALITIES.index("other_node")),
    )
    rows = values.row(locality, np.full(locality.shape, int(size)))
    hops = np.maximum(hops_matrix(machine, nodes), 0).astype(np.float64)
    beyond, topology = values.beyond_loggp, machine.topology
    latency = values.L_ps[rows].astype(np.float64)
    if beyond.per_hop_ps is not None and beyond.mean_hops is not None:
        latency += np.where(same_node, 0.0, beyond.per_hop_ps * (hops - beyond.mean_hops))
    message = latency + values.o_s_ps[rows] + values.o_r_ps[rows]
    byte = values.G_ps_per_byte[rows] + values.o_s_ps_per_byte[rows] + values.o_r_ps_per_byte[rows]
    if topology is not None:
        given = topology.link_bandwidth
        link = 1e12 / given.base(machine.clock_hz) if given is not None else float(values.G_ps_per_byte[-1])
        byte = byte + hops * link
    found = []
    for matrix in (message, byte):
        whole = np.asarray(matrix + matrix.T, dtype=np.float64) / 2
        np.fill_diagonal(whole, 0)
        found.append(whole)
    return found
