"""LoGPC's messages: short, long, through the DMA, and the size from which the interrupt is hidden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import ModelError, logpc
from logpost.replay.models.papers.alewife import ALEWIFE_LONG, ALEWIFE_SHORT


def test_short_message() -> None:
    assert logpc.short_message(ALEWIFE_SHORT) == 158  # 15 + 21 + 122
    assert logpc.short_message(ALEWIFE_SHORT, 23) == 181


def test_long_message() -> None:
    # (1): 25 + 8 + 1999 * 0.5; (10) adds C_n.
    assert logpc.long_message(ALEWIFE_LONG, 2000) == 1032.5
    assert logpc.long_message(ALEWIFE_LONG, 2000, 100) == 1132.5


def test_below_the_crossover_the_interrupt_shows() -> None:
    # (2) at 100 B: 25 + 8 + max(129 + 4 + 36.25, 49.5) = 202.25
    assert logpc.dma_message(ALEWIFE_LONG, 100) == pytest.approx(202.25)
    assert logpc.receive_tail(ALEWIFE_LONG, 100) == pytest.approx(169.25 - 49.5)


def test_crossover_at_about_a_thousand_bytes() -> None:
    """Inferred: a = 8 and G_m = 0.25 * 1.45; 971 B for the printed "about 1,000 bytes"."""
    B = logpc.crossover(ALEWIFE_LONG)
    assert B == pytest.approx(971, abs=0.5)
    # 129 + 8 * 0.5 + B * 0.3625 = (B - 1) * 0.5 there
    assert logpc.dma_message(ALEWIFE_LONG, B) == pytest.approx(logpc.long_message(ALEWIFE_LONG, B))
    assert logpc.crossover(replace(ALEWIFE_LONG, G_m=0.25)) == pytest.approx(534)


def test_slow_memory_never_drains_the_queue() -> None:
    assert logpc.crossover(replace(ALEWIFE_LONG, G_m=0.5)) == float("inf")
    assert logpc.crossover(replace(ALEWIFE_LONG, G_m=0.7)) == float("inf")
    np.testing.assert_array_less(0, logpc.receive_tail(replace(ALEWIFE_LONG, G_m=0.7), np.array([1e3, 1e9])))


@given(st.integers(0, 2**30).map(float))
def test_equation_2_is_the_larger_of_its_two_pipelines(B: float) -> None:
    p = ALEWIFE_LONG
    after = max(B - 1, 0) * p.G
    expected = p.o_sl + p.L + max(p.o_rl + p.a * p.G + B * p.G_m, after)
    assert logpc.dma_message(p, B) == pytest.approx(expected)
    assert logpc.dma_message(p, B) >= logpc.long_message(p, B)


def test_negative_values_are_refused() -> None:
    with pytest.raises(ModelError, match=r"G_m = -1 must be at least 0"):
        replace(ALEWIFE_LONG, G_m=-1.0)
    with pytest.raises(ModelError, match=r"C_n = -1 must be at least 0"):
        logpc.short_message(ALEWIFE_SHORT, -1)


def test_saturated_contention_is_an_infinite_time() -> None:
    assert logpc.long_message(ALEWIFE_LONG, 2000, float("inf")) == float("inf")
