"""Estimate LogGP parameters from the trace itself when no machine is given.

A message that found its receiver waiting took at least o_s + L + (B - 1) G + o_r; every disturbance only makes it
longer. So the parameters are read off the *lower envelope* of the measured times over the message size B, per locality
class: the line below (nearly) all observations that lies closest to them at their mean size. Overheads come the same
way from calls that cannot have waited: a send that was over before its receive was posted, a receive whose message had
long left its sender.

Such an estimate does not show an idle machine: if every message of the trace was disturbed, so is the estimate.
The result's label, sample counts and residuals say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from logpost.machines import LOCALITIES, Quality, RangeValues, ReplayParameters, assemble, estimated_parameters
from logpost.machines.parameters import UNLIMITED

Times = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.uint64]
Samples = Mapping[str, tuple[Sizes, Times]]

LOW_QUANTILE = 0.05
"""The envelope goes through this quantile of each size, not the minimum: one wrong clock must not decide it."""
GROUPS = 8
"""Number of interleaved parts of the samples; the spread of their estimates is the uncertainty."""
MIN_LATE = 5
"""Sends of a size that must end after their receive was posted before the size counts as rendezvous."""


@dataclass(frozen=True)
class Line:
    """value = constant + slope * bytes, in ps and ps/B; n observations lie behind it."""

    constant: float = 0.0
    slope: float = 0.0
    n: int = 0

    def at(self, size: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The line's value in ps at `size` bytes."""
        return self.constant + self.slope * np.asarray(size, dtype=np.float64)


def lower_envelope(sizes: Sizes, times: Times) -> Line:
    """The supporting line from below at the mean size, with neither constant nor slope negative.

    Args:
        sizes: message sizes in bytes, shape (n,).
        times: durations in ps, shape (n,).
    """
    if sizes.size == 0:
        return Line()
    bins = np.unique(sizes) if np.unique(sizes).size <= 64 else np.quantile(sizes, np.linspace(0, 1, 65))
    place = np.clip(np.searchsorted(bins, sizes, side="right") - 1, 0, len(bins) - 1)
    x, y, weight = [], [], []
    for b in np.unique(place):
        mine = place == b
        x.append(float(np.mean(sizes[mine])))
        y.append(float(np.quantile(times[mine], LOW_QUANTILE, method="lower")))
        weight.append(int(mine.sum()))
    mean = float(np.average(x, weights=weight))
    hull = _lower_hull(list(zip(x, y, strict=True)))
    if len(hull) == 1:
        return Line(constant=max(0.0, hull[0][1]), n=int(sizes.size))
    edge = next((i for i in range(len(hull) - 1) if hull[i + 1][0] >= mean), len(hull) - 2)
    (x0, y0), (x1, y1) = hull[edge], hull[edge + 1]
    slope = (y1 - y0) / (x1 - x0)
    constant = y0 - slope * x0
    if slope < 0:
        slope, constant = 0.0, min(y)
    elif constant < 0:
        # Below zero at 0 B: the steepest line through the origin that still lies below all points.
        constant, slope = 0.0, min(b / a for a, b in hull if a > 0)
    return Line(constant=max(0.0, constant), slope=max(0.0, slope), n=int(sizes.size))


def _lower_hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Lower convex hull of points sorted by x (Andrew's monotone chain)."""
    hull: list[tuple[float, float]] = []
    for point in points:
        while len(hull) >= 2:
            (x0, y0), (x1, y1) = hull[-2], hull[-1]
            if (x1 - x0) * (point[1] - y0) - (y1 - y0) * (point[0] - x0) <= 0:
                hull.pop()
            else:
                break
        hull.append(point)
    return hull


def eager_limit(early: tuple[Sizes, Times], late: tuple[Sizes, Times]) -> int | None:
    """The largest size in bytes that the trace proves to be eager; None where nothing above it looks like rendezvous.

    A send that completed before its receive was posted is proof of eager. Sends that had to wait until their receive
    was posted are evidence of rendezvous, if they are larger than every proven one and there are a few of them.
    """
    proven = int(early[0].max()) if early[0].size else 0
    above = late[0][late[0] > proven]
    return proven if above.size >= MIN_LATE else None


@dataclass(frozen=True)
class ClassFit:
    """The estimate of one locality class."""

    ranges: tuple[RangeValues, ...]
    limit: int | None
    n: int
    residual_ps: float
    notes: tuple[str, ...]


def fit_class(samples: Samples) -> ClassFit | None:
    """Estimate one class; None where the trace has no samples of it."""
    limit = eager_limit(samples["early_complete"], samples["late_complete"])
    sizes, times = samples["end_to_end"]
    eager = sizes <= (UNLIMITED if limit is None else limit)
    o_s = lower_envelope(*samples["send_call"])
    o_r = lower_envelope(*samples["receive_call"])
    whole = lower_envelope(sizes[eager], times[eager])
    notes: list[str] = []
    if not any((o_s.n, o_r.n, sizes.size)):
        return None
    if o_s.n == 0:
        notes.append("no send completed before its receive was posted: o_s is set to 0 and is part of L")
    if o_r.n == 0:
        notes.append("no message was waiting for its receive: o_r is set to 0 and is part of L")
    if whole.n == 0:
        notes.append("no message up to the eager limit found its receiver waiting: L and G are set to 0")
    overhead = o_s.constant + o_r.constant
    if whole.n and overhead > whole.constant:
        scale = whole.constant / overhead
        o_s = Line(o_s.constant * scale, o_s.slope, o_s.n)
        o_r = Line(o_r.constant * scale, o_r.slope, o_r.n)
        notes.append("send and receive overlap: o_s and o_r are scaled to the shortest end-to-end time, L is 0")
    if whole.n and o_s.slope + o_r.slope > whole.slope:
        scale = whole.slope / (o_s.slope + o_r.slope)
        o_s = Line(o_s.constant, o_s.slope * scale, o_s.n)
        o_r = Line(o_r.constant, o_r.slope * scale, o_r.n)
    gap = max(0.0, whole.slope - o_s.slope - o_r.slope)
    latency = max(0.0, whole.constant + gap - o_s.constant - o_r.constant)
    ranges = [
        RangeValues(
            max_bytes=UNLIMITED if limit is None else limit,
            L_ps=latency,
            o_s_ps=o_s.constant,
            o_r_ps=o_r.constant,
            G_ps_per_byte=gap,
            o_s_ps_per_byte=o_s.slope,
            o_r_ps_per_byte=o_r.slope,
        )
    ]
    model = [whole.at(sizes[eager])]
    measured = [times[eager].astype(np.float64)]
    if limit is not None:
        large = lower_envelope(sizes[~eager], times[~eager])
        # Request, clear-to-send and payload each cross the network once; each control message costs an overhead.
        control = 2 * o_s.constant
        crossing = (large.constant + large.slope - o_s.constant - o_r.constant - control) / 3 if large.n else latency
        ranges.append(
            RangeValues(
                max_bytes=UNLIMITED,
                L_ps=max(0.0, crossing),
                o_s_ps=o_s.constant,
                o_r_ps=o_r.constant,
                G_ps_per_byte=large.slope if large.n else gap + o_s.slope + o_r.slope,
            )
        )
        if not large.n:
            notes.append("no message above the eager limit found its receiver waiting: its L and G are the eager ones")
        model.append(large.at(sizes[~eager]))
        measured.append(times[~eager].astype(np.float64))
    left = np.concatenate(measured) - np.concatenate(model)
    return ClassFit(
        ranges=tuple(ranges),
        limit=limit,
        n=max(o_s.n, o_r.n, int(sizes.size)),
        residual_ps=float(np.sqrt(np.mean(left**2))) if left.size else 0.0,
        notes=tuple(notes),
    )


def _with_errors(samples: Samples, fit: ClassFit) -> tuple[RangeValues, ...]:
    """The ranges with half widths: the spread of estimates from interleaved parts of the samples."""
    parts = []
    for group in range(GROUPS):
        part = {
            name: (column[0][group::GROUPS], column[1][group::GROUPS])
            for name, column in samples.items()
            if isinstance(column, tuple)
        }
        # Every part is judged by the whole sample's eager limit, or its ranges could not be compared.
        other = fit_class(
            {**part, "early_complete": samples["early_complete"], "late_complete": samples["late_complete"]}
        )
        if other is not None and len(other.ranges) == len(fit.ranges):
            parts.append(other.ranges)
    names: dict[str, Callable[[RangeValues], float]] = {
        "L": lambda r: r.L_ps,
        "o_s": lambda r: r.o_s_ps,
        "o_s_per_byte": lambda r: r.o_s_ps_per_byte,
        "o_r": lambda r: r.o_r_ps,
        "o_r_per_byte": lambda r: r.o_r_ps_per_byte,
        "G": lambda r: r.G_ps_per_byte,
    }
    result = []
    for i, values in enumerate(fit.ranges):
        errors = {}
        if len(parts) >= GROUPS // 2:
            for name, get in names.items():
                spread = [get(other[i]) for other in parts]
                errors[name] = float(np.quantile(spread, 0.9) - np.quantile(spread, 0.1)) / 2
        result.append(RangeValues(**{**_fields(values), "errors": errors}))
    return tuple(result)


def _zeros(ranges: Sequence[RangeValues], fit: ClassFit) -> list[str]:
    """Notes on parameters that are 0 in every part of the samples: the envelope leaves nothing for them."""
    letters = {"o_s": "o_s_ps", "o_r": "o_r_ps", "L": "L_ps", "G": "G_ps_per_byte"}
    said = " ".join(fit.notes)
    return [
        f"{letter} is not identifiable from this trace: its 0 is what the envelope leaves, not a measurement"
        for letter, column in letters.items()
        if f"{letter} is set to 0" not in said
        and all(getattr(values, column) == 0 and not values.errors.get(letter) for values in ranges)
    ]


def _fields(values: RangeValues) -> dict[str, Any]:
    return {name: getattr(values, name) for name in values.__dataclass_fields__}


def estimate(trace: str, samples: Sequence[Mapping[str, Any]]) -> tuple[ReplayParameters, list[str]]:
    """Estimate every locality class that occurs in the trace, and note what is not identifiable.

    Args:
        trace: name for the machine.
        samples: one mapping per class of `LOCALITIES`, as `Trace.samples` gives them.
    """
    classes: dict[str, Sequence[RangeValues]] = {}
    limits: dict[str, int] = {}
    quality: dict[str, Quality] = {}
    notes: list[str] = []
    for name, row in zip(LOCALITIES, samples, strict=True):
        fit = fit_class(row) if row["messages"] else None
        if row["messages"] and fit is None:
            notes.append(f"{name}: {row['messages']} messages, but none identifies a parameter")
        if fit is None:
            continue
        classes[name] = _with_errors({k: v for k, v in row.items() if k != "messages"}, fit)
        notes += [f"{name}: {note}" for note in _zeros(classes[name], fit)]
        if fit.limit is not None:
            limits[name] = fit.limit
        quality[name] = Quality(n=fit.n, residual_ps=fit.residual_ps)
        notes += [f"{name}: {note}" for note in fit.notes]
    if not classes:
        zero = RangeValues(max_bytes=UNLIMITED, L_ps=0.0, o_s_ps=0.0, o_r_ps=0.0)
        notes.append("the trace identifies no parameter of its machine: model values are 0, all transport is residual")
        return assemble(
            trace, "no message to estimate from", {"other_node": [zero]}, eager_limits={}, nics_per_node=1
        ), notes
    return estimated_parameters(trace, classes, quality, eager_limits=limits), notes
