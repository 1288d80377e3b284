"""The Diamond DAG: (15) against its collected form, the best number of blocks, contention, edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import ModelError, Network
from logpost.replay.models.diamond_dag import DiamondDAG
from logpost.replay.models.papers.alewife import CYCLE, alewife_mesh, diamond

PRINTED = diamond()


def test_makespans_of_the_paper_s_problem() -> None:
    """n = 1024, P = 32, 100 cycles per task, o_s 25, a 8, G 0.5; alpha, not printed, is 0."""
    assert PRINTED.makespan(64) == pytest.approx(4_866_748, abs=1)
    assert PRINTED.makespan(64) / 20e6 == pytest.approx(0.2433, abs=5e-5)  # seconds at 20 MHz
    assert PRINTED.makespan(1024) == 3_397_731


def test_the_stationary_point_is_a_minimum_beyond_n() -> None:
    """The text looks for "the maximum"; it is a minimum, at 2253.8 > n, so that b = n is best as printed."""
    b = PRINTED.stationary_blocks()
    assert b == pytest.approx(2253.8, abs=0.05)
    larger = replace(PRINTED, n=1024)  # the formula, unconstrained: collected form at b* and beside it
    assert collected(larger, b) < collected(larger, b * 0.9)
    assert collected(larger, b) < collected(larger, b * 1.1)
    assert PRINTED.best_blocks() == 1024


def test_the_missing_interrupt_makes_blocks_cost() -> None:
    """With o_rl' = 129 cycles, which (15) omits, 826 blocks are best."""
    dag = diamond(interrupt=129)
    assert dag.stationary_blocks() == pytest.approx(826, abs=0.5)
    assert dag.best_blocks() == 826


def collected(dag: DiamondDAG, b: float) -> float:
    """M = (P+b-1) W + (P-1) d + (P+b-2) O_r + (b-1) O_s."""
    B = dag.n * dag.bytes_per_value / b
    W = (dag.n**2 * dag.task / dag.P + dag.alpha * dag.n) / b
    O_r, O_s = (B - 1 - dag.a) * dag.G + dag.o_rl, dag.o_s + (B - 1) * dag.G
    d = dag.L + dag.a * dag.G
    return (dag.P + b - 1) * W + (dag.P - 1) * d + (dag.P + b - 2) * O_r + (b - 1) * O_s


@given(
    st.integers(8, 4096), st.integers(2, 256), st.floats(0, 1e4), st.floats(0, 1e3), st.floats(0, 1e3),
    st.floats(0, 2), st.floats(0, 64), st.floats(0, 500), st.floats(0, 100), st.sampled_from([1.0, 4.0, 8.0]),
    st.floats(0, 1),
)  # fmt: skip
def test_equation_15_is_its_collected_form(
    n: int,
    P: int,
    task: float,
    L: float,
    o_s: float,
    G: float,
    a: float,
    o_rl: float,
    alpha: float,
    s: float,
    at: float,
) -> None:
    dag = DiamondDAG(
        n=n,
        P=P,
        task=task,
        L=L,
        o_s=o_s,
        G=G,
        a=a,
        o_rl=o_rl,
        alpha=alpha,
        bytes_per_value=s,
        as_printed=True,
        unit=CYCLE,
    )
    b = 1 + at * (n - 1)
    B = dag.block_bytes(b)
    if dag.send(B) + dag.work(b) + dag.receive(B) < 0:  # printed terms of messages shorter than their header
        with pytest.raises(ModelError, match=r"v = -.* is negative: O_r of \(15\) is"):
            dag.makespan(b)
        return
    assert dag.makespan(b) == pytest.approx(collected(dag, b), rel=1e-9, abs=1e-6)


def test_a_message_shorter_than_its_header_costs_no_negative_time() -> None:
    # b = 1024: B = 1 byte, O_r of (15) = (1 - 1 - 8)/2 = -4 cycles. By default it is 0, in P + b - 2 places.
    physical = replace(PRINTED, as_printed=False)
    assert PRINTED.receive(1) == -4
    assert physical.receive(1) == 0
    assert physical.makespan(1024) == PRINTED.makespan(1024) + 4 * (32 + 1024 - 2)
    assert physical.makespan(100) == PRINTED.makespan(100)  # 10.24 B: above the header, nothing to clamp


def test_printed_terms_that_make_a_time_negative_are_refused() -> None:
    # b = n = 8: B = 1, O_r = (1 - 1 - 8) * 1 = -8, d = 8, v = 0 + 0 - 8; (15) would be 8 + 0 - 7 * 8 - 8 = -56 cycles.
    dag = DiamondDAG(n=8, P=3, task=0, L=0, o_s=0, G=1, a=8, as_printed=True, unit=CYCLE)
    with pytest.raises(ModelError, match=r"v = -8 is negative: O_r of \(15\) is.*take as_printed=no, or fewer blocks"):
        dag.makespan(8)
    # B = 0, 100 processors: O_r = -9, v = 9 - 9 = 0 may stand, but not M = 8 + 98 * (8 - 9) + 0 - 9.
    with pytest.raises(ModelError, match=r"M = -99 is negative"):
        replace(dag, o_s=9, P=100).makespan(1, 0)
    assert replace(dag, as_printed=False).makespan(8) == 8 + 8  # d twice; nothing is sent, received or worked


def test_without_a_cost_per_block_more_blocks_are_always_better() -> None:
    # o_s = (2 + a) G: the denominator of b* vanishes.
    assert replace(PRINTED, o_s=5.0).stationary_blocks() == float("inf")
    assert replace(PRINTED, o_s=4.0).stationary_blocks() == float("inf")


def test_two_processors_with_more_data_than_work_want_one_block() -> None:
    # P = 2: (P-3) beta = -n s G outweighs (P-1) w.
    dag = DiamondDAG(n=64, P=2, task=0.0, L=1, o_s=25, G=1.0, unit=CYCLE)
    assert dag.stationary_blocks() == 1.0
    assert dag.best_blocks() == 1


def test_upper_bound_of_figure_9() -> None:
    """The paper measured 1.56 at 320 kB and nothing at 16 kB; its own bound gives 2.39 and 1.155 (k_d = 2)."""
    network = alewife_mesh(self_messages=False)
    stretch = [float(PRINTED.contended_makespan(64, network, B) / PRINTED.makespan(64, B)) for B in (16e3, 320e3)]
    assert stretch == pytest.approx([1.155, 2.39], abs=0.005)


def test_contention_enters_a_block_twice() -> None:
    # (x - v)(x - e) = 2 c with x = v + 2 C_n.
    network = Network.symmetric(2.0)
    B, v = 32_000.0, float(PRINTED.cycle(64, 32_000))
    C_n = float(PRINTED.contended_makespan(64, network, B) - PRINTED.makespan(64, B)) / (31 + 2 * 63)
    assert (2 * C_n) * (v + 2 * C_n - B) == pytest.approx(2 * 3 * B**2 / 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"P": 1.0}, r"P = 1 must be at least 2"),
        ({"n": 0.0}, r"n = 0 must be at least 1"),
        ({"n": 1e8}, r"n = 1e\+08 must be at most 1e\+07"),
        ({"task": -1.0}, r"task = -1 must be at least 0"),
    ],
)
def test_bad_problems(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        replace(PRINTED, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("b", [0, 1025])
def test_blocks_lie_between_one_and_n(b: int) -> None:
    with pytest.raises(ModelError, match=rf"b = {b} must be at (least 1|most 1024)"):
        PRINTED.makespan(b)


def test_columns_of_blocks() -> None:
    spans = np.asarray(PRINTED.makespan(np.array([64.0, 1024.0])))
    np.testing.assert_allclose(spans, [4_866_748.5, 3_397_731])
