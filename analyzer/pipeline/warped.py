"""Moments of a recorded program in another course of it, where some instants of both are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


def warped(was: Times, now: Times, moments: Times) -> Times:
    """Moments between the instants `was`, as far between the same instants of `now`; exact at the instants, and
    wherever a stretch keeps its length."""
    return moments if len(was) < 2 else between(was, now, moments, stretches(was, moments))


def stretches(was: Times, moments: Times) -> Rows:
    """For each moment the number of the instant before it, which another one follows."""
    return np.clip(np.searchsorted(was, moments, side="right") - 1, 0, len(was) - 2)


def between(was: Times, now: Times, moments: Times, place: Rows) -> Times:
    """The same of moments whose stretches are known; instants may be those of several executions, one after the
    other."""
    before, length = was[place], was[place + 1] - was[place]
    new = now[place + 1] - now[place]
    into = moments - before
    share = np.divide(into, length, out=np.zeros(len(moments)), where=length > 0)
    inner = np.where(
        (length == new) | (into < 0), into, np.where(into > length, new + into - length, np.rint(share * new))
    )
    return (now[place] + np.where(into == length, new, inner)).astype(np.int64)
