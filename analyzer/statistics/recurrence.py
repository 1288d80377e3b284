"""Whether values recur after a number of repetitions, beyond what chance would give.

    left(p) = mean of (x_i - x_j)² / 2 over all i < j with j - i a multiple of p, over the variance of all x

is the part of the variance that values do not share with those any multiple of p before them: 0 where they recur, 1 on
average where their order says nothing. The sums of a distance k are those of squares and one autocorrelation, by FFT:

    sum of (x_i - x_(i+k))² / 2 = (sum of x_i², i < n - k, + sum of x_i², i >= k) / 2 - sum of x_i x_(i+k)

Among many p, the least of them is small by chance, above all of long p and of rare large values. So it must be less
than those of `SHUFFLES` random orders of the same values: where the order says nothing, each order has the least one
equally often, whatever the values' distribution (Barnard 1963), and 1 in `SHUFFLES` + 1 such series gets a period.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SHUFFLES = 19
"""Random orders: a level of 5 %, that of the intervals."""
LEAST = 3
"""Periods that the values hold."""
HALF = 0.5
"""Of the variance: less is left than recurs; and of what another period leaves, the best one leaves less."""
DIGITS = 9
"""Of a part of the variance: the error of an FFT of 10^6 values is some 10^-15 of their squares' sum."""


def period(values: npt.NDArray[np.int64]) -> int:
    """The fewest repetitions after which values recur, of all up to a third of them; 1: after none.

    Arguments:
        values: one of each repetition, in their order, of any unit.
    """
    left = _left(values)
    best = left.min(initial=1.0)
    if best >= HALF:
        return 1
    order = np.random.default_rng(0)
    if any(_left(order.permutation(values)).min() <= best for _ in range(SHUFFLES)):
        return 1
    return int(np.argmax(HALF * left <= best))


def _left(values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """By number of repetitions: the part of the variance that does not recur after so many; 1 for none and one."""
    count = len(values)
    found = np.ones(max(2, count // LEAST + 1))
    off = values - values.mean() if count else values
    squares = np.concatenate([[0.0], np.cumsum(off * off)])
    if len(found) == 2 or not squares[-1] > 0:
        return found
    spectrum = np.fft.rfft(off, 2 * count)
    products = np.fft.irfft((spectrum * spectrum.conj()).real)[:count]
    apart = (squares[:0:-1] + squares[-1] - squares[:-1]) / 2 - products
    for every in range(2, len(found)):
        distances = (count - 1) // every
        pairs = distances * count - every * distances * (distances + 1) // 2
        found[every] = apart[every::every].sum() / pairs
    found[2:] *= (count - 1) / squares[-1]
    return np.round(found, DIGITS)
