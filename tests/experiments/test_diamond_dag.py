"""LOGPC Fig. 9 and (15)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result

NAME = "diamond-dag"


def test_equation_15_is_the_papers(quick_result: Callable[[str], Result]) -> None:
    spans = table(quick_result(NAME), "Fig. 9")
    # b 64, B 16,000, W = 1024^2 * 100/(32 * 64) = 51,200; O_s = 25 + 7,999.5 = 8,024.5; O_r = 15,991 * 0.5 = 7,995.5;
    # d = 8 + 4 = 12; u = 59,207.5; v = 67,220
    # M = 51,212 + 30 * 59,207.5 + 63 * 67,220 + 59,195.5 = 6,121,492.5 cycles = 0.306075 s at 20 MHz
    assert number(spans, 16_000, "(15), no contention") == pytest.approx(0.306075, abs=1e-6)


def test_without_contention_the_testbed_does_what_15_says(quick_result: Callable[[str], Result]) -> None:
    spans = table(quick_result(NAME), "Fig. 9")
    for size in (16_000, 320_000):
        predicted = number(spans, size, "(15), no contention")
        assert number(spans, size, "perfect mapping") == pytest.approx(predicted, rel=0.0314)


def test_the_random_mapping_suffers_from_long_messages_only(quick_result: Callable[[str], Result]) -> None:
    spans = table(quick_result(NAME), "Fig. 9")
    slow = {s: number(spans, s, "random mapping") / number(spans, s, "perfect mapping") for s in (16_000, 320_000)}
    assert slow[320_000] > 1.3
    assert slow[320_000] > slow[16_000]


def test_many_blocks_beat_few(quick_result: Callable[[str], Result]) -> None:
    by_blocks = table(quick_result(NAME), "Makespan over the number of blocks")
    testbed = "diamond, perfect mapping"
    # With b = 8 the last of 32 stripes waits for 31 of 8 + 31 blocks; with 128 for 31 of 159.
    assert number(by_blocks, 8, testbed) > 3 * number(by_blocks, 128, testbed)
    for b in (8, 128):
        assert number(by_blocks, b, "(15), 8 bytes per value") == pytest.approx(number(by_blocks, b, testbed), rel=0.05)
