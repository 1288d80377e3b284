"""Between what a gain is: the noise of repetitions."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.analyzer.findings.gain_interval import repetition_noise


def test_repetitions_that_save_unequally_widen_the_interval() -> None:
    # 12 and 8 by turns: 10 of 10 save 100; their deviation of 2.108 makes 2.262 x 2.108 x sqrt(10) = 15.08.
    assert repetition_noise(np.cumsum([12, 8] * 5)) == pytest.approx(0.1508, rel=1e-3)
    # In batches of two, all are alike.
    assert repetition_noise(np.cumsum([12, 8] * 10)) == 0
    assert repetition_noise(np.cumsum([10] * 10)) == 0


def test_too_few_repetitions_say_nothing_of_noise() -> None:
    assert repetition_noise(np.array([10, 30])) is None
    assert repetition_noise(np.array([10, 30, 0])) is None
    assert repetition_noise(np.array([], dtype=np.int64)) is None
    # One of five saves all: that is no repetition.
    assert repetition_noise(np.cumsum([0, 0, 10, 0, 0])) is None
