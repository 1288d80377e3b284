"""Predicted times from a calibration's samples, under LogGP and under log3P in two ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from tests.benchmarks.calibration.truth import CONTIGUOUS, Case

from logpost.machines import Machine
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.samples import DELAYED, Sample, Samples
from logpost.replay.cost.arrays import ModelError
from logpost.replay.cost.tables import Line, Surface
from logpost.replay.models.interface import Model
from logpost.replay.models.registry import model
from logpost.replay.predict.machine_values import machine_values

Prediction: TypeAlias = "Callable[[Case], float | None]"
"""Time in seconds; None where the machine file lacks a value."""

COLUMNS = ("LogGP", "log3P", "log3P, l_mw of T00")
LOG3P = 1
"""The column that the bars are for."""
_MODELS = {
    "ping": ("loggp", "log3p"),
    "linear": ("broadcast-loggp", "broadcast-log3p"),
    "tree": ("broadcast-loggp", "broadcast-log3p"),
}
_OUTPUT = {"ping": "T", "linear": "linear", "tree": "tree"}


def predictions(samples: Samples) -> tuple[Prediction, ...]:
    """One for each of COLUMNS: LogGP and log3P as in the machine file, and log3P from messages to oneself."""
    machine = calibration(samples, name="bench").machine
    near = samples.localities()[-1]
    return _from_file(machine, near, 0), _from_file(machine, near, 1), _from_self(samples)


def of_pass(samples: Samples, number: int) -> Samples:
    """What one pass alone measured (medians); of points that it did not visit, what all did.

    Points that were added after the first pass have been visited by the last ones.
    """
    passes = max(len(point.time.rounds_s) for point in samples.points)

    def only(point: Sample) -> Sample:
        rounds = point.time.rounds_s
        late = 0 if point.family in DELAYED else passes - len(rounds)
        visited = late <= number < late + len(rounds)
        time = rounds[number - late] if visited else point.time.median_s
        least = min(point.time.minimum_s, time)
        return replace(point, time=replace(point.time, median_s=time, minimum_s=least, rounds_s=(time,)))

    return replace(samples, points=tuple(only(point) for point in samples.points))


def least(samples: Samples) -> Samples:
    """The smallest sample of each point in place of its median."""
    # Whether a send waits for its receive shows in delays, not in shortest times.
    points = (p if p.family in DELAYED else replace(p, time=p.time.least()) for p in samples.points)
    return replace(samples, points=tuple(points))


def _from_file(machine: Machine, locality: str, which: int) -> Prediction:
    """LogGP (0) or log3P (1) with the machine file's values."""

    def predict(case: Case) -> float | None:
        chosen: Model = model(_MODELS[case.kind][which])
        stride = case.stride if case.stride > CONTIGUOUS else 0
        given: dict[str, Any] = {"B": case.size, "stride": stride, "P": case.ranks}
        given = {name: value for name, value in given.items() if name in {p.name for p in chosen.parameters}}
        try:
            found = chosen.predict(**given, **machine_values(chosen, machine, given, locality=locality))
        except ModelError:
            return None
        return float(np.asarray(found[_OUTPUT[case.kind]])) * 1e-12

    return predict


def _from_self(samples: Samples) -> Prediction:
    """log3P with l_mw from messages to oneself."""
    layouts = {(p["transfer"], p["form"], p.bytes, p["stride_bytes"]): p.time.median_s for p in samples.of("layout")}
    contiguous: list[tuple[float, float, float]] = []
    strided: list[tuple[float, float, float]] = []
    for (transfer, form, size, stride), time in layouts.items():
        if transfer == "remote" and form == "contiguous":
            initiation = max(layouts["self", form, size, stride] - layouts["memory_copy", form, size, stride], 0.0)
            contiguous.append((float(size), initiation, max(time - initiation, 0.0)))
        elif transfer == "self" and form == "datatype":
            strided.append((float(size), float(stride), max(time - layouts["self", "contiguous", size, 8], 0.0)))
    o_mw = Line.through(((size, o) for size, o, _ in contiguous), what="o_mw")
    o_net = Line.through(((size, net) for size, _, net in contiguous), what="o_net")
    l_mw = Surface.through(strided, what="l_mw") if strided else None

    def predict(case: Case) -> float:
        gaps = case.stride > CONTIGUOUS
        if gaps and l_mw is None:
            raise ModelError("the samples have no strided message to oneself; calibrate with --only layout")
        parameters = {
            "o_mw": o_mw(case.size),
            "l_mw": l_mw(case.size, case.stride) if gaps and l_mw is not None else 0.0,
            "o_net": o_net(case.size),
        }
        chosen = model(_MODELS[case.kind][1])
        given = {**parameters, "P": case.ranks} if case.kind != "ping" else parameters
        return float(np.asarray(chosen.predict(**given)[_OUTPUT[case.kind]]))

    return predict
