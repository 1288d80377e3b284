"""Table 4 and section 5.1.3 of LOGPC: all-to-all remaps and the bound on contention."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import Network
from logpost.replay.models import logpc_all_to_all as remap
from logpost.replay.models.papers.alewife import ALEWIFE_LONG, ALEWIFE_SHORT, alewife_mesh

MESH = alewife_mesh()
DISTINCT = alewife_mesh(self_messages=False)


def test_synchronous_table_4_with_the_printed_contention() -> None:
    """499 takes the printed C_n = 23 and C_r = 137: 316 + 137 + 2 * 23."""
    assert remap.synchronous_with(ALEWIFE_SHORT, C_r=137, C_n=23) == 499
    assert remap.synchronous_with(ALEWIFE_SHORT, C_r=137, C_n=0) == 453  # the column LoPC
    assert remap.synchronous_with(ALEWIFE_SHORT, C_r=0, C_n=0) == 316  # the column LogP


def test_synchronous_with_contention_of_its_own() -> None:
    result = remap.synchronous(ALEWIFE_SHORT, 8, DISTINCT)
    assert (result.logp, result.lopc, result.C_r) == (316, 453, 137)
    # closed at two messages per iteration: R = 453 + 2 C_n
    assert result.R == pytest.approx(453 + 2 * result.C_n)
    # (x - 226.5)(x - 8) = 3 * 64/2 = 96 -> C_n = 0.4385
    assert result.C_n == pytest.approx(0.4385, abs=5e-4)
    assert remap.synchronous(ALEWIFE_SHORT, 44, DISTINCT).C_n == pytest.approx(14.7, abs=0.05)  # 23 is printed


def test_synchronous_by_mean_value_analysis() -> None:
    assert remap.synchronous(ALEWIFE_SHORT, 8, DISTINCT, lopc="amva").lopc == pytest.approx(316 + 180.9, abs=0.05)
    assert remap.synchronous(ALEWIFE_SHORT, 8, DISTINCT, W=1000).logp == 1316


def test_asynchronous_table_4() -> None:
    iteration, waits = remap.asynchronous(ALEWIFE_SHORT, 16, DISTINCT)
    assert iteration == 137  # o_s + o_r: latency and contention are hidden
    assert waits.C_n == pytest.approx(3.2, abs=0.05)  # 31 is printed, without the size
    assert remap.asynchronous(ALEWIFE_SHORT, 200, DISTINCT)[1].C_n == float("inf")  # rho = 200/137


def test_asynchronous_long_iteration() -> None:
    # 25 + 31999 * 0.5 + 31991 * 0.5 = 32020, about 2 B G = 32000
    assert remap.asynchronous_long_iteration(25, 0.5, 32_000, 8) == 32_020
    # a message shorter than its header has nothing to receive
    assert remap.asynchronous_long_iteration(25, 0.5, 4, 8) == 26.5


@pytest.mark.parametrize(
    ("network", "F", "rho"),
    [
        (MESH, 2.1703, 0.446),  # printed "2.2", k_d = 1.9375 of (11)
        (DISTINCT, 2.2247, 0.449),  # printed "2.22", which needs k_d = 2: 1 + sqrt(3/2)
    ],
)
def test_bound_of_the_paper_takes_a_byte_per_cycle(network: Network, F: float, rho: float) -> None:
    assert remap.interval_per_byte(0.5, network) == pytest.approx(F, abs=5e-5)
    assert remap.slow_down_bound(0.5, network) == pytest.approx(F, abs=5e-5)  # 2 G = 1
    assert round(float(remap.slow_down_bound(0.5, network)), 1) == 2.2


@pytest.mark.parametrize(("self_messages", "F"), [(True, 1.389), (False, 1.411)])
def test_bound_with_consistent_units(self_messages: bool, F: float) -> None:
    network = alewife_mesh(self_messages=self_messages, consistent=True)
    assert remap.slow_down_bound(0.5, network) == pytest.approx(F, abs=5e-4)


def test_errors_against_the_measurements() -> None:
    """Printed: within 12 %. 499/486, 137/151 and 2.2247/2.03."""
    assert 499 / 486 - 1 == pytest.approx(0.027, abs=5e-4)
    assert 137 / 151 - 1 == pytest.approx(-0.093, abs=5e-4)
    assert float(remap.interval_per_byte(0.5, DISTINCT)) / 2.03 - 1 == pytest.approx(0.096, abs=5e-4)


def test_communication_to_computation_of_figure_9() -> None:
    # 2 B G/w_a at 32000 B: w_a = 1024^2 * 100/(32 * 64) = 51200; P = 32 is not printed.
    assert 2 * 32_000 * ALEWIFE_LONG.G / (1024**2 * 100 / (32 * 64)) == pytest.approx(0.625)


@given(st.floats(0.01, 10), st.floats(0, 50), st.integers(2, 4), st.floats(0.01, 10), st.floats(1, 1e6))
def test_the_bound_is_no_speed_up_and_holds_for_every_size(G: float, k_d: float, n: int, t_c: float, B: float) -> None:
    network = Network.symmetric(k_d, n, channel_time=t_c)
    bound = float(remap.slow_down_bound(G, network))
    assert bound >= 1.0
    # F does not depend on B: closing (7) for B bytes gives F B.
    from logpost.replay.models import closed_contention

    assert np.asarray(closed_contention(B, 2 * G * B, network).T_c) == pytest.approx(
        float(remap.interval_per_byte(G, network)) * B
    )
