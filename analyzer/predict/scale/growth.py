"""How a quantity grows with the number of ranks P: few terms, chosen by the error at the size that is left out.

A hypothesis is c f(P) or a + c f(P), with f one of `TERMS` and no coefficient below 0: times and counts are sums of
what happens. This is the performance model normal form of Extra-P (Calotoiu et al., SC 2013) with one term and a
constant; f is not searched among 40 exponents but among the terms that the trace allows (`structure`).

Where the program is replayed at every size (`replayed`), what the replay says is one more f: the trace's own patterns
instead of a power of P. It may miss by a factor, which the measured sizes show, and is judged like the others.

Coefficients minimize the relative error; below a floor (a small share of all time) the absolute one. A hypothesis is
judged, as there, by leaving out one size after another and predicting it from the others (symmetric mean absolute
error).
Hypotheses that do nearly as well as the best one cannot be distinguished from it: the interval of a prediction holds
what all of them say, each widened by its own error, the more the further it is extrapolated. With two sizes every a + c
f(P) passes through both; then they all count, unless c f(P) does without a and f is what the trace shows. A power that
nothing shows fits two sizes by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from logpost.analyzer.statistics.student import two_sided
from logpost.replay.graph.engine import COVERED

Values = npt.NDArray[np.float64]

TERMS: dict[str, tuple[float, int]] = {
    "1": (0.0, 0),
    "1/P": (-1.0, 0),
    "P^-2/3": (-2 / 3, 0),
    "P^-1/2": (-0.5, 0),
    "P^-1/3": (-1 / 3, 0),
    "log P": (0.0, 1),
    "P^1/3": (1 / 3, 0),
    "P^1/2": (0.5, 0),
    "P^2/3": (2 / 3, 0),
    "P - 1": (1.0, 0),
    "P": (1.0, 0),
    "P log P": (1.0, 1),
    "P^2": (2.0, 0),
}
"""Exponents of P and of log2 P, from the slowest growth to the fastest but for the constant."""
CONSTANT = "1"
REPLAY = "replay"
UNKNOWN = "?"
"""Of a count that no term fits."""
LIKE = 1.25
"""A replay that is off by no more than this factor is preferred to a power of P that fits as well."""
SAME = 0.005
"""Errors that differ by no more do not distinguish hypotheses."""
NEAR = 1.5
"""Nor do those within this factor."""


@dataclass(frozen=True)
class Hypothesis:
    """constant + factor f(P)."""

    term: str
    constant: float
    factor: float
    error: float
    """at the sizes that were left out, of 1; NaN: it has as many coefficients as there are sizes"""
    misses: Mapping[float, float] = field(default_factory=dict, repr=False, compare=False)
    """what it says of each size that is left out, less what was measured there"""
    replayed: Mapping[float, float] = field(default_factory=dict, repr=False, compare=False)
    """what the replay says, by P; of the term `REPLAY`"""

    def at(self, ranks: float) -> float:
        """The quantity at a number of ranks."""
        return self.constant + self.factor * float(shape(self.term, np.asarray([ranks]), self.replayed)[0])

    @property
    def text(self) -> str:
        """Its form, e.g. a + c log P."""
        if self.term == CONSTANT:
            return "constant"
        if self.term == REPLAY:
            return f"{'a + ' if self.constant else ''}{self.factor:.2f} x replay"
        return f"a + c {self.term}" if self.constant else f"c {self.term}"


@dataclass(frozen=True)
class Growth:
    """What was measured over P, the hypothesis that predicts it best, and those that cannot be distinguished from
    it."""

    sizes: tuple[float, ...]
    values: tuple[float, ...]
    best: Hypothesis
    admissible: tuple[Hypothesis, ...]
    floor: float = 0.0
    """errors below it are of this, not of the value; at the largest size"""

    def at(self, ranks: float) -> float:
        """The prediction."""
        return self.best.at(ranks)

    @property
    def sure(self) -> float:
        """How many mean errors an interval of 90 % is to either side."""
        return sure(len(set(self.sizes)))

    def interval(self, ranks: float) -> tuple[float, float]:
        """From the least to the most that an admissible hypothesis says, each with its own error."""
        far = stretch(self.sizes, ranks)
        ends = []
        for one in self.admissible:
            error = self.sure * far * (0.0 if math.isnan(one.error) else one.error)
            value = one.at(ranks)
            ends += [max(0.0, value - error * max(value, self.floor)), value + error * max(value, self.floor)]
        return min(ends), max(ends)

    @property
    def error(self) -> float:
        """Of the best hypothesis, at the sizes that were left out."""
        return 0.0 if math.isnan(self.best.error) else self.best.error


def shape(term: str, ranks: Values, replayed: Mapping[float, float] | None = None) -> Values:
    """f(P); log P is at least 1, that of two ranks."""
    if term == REPLAY:
        assert replayed is not None
        return np.asarray([replayed[one] for one in ranks.tolist()])
    if term == "P - 1":
        return np.asarray(ranks, dtype=np.float64) - 1
    power, logs = TERMS[term]
    found: Values = (
        np.asarray(ranks, dtype=np.float64) ** power * np.maximum(np.log2(np.maximum(ranks, 2.0)), 1.0) ** logs
    )
    return found


@cache
def sure(errors: int) -> float:
    """90 % of errors are smaller than so many times the mean |error| of as many as are known.

    A normal error's standard deviation is sqrt(pi / 2) of its mean absolute value. It is not known, but estimated from
    a few errors at sizes that were left out: then the quantile is that of Student's t with as many degrees of freedom,
    2.35 of three sizes, where that of a known deviation is 1.64.
    """
    return math.sqrt(math.pi / 2) * two_sided(COVERED, max(1, errors))


def stretch(sizes: Sequence[float], ranks: float) -> float:
    """By how much an error grows from the known sizes to another: 1 within them, and more by the distance outside of
    them over the span that is known, both in powers of P."""
    first, last = math.log(min(sizes)), math.log(max(sizes))
    beyond = max(0.0, math.log(ranks) - last, first - math.log(ranks))
    return math.hypot(1.0, beyond / max(last - first, math.log(2) / 2))


def growth(
    sizes: Sequence[float],
    values: Sequence[float],
    terms: Iterable[str],
    replayed: Mapping[float, float] | None = None,
    floor: Sequence[float] | None = None,
    shown: Iterable[str] = TERMS,
    *,
    signed: bool = False,
) -> Growth:
    """The growth of values that were measured at sizes; a size may occur several times.

    Args:
        sizes: numbers of ranks, of at least two different ones.
        values: 0 or more.
        terms: keys of `TERMS`; a constant is always among them.
        replayed: what a replay says, by size; None: there is none.
        floor: differences count over the value, or this where it is more; None: over the value.
        shown: terms that the trace shows, besides a constant and a replay that is right.
        signed: the constant may be below 0, as of exact values that begin to grow from more than one rank on.
    """
    at, measured = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    least = 1e-6 * measured.max() + 1e-9
    floors = np.maximum(least, np.zeros_like(at) if floor is None else np.asarray(floor, dtype=np.float64))
    allowed = [CONSTANT, *(one for one in TERMS if one in set(terms) - {CONSTANT})]
    if replayed is not None and all(replayed[one] > 0 for one in at.tolist()):
        allowed.append(REPLAY)
    judged = (_judged(at, measured, floors, *form, replayed or {}, signed=signed) for form in _forms(allowed))
    found = [one for one in judged if one is not None]
    ranked = sorted((one for one in found if not math.isnan(one.error)), key=lambda one: one.error)
    # Of those that cannot be distinguished, the one with the fewest coefficients, and the slowest growth.
    best = min((one for one in ranked if one.error <= ranked[0].error + SAME), key=_plainness)
    limit = max(NEAR * best.error, best.error + SAME)
    # What passes through both of two sizes is judged by nothing; where one coefficient is enough, two are not needed.
    enough = best.error <= SAME and (_plainness(best) < (False, 0.0) or best.term in {CONSTANT, *shown})
    alternatives: list[Hypothesis] = []
    if not enough:
        alternatives = [one for one in found if math.isnan(one.error)]
        if len(np.unique(at)) == 2:  # nothing shows that it grows at all
            alternatives += [one for one in ranked if one.term == CONSTANT]
    near = [one for one in ranked if one.error <= limit]
    return Growth(tuple(at.tolist()), tuple(measured.tolist()), best, (*near, *alternatives), float(floors[-1]))


def _plainness(one: Hypothesis) -> tuple[bool, float]:
    with_constant = one.constant != 0 and one.term != CONSTANT
    if one.term == REPLAY:
        return with_constant, -1.0 if 1 / LIKE <= one.factor <= LIKE else math.inf
    power, logs = TERMS[one.term]
    return with_constant, abs(power) + 0.1 * logs


def _forms(allowed: Sequence[str]) -> Iterable[tuple[str, bool]]:
    """A term, and whether a constant is added."""
    for term in allowed:
        yield term, False
        if term != CONSTANT:
            yield term, True


def _judged(
    sizes: Values,
    values: Values,
    floors: Values,
    term: str,
    with_constant: bool,
    replayed: Mapping[float, float],
    *,
    signed: bool,
) -> Hypothesis | None:
    """The hypothesis fitted to all sizes, and its error; None where a coefficient would be 0 or less: a simpler one."""
    f = shape(term, sizes, replayed)
    fitted = _fit(f, values, floors, with_constant, signed=signed)
    if fitted is None:
        return None
    different = np.unique(sizes)
    if len(different) <= 1 + with_constant:
        return Hypothesis(term, *fitted, error=math.nan, replayed=replayed)
    errors, misses = [], {}
    for size in different.tolist():
        left = sizes != size
        without = _fit(f[left], values[left], floors[left], with_constant, signed=signed)
        if without is None:
            return None
        said = without[0] + without[1] * f[~left]
        misses[size] = float(np.mean(said - values[~left]))
        errors.append(float(np.mean(_apart(said, values[~left], floors[~left]))))
    return Hypothesis(term, *fitted, error=float(np.mean(errors)), misses=misses, replayed=replayed)


def _apart(one: Values, other: Values, floors: Values) -> Values:
    """|a - b| over their mean, or over the floor."""
    return np.abs(one - other) / np.maximum((one + other) / 2, floors)


def _fit(f: Values, values: Values, floors: Values, with_constant: bool, *, signed: bool) -> tuple[float, float] | None:
    """Constant and factor of the least relative error; None where one of them would be 0 or less."""
    weight = 1 / np.maximum(values, floors)
    if not with_constant:
        return 0.0, float(np.sum(weight**2 * f * values) / np.sum(weight**2 * f**2))
    rows = np.column_stack([np.ones_like(f), f]) * weight[:, None]
    (constant, factor), *_ = np.linalg.lstsq(rows, values * weight, rcond=None)
    scale = float(values.max())
    if (constant <= 1e-6 * scale and not signed) or factor * float(f.max()) <= 1e-6 * scale:
        return None
    return float(constant), float(factor)


def counted(sizes: Sequence[float], values: Sequence[float]) -> str:
    """The term by which a count grows, to a hundredth of every value, or about; `UNKNOWN` where there is none."""
    at, measured = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    for term in TERMS:
        f = shape(term, at)
        if np.allclose(measured.mean() / f.mean() * f, measured, rtol=0.01):
            return term
    slope = float(np.polyfit(np.log(at), np.log(np.maximum(measured, 1e-300)), 1)[0]) if (measured > 0).all() else 0.0
    near = [term for term, (power, logs) in TERMS.items() if not logs and abs(power - slope) < 0.1]
    return min(near, key=lambda term: abs(TERMS[term][0] - slope)) if near else UNKNOWN
