"""Between what a gain is: the noise of repetitions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.analyzer.findings.cures.test_uneven import steps

from logpost.analyzer.findings import gain_interval
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding
from logpost.analyzer.findings.gain_interval import repetition_noise, residual_parts


def test_repetitions_that_save_unequally_widen_the_interval() -> None:
    # Ten save 100; the squares of their differences from the mean add up to 26, so that their deviation of 1.700 makes
    # 2.262 x 1.700 x sqrt(10) = 12.16.
    assert repetition_noise(np.cumsum([12, 8, 9, 11, 10, 12, 7, 11, 9, 11])) == pytest.approx(0.1216, rel=1e-3)
    assert repetition_noise(np.cumsum([10] * 10)) == 0


def test_what_recurs_is_no_noise() -> None:
    # In ten batches of three, every other one would have 32, and the others 28.
    assert repetition_noise(np.cumsum([12, 8] * 15)) == 0
    # 10 +- 1 in addition, by chance: fifteen pairs of 20 in the mean, in ten batches.
    noisy = np.array([12, 8] * 15) + np.random.default_rng(48).integers(-1, 2, 30)
    assert 0 < (repetition_noise(np.cumsum(noisy)) or 0) < 0.05
    # A period of 20: ten batches of ten would have 20 or 10 each, and their noise is that of 5 around 15.
    assert repetition_noise(np.cumsum(([20] * 10 + [10] * 10) * 5)) == 0


@pytest.mark.parametrize("count", [6, 9, 12, 20, 40, 100])
def test_a_search_for_periods_narrows_no_interval_of_noise(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """How often the interval has the true mean, 100, with the search and without: 1,000 series of normal noise. At
    95 %, the standard deviation of this fraction is 0.7 points; both are of the same series."""
    every = np.random.default_rng(count).normal(100, 20, (1000, count))

    def covered() -> float:
        parts = [(one.mean(), repetition_noise(np.cumsum(one))) for one in every]
        return float(np.mean([part is None or abs(mean - 100) <= part * mean for mean, part in parts]))

    searched = covered()
    monkeypatch.setattr(gain_interval, "period", lambda _: 1)
    assert searched >= covered() - 0.007
    assert searched > 0.93


def test_what_calls_last_bounds_what_their_residual_may_save() -> None:
    # A cure that already saves all of the time in its calls can save no more of their residual.
    assert residual_parts(time=10.0, saved=10.0, residual=4.0) == (0.4, 0.0)
    assert residual_parts(time=10.0, saved=8.0, residual=4.0) == (0.4, 0.25)
    assert residual_parts(time=10.0, saved=2.0, residual=4.0) == (0.4, 0.4)


def test_too_few_repetitions_say_nothing_of_noise() -> None:
    assert repetition_noise(np.array([10, 30])) is None
    assert repetition_noise(np.array([10, 30, 0])) is None
    assert repetition_noise(np.array([], dtype=np.int64)) is None
    # One of five saves all: that is no repetition.
    assert repetition_noise(np.cumsum([0, 0, 10, 0, 0])) is None


def test_noise_widens_the_interval_beyond_either_end_of_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two of three ranks compute 4 ms and one 8: 1/3 is saved if the work is shared, 1/2 if the slow rank is as fast.
    monkeypatch.setattr(gain_interval, "_noise", lambda *_: 0.1)
    (row,) = steps([4, 4, 8]).findings().iter_rows(named=True)
    off = 0.1 * row["gain"]
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((1 / 3 - off, 1 / 2 + off), abs=0.002)


def test_an_interval_that_decides_whether_a_finding_is_stated_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []
    compute = gain_interval._with_interval

    def counted(evidence: Evidence, finding: Finding) -> Finding:
        computed.append(finding.kind)
        return compute(evidence, finding)

    monkeypatch.setattr(gain_interval, "_with_interval", counted)
    (row,) = steps([8, 4], [4, 8], operation="Barrier").findings().iter_rows(named=True)
    assert row["gain_low"] is not None
    assert computed == ["needless_barrier"]
