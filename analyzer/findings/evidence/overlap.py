"""How calls and intervals of one location overlap: calls follow each other, intervals may lie anywhere."""

from __future__ import annotations

import numpy as np

from logpost.replay.columns import Float64, Int64


class Overlap:
    """Calls, ascending and apart, against intervals. Times in ps.

    Attributes:
        first: by interval: its first call, or the first after it.
        past: by interval: the first call that begins after it.
    """

    def __init__(self, enter: Int64, leave: Int64, begin: Int64, end: Int64) -> None:
        self._enter, self._leave = enter, leave
        self.first = np.searchsorted(leave, begin, side="right")
        self.past = np.searchsorted(enter, end, side="left")
        self._some = self.past > self.first
        # What the first and the last call of each interval do before and after it.
        head, tail = np.minimum(self.first, len(enter) - 1), np.maximum(self.past - 1, 0)
        self._before = np.maximum(0, begin - enter[head])
        self._after = np.maximum(0, leave[tail] - end)

    def of_intervals(self) -> Float64:
        """How much of each interval lies in calls."""
        running = np.concatenate([[0], np.cumsum(self._leave - self._enter)])
        whole = running[np.maximum(self.past, self.first)] - running[self.first]
        return np.where(self._some, whole - self._before - self._after, 0).astype(np.float64)

    def of_calls(self) -> Float64:
        """How much of each call lies in the intervals together."""
        some = self._some
        steps = np.zeros(len(self._enter) + 1, dtype=np.int64)
        np.add.at(steps, self.first[some], 1)
        np.add.at(steps, self.past[some], -1)
        covered = np.cumsum(steps[:-1]) * (self._leave - self._enter)
        np.subtract.at(covered, self.first[some], self._before[some])
        np.subtract.at(covered, self.past[some] - 1, self._after[some])
        return covered.astype(np.float64)
