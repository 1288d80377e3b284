"""The interval of a measured time, from visits in several launches of its program.

    estimate      m = median over launches of m_j,   m_j = median over the visits of launch j of their median sample
    interval      m -+ h,   h = max(m - low, high - m, q)
    k >= 6        low = m_(r), high = m_(k+1-r) in order of size, r = floor(k/6)
    2 <= k <= 5   high - m = m - low = t(k-1) c s / sqrt(k)
    q             half of a clock step over the repetitions that a sample averages

Symbols: k launches; times in s; s standard deviation of the m_j; t(n) 97.5 % point of Student's t with n degrees of
freedom; c = sqrt(pi/2), the median's standard error over the mean's for many normal values (too wide for few, 1.16 at
k = 3, by design: so few launches don't show how long the tail is).

A batch's samples are no independent draws of what a second calibration would find: memory placement, frequency and
neighbours on a shared machine change slowly and between processes; on a virtual machine all messages of a second may
take three times as long because its two processors were moved apart. Launches are spread over the whole calibration, so
their spread holds all this; the samples of one launch only say when that launch may stop (LOGP 3.3: batches of 50 until
+-5 % at 95 %). With a single launch the interval is that launch's own.

Launches are not independent either: a speed lasts for several of them, and two calibrations may see it for most of
their time, or hardly at all. However many there are, they count as six, the fewest whose range has the median in it
with 95 %: P = 1 - 2/2^6 = 96.9 %; of k launches that fall into six spells the smallest k/6 may all be of one spell. No
distribution is assumed, and floor(k/6) - 1 wild launches at either end have no influence. Of 45 pairs of
calibrations of a virtual machine with two speeds, minutes to two and a half hours apart, 44 agree so in 95 % of their
values or more; 19 do when the 20 launches count as independent.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

ACCURACY = 0.05
"""Relative half width that a measurement is to reach (LOGP 3.3)."""
CONFIDENCE = 0.95
"""Of all intervals."""
SPELLS = 6
"""Independent launches that those of a point count as: the fewest whose range holds the median with CONFIDENCE."""
_MEDIAN_OVER_MEAN = math.sqrt(math.pi / 2.0)
_Z = statistics.NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Statistics:
    """A measured time: of one visit to a point, as a calibration program writes it, or of all visits."""

    minimum_s: float
    median_s: float
    mean_s: float
    half_width_s: float
    samples: int
    batches: int
    reached: bool
    rounds_s: tuple[float, ...]

    def quiet(self) -> Statistics:
        """The lower quartile of the rounds in place of their median: other load makes rounds longer, none shorter, and
        up to three of four may be so. The rounds stay, so that intervals reach over them."""
        ordered = sorted(self.rounds_s)
        value = max(ordered[(len(ordered) - 1) // 4], self.minimum_s)
        return replace(self, median_s=value, reached=self.half_width_s <= ACCURACY * value)

    def least(self) -> Statistics:
        """The smallest sample in place of the median, as LOG3P 4.1 takes it: on a shared machine medians hold what the
        neighbours do. The half width stays that of the median."""
        return replace(self, median_s=self.minimum_s, mean_s=self.minimum_s, rounds_s=(self.minimum_s,))


@dataclass(frozen=True)
class Visit:
    """One visit to a point, and the repetitions that each of its samples averages."""

    time: Statistics
    repeat: int = 1


def student_t(degrees: int) -> float:
    """t(n): the 97.5 % point of Student's t, to 1e-3 relative (exact for n = 1 and 2, Cornish-Fisher series above).

    Source: Abramowitz & Stegun 26.7.5; the first terms, checked against tables in the tests.
    """
    if degrees < 1:
        raise ValueError(f"t needs at least 1 degree of freedom, not {degrees}")
    if degrees == 1:
        return math.tan(math.pi * 0.475)
    if degrees == 2:
        return 0.95 * math.sqrt(2.0 / (1.0 - 0.95**2))
    z, n = _Z, float(degrees)
    g1 = (z**3 + z) / 4.0
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96.0
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384.0
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160.0
    return z + g1 / n + g2 / n**2 + g3 / n**3 + g4 / n**4


def rank(k: int) -> int:
    """r: the rank from either end of k launches that encloses their median with at least 95 %; 0, none, for k < 6."""
    return k // SPELLS


def half_width(launches: Sequence[float]) -> float:
    """max(m - low, high - m) of the launches' medians; at least two launches."""
    k, m = len(launches), statistics.median(launches)
    r = rank(k)
    if r == 0:
        return student_t(k - 1) * _MEDIAN_OVER_MEAN * statistics.stdev(launches) / math.sqrt(k)
    ordered = sorted(launches)
    return max(m - ordered[r - 1], ordered[k - r] - m)


def combine(
    launches: Sequence[Sequence[Visit]], *, clock_step_s: float = 0.0, accuracy: float = ACCURACY
) -> Statistics:
    """The statistics of a point from its visits, grouped by launch; at least one visit."""
    visits = [visit for launch in launches for visit in launch]
    times = [visit.time for visit in visits]
    medians = [statistics.median(visit.time.median_s for visit in launch) for launch in launches if launch]
    estimate = statistics.median(medians)
    samples = sum(t.samples for t in times)
    half = half_width(medians) if len(medians) > 1 else max(t.half_width_s for t in times)
    half = max(half, 0.5 * clock_step_s / min(v.repeat for v in visits))
    return Statistics(
        minimum_s=min(t.minimum_s for t in times),
        median_s=estimate,
        mean_s=sum(t.mean_s * t.samples for t in times) / samples,
        half_width_s=half,
        samples=samples,
        batches=sum(t.batches for t in times),
        reached=half <= accuracy * estimate,
        rounds_s=tuple(medians),
    )
