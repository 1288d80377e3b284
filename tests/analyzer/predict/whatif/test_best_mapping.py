"""The placement of ranks: exchanges against all permutations, and known best ones; files for the launchers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt

from logpost.analyzer.predict.whatif.best_mapping import cost, descended
from logpost.analyzer.predict.whatif.rankfile import mpich, open_mpi


def symmetric(random: np.random.Generator, size: int) -> npt.NDArray[np.float64]:
    """Zero on the diagonal."""
    half: npt.NDArray[np.float64] = np.triu(random.integers(0, 10, (size, size)).astype(float), 1)
    return np.asarray(half + half.T, dtype=np.float64)


def test_no_exchange_of_two_is_left_that_helps_and_the_cost_is_near_the_least_of_all() -> None:
    random = np.random.default_rng(2)
    excess = []
    for _ in range(10):
        traffic, distances = ([symmetric(random, 6) for _ in range(2)] for _ in range(2))
        found = [descended(random.permutation(6), traffic, distances) for _ in range(4)]
        best = min(found, key=lambda order: cost(order, traffic, distances))
        reached = cost(best, traffic, distances)
        for i in range(6):
            for j in range(i):
                other = best.copy()
                other[[i, j]] = other[[j, i]]
                assert cost(other, traffic, distances) >= reached
        least = min(cost(np.asarray(order), traffic, distances) for order in permutations(range(6)))
        excess.append(reached / least - 1)
    assert min(excess) == 0.0
    assert np.mean(excess) < 0.03


def test_pairs_that_talk_find_each_other() -> None:
    # Rank r talks to r + 8 only; seats 2 k and 2 k + 1 are on one node.
    size = 16
    traffic = np.zeros((size, size))
    for rank in range(8):
        traffic[rank, rank + 8] = traffic[rank + 8, rank] = 1
    nodes = np.arange(size) // 2
    distances = (nodes[:, None] != nodes[None, :]).astype(float)
    orders = [descended(np.random.default_rng(seed).permutation(size), [traffic], [distances]) for seed in range(4)]
    assert min(cost(order, [traffic], [distances]) for order in orders) == 0.0


def test_a_rankfile_numbers_the_cores_of_each_host() -> None:
    hosts = ["b", "a", "b", "b"]
    assert open_mpi(hosts) == "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=1\nrank 3=b slot=2\n"
    assert mpich(hosts) == "b:1\na:1\nb:2\n"
