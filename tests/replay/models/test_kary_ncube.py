"""Distances against counting every pair of nodes; the wait at a switch and its edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import ModelError, locality
from logpost.replay.models import kary_ncube as network


def count_pairs(k: int, topology: str) -> float:
    total = 0
    for i, j in itertools.product(range(k), repeat=2):
        if topology == "mesh":
            total += abs(i - j)
        elif topology == "torus":
            total += min((i - j) % k, (j - i) % k)
        else:
            total += (j - i) % k
    return total / k**2


@pytest.mark.parametrize("topology", network.TOPOLOGIES)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9, 32])
def test_mean_hops_are_those_of_all_pairs(k: int, topology: network.Topology) -> None:
    assert network.mean_hops(k, topology) == pytest.approx(count_pairs(k, topology))


def test_alewife() -> None:
    # (8 + 4 - 1/8 - 1/4)/3 = 3.875; without messages to oneself times 32/31: exactly 4 = (8 + 4)/3.
    assert sum(network.mean_distances((8, 4))) == 3.875
    assert sum(network.mean_distances((8, 4), self_messages=False)) == pytest.approx(4.0)


def test_a_dimension_of_one_node_is_none() -> None:
    # 16 nodes in a row, however they are written: (16 - 1/16)/3 hops, n = 1.
    for dims in ((16,), (16, 1), (1, 16), (1, 16, 1)):
        assert network.mean_distances(dims) == pytest.approx((5.3125,))
        assert network.dimensions(dims) == 1
    assert network.mean_distances((8, 1, 4), self_messages=False) == network.mean_distances((8, 4), self_messages=False)
    cube = network.MODEL
    loaded = {"B": 10, "m": 0.01}
    for line in ({"kx": 16}, {"kx": 16, "ky": 1}, {"kx": 1, "ky": 16}, {"kx": 1, "ky": 1, "kz": 16}):
        with pytest.raises(ModelError, match=r"n = 1: LOGPC \(3\) is derived for two dimensions or more"):
            cube.predict(**line, **loaded)
        assert cube.predict(**line, B=10)["T_net"] == pytest.approx(15.3125)  # without load: hops + B
    plane = cube.predict(kx=8, ky=4, **loaded)
    assert cube.predict(kx=8, ky=4, kz=1, **loaded) == cube.predict(kx=8, ky=1, kz=4, **loaded) == plane
    # a line of two has k_d = 1/2: no message turns, none waits
    assert cube.predict(kx=2, ky=1, **loaded)["C_n"] == 0


def test_a_column_in_which_some_rows_have_one_node_in_a_dimension() -> None:
    given = {"kx": 8, "ky": 4, "B": 10, "m": 0.01}
    kz = np.array([1.0, 2.0, 1.0, 4.0])
    assert np.asarray(network.dimensions((8, 4, kz))).tolist() == [2, 3, 2, 3]
    for topology in network.TOPOLOGIES:
        swept = network.MODEL.predict(**given, kz=kz, topology=topology, self_messages="no")
        for i, k in enumerate(kz):
            row = network.MODEL.predict(**given, kz=k, topology=topology, self_messages="no")
            assert {name: column[i] for name, column in swept.items()} == pytest.approx(row, rel=1e-12)
    with pytest.raises(ModelError, match=r"n = 1: LOGPC"):  # the row with kz = 1 is a line
        network.MODEL.predict(kx=8, kz=kz, B=10, m=0.01)


def test_columns_of_networks() -> None:
    np.testing.assert_allclose(network.mean_hops(np.array([4, 8]), "torus"), [1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: network.mean_hops(4, "ring"),  # type: ignore[arg-type]
            r"topology = 'ring': choose mesh, torus, unidirectional_torus",
        ),
        (lambda: network.mean_distances((1,)), r"dims = \[1\]: a network needs at least two nodes"),
        (lambda: network.mean_distances((1, np.array([4, 1]))), r"dims = \[1, 1\]: a network needs at least two nodes"),
        (lambda: network.dimensions((1, 1, 1)), r"dims = \[1, 1, 1\]: a network needs at least two nodes"),
        (lambda: network.mean_distances(()), r"dims = \[\]: a network needs at least two nodes"),
        (lambda: network.utilisation(1, 1, 1, 3), r"channels = 3: 1 \(unidirectional\) or 2"),
        (lambda: network.switch_wait(0.5, 1, 2, 0), r"n = 0 must be at least 1"),
        (lambda: locality.neighbour_distance((1, 1)), r"dims = \[1, 1\]: a network of 2 to 10000000 nodes"),
        (lambda: locality.neighbour_distance((10**9, 2)), "2 to 10000000 nodes .* count"),
        (lambda: locality.span_distances((10**6,), 1), "at most 4096 nodes per dimension "),
        (lambda: locality.span_distances((4,), -1), r"span = -1 must be at least 0"),
    ],
)
def test_bad_networks(call: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()  # type: ignore[operator]


def test_equation_3_by_hand() -> None:
    # rho = m B k_d/2 = 0.01 * 20 * 4/2 = 0.4; w_b = 0.4 * 20/0.6 * 3/16 * 1.5 = 3.75
    rho = network.utilisation(0.01, 20, 4)
    assert rho == pytest.approx(0.4)
    assert network.switch_wait(rho, 20, 4, 2) == pytest.approx(3.75)
    # T_net = n k_d (1 + w_b) + B = 8 * 4.75 + 20
    result = network.latency(0.01, 20, (4, 4))
    assert result.T == pytest.approx(58.0)
    assert result.C_n == pytest.approx(30.0)


def test_one_channel_carries_twice_the_load() -> None:
    assert network.utilisation(0.01, 20, 4, channels=1) == pytest.approx(0.8)


def test_a_saturated_channel_waits_for_ever() -> None:
    assert network.switch_wait(1.0, 20, 4) == float("inf")
    assert network.switch_wait(1.5, 20, 4) == float("inf")
    assert network.latency(0.05, 20, (4, 4)).T == float("inf")  # rho = 2


def test_short_ways_wait_for_nothing() -> None:
    # k_d <= 1 makes (3) negative: no wait. k = 2 (hypercube) has k_d = 0.5.
    np.testing.assert_array_equal(network.switch_wait(0.5, 20, np.array([0.0, 0.5, 1.0])), 0.0)
    np.testing.assert_array_equal(network.switch_wait(2.0, 20, np.array([0.0, 0.5, 1.0])), 0.0)  # whatever the load
    hypercube = (float(network.mean_hops(2, "torus")),) * 5
    assert network.latency(0.01, 20, hypercube).T == pytest.approx(5 * 0.5 + 20)


def test_an_unused_dimension_does_not_saturate() -> None:
    # k_d = 0 in y: rho is 0 there, whatever the load.
    assert network.latency(0.01, 20, (4.0, 0.0)).rho == pytest.approx(0.4)


def test_asymmetric_dimensions_add_up() -> None:
    # x: rho 0.4, w 3.75, 4 hops; y: rho = 0.01*20*2/2 = 0.2, w = 0.2*20/0.8 * 1/4 * 1.5 = 1.875, 2 hops
    result = network.latency(0.01, 20, (4, 2))
    assert result.C_n == pytest.approx(4 * 3.75 + 2 * 1.875)
    assert result.T == pytest.approx(6 + 18.75 + 20)
    assert result.rho == pytest.approx(0.4)


@given(st.floats(0, 1), st.floats(0, 1e4), st.floats(0, 100), st.floats(0, 0.5))
def test_waits_grow_with_the_load(rho: float, B: float, k_d: float, more: float) -> None:
    assert network.switch_wait(rho + more, B, k_d) >= network.switch_wait(rho, B, k_d) >= 0.0


def test_locality_of_equation_12() -> None:
    """1.875 as printed needs neighbours beyond the mesh; a mesh without end-around gives the others."""
    # row-major along the 8-side: 28 of 31 steps are 1 hop, 3 are 1 + 7 = 8.
    assert locality.neighbour_distance((8, 4), "unreduced") == 1.875  # node -1 at (7, -1), node 32 at (0, 4): 8 hops
    assert locality.neighbour_distance((8, 4), "modulo") == 1.9375  # 0 <-> 31: 7 + 3 = 10 hops
    assert locality.neighbour_distance((8, 4), "zero") == 1.625  # (2 * 28 + 2 * 3 * 8)/64
    assert locality.neighbour_distance((8, 4), "existing") == pytest.approx(1.677, abs=5e-4)  # .../62


def test_neighbours_on_a_line_however_it_is_written() -> None:
    # unreduced, 8 nodes in a row: every neighbour is 1 hop away, -1 and 8 too. As 8 x 1, node -1 would be (7, -1).
    for ends, hops in (("unreduced", 1.0), ("modulo", 28 / 16), ("zero", 14 / 16), ("existing", 1.0)):
        for dims in ((8,), (8, 1), (1, 8), (1, 8, 1)):
            assert locality.neighbour_distance(dims, ends) == hops  # type: ignore[arg-type]


def test_a_span_as_long_as_the_mesh_is_the_whole_mesh() -> None:
    assert locality.span_distances((8, 4), 7) == pytest.approx(network.mean_distances((8, 4)))
    assert locality.span_distances((8, 4), 0) == (0.0, 0.0)
    # span 1 on 4 nodes: ends have 2 choices (mean 1/2), the middle 3 (mean 2/3).
    assert locality.span_distances((4,), 1) == pytest.approx(((2 * 0.5 + 2 * 2 / 3) / 4,))
