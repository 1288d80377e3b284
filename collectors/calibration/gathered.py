"""Gather what calibration programs write, line by line, into samples with their statistics."""

from __future__ import annotations

import statistics as numbers
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from logpost.errors import InputError
from logpost.machines.calibration import samples
from logpost.machines.calibration.bursts import steady_depth
from logpost.machines.calibration.samples import DELAYED, FAMILIES, Host, Key, Sample, Samples
from logpost.machines.calibration.statistics import Visit, combine

_BUSY = 10.0
"""Ratio of the median to the smallest sample that only other load explains."""


@dataclass
class Gathered:
    """What the launches so far have written: points in their order, visits by point and launch.

    A calibration within one launch has rounds instead: its visits are spread over its time by rounds.
    """

    host: Host | None = None
    points: dict[tuple[Key, ...], Sample] = field(default_factory=dict)
    visits: dict[tuple[Key, ...], dict[int, list[Visit]]] = field(default_factory=dict)
    values: dict[tuple[Key, ...], dict[str, list[float]]] = field(default_factory=dict)

    def take(self, path: Path, launch: int) -> None:
        """Take a launch's file. Raises InputError when it is missing, empty or damaged."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(
                f"the calibration program left no samples in {path}: {error}; its rank 0 must see this folder (choose "
                "an output file on a shared file system)"
            ) from error
        if not lines:
            raise InputError(f"the calibration program left {path.name} empty; is the device full?")
        if self.host is None:
            first = f"{path.name}, line 1"
            self.host = samples.parse_host(samples.parse_line(lines[0], first), first)
        for number, line in enumerate(lines[1:], start=2):
            where = f"{path.name}, line {number}"
            self.take_visit(samples.parse_line(line, where), where, launch)

    def take_visit(self, record: Mapping[str, Any], where: str, launch: int | None) -> None:
        """Take one line; its own round is the launch where none is given. Raises InputError as ``parse`` does."""
        point = samples.parse(record, where)
        visit = Visit(point.time, repeat=max(1, int(record.get("repeat", 1))))
        chosen = int(record.get("round", 0)) if launch is None else launch
        self.points.setdefault(point.name, point)
        self.visits.setdefault(point.name, {}).setdefault(chosen, []).append(visit)
        values = self.values.setdefault(point.name, {})
        for key in FAMILIES[point.family].values:
            values.setdefault(key, []).append(float(point.keys[key]))

    def result(self, launcher: str, compiler: str) -> Samples:
        """All points with their statistics."""
        assert self.host is not None
        step = self.host.clock_resolution_s
        points = [self._point(name, step) for name in self.points]
        return Samples(replace(self.host, launcher=launcher, compiler=compiler), tuple(points))

    def _point(self, name: tuple[Key, ...], clock_step_s: float) -> Sample:
        first = self.points[name]
        found = combine(list(self.visits[name].values()), clock_step_s=clock_step_s)
        keys: dict[str, Key] = dict(first.keys)
        for key, kind in FAMILIES[first.family].values.items():
            seen = self.values[name][key]
            keys[key] = steady_depth([int(x) for x in seen]) if key == "depth" else kind(numbers.median_low(seen))
        return replace(first, keys=keys, time=found)

    def switches(self) -> list[tuple[int, int]]:
        """Changes of protocol: the largest size that does not wait, and the smallest that does."""
        found: set[tuple[int, int]] = set()
        for family in DELAYED:
            for locality in {p.locality for p in self.points.values() if p.family == family}:
                tried = [p for p in self.points.values() if p.family == family and p.locality == locality]
                waits = {p.bytes for p in tried if p.time.median_s > float(p.keys["delay_s"]) / 2}
                immediate = {p.bytes for p in tried} - waits
                if waits and immediate and max(immediate) < min(waits):
                    found.add((max(immediate), min(waits)))
        return sorted(found)

    def typical(self, family: str, size: int) -> float | None:
        """A time that later programs are set up with: the longest median over the locality classes.

        No longer than some smallest samples: medians of a busy machine may be 1000 times as long, and computing for
        a few of those between requests would cost minutes.
        """
        times = [p.time for p in self.points.values() if p.family == family and p.bytes == size]
        found = [min(time.median_s, _BUSY * time.minimum_s) for time in times]
        return max(found) if found else None
