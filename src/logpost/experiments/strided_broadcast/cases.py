"""Every broadcast of the experiment: predicted from this machine's calibration, then measured."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logpost.experiments.framework.context import Context
from logpost.experiments.support.launches import Program, Spread, run_here
from logpost.experiments.support.this_machine import SIZES, locality

if TYPE_CHECKING:
    from logpost.machines.schema import Machine

CONTIGUOUS = 8
"""Bytes of a double (IEEE 754): Fig. 10's elements, next to each other."""
STRIDES = (CONTIGUOUS, 128, 512)
"""Fig. 10: bytes from double to double."""
ALGORITHMS = {"linear": "linear", "tree": "binomial"}
MODELS = ("LogGP", "log3P")


@dataclass(frozen=True)
class Case:
    """One broadcast: predicted and measured, us."""

    algorithm: str
    ranks: int
    size: int
    stride: int
    predicted: dict[str, float]
    measured: Spread

    @property
    def strided(self) -> bool:
        """Its data are not contiguous."""
        return self.stride > CONTIGUOUS

    def error(self, model: str) -> float:
        """Of the prediction, relative to what was measured."""
        return self.predicted[model] / self.measured.least - 1.0


def measured_cases(context: Context, machine: Machine, cores: int) -> list[Case]:
    """Every algorithm, number of ranks, size and stride, on so many cores."""
    planned = [
        (algorithm, ranks, size, stride)
        for algorithm in ALGORITHMS
        for ranks in context.size((2, 4, 8), (2, 4))
        for size in context.size(SIZES, (1024, 16384))
        for stride in context.size(STRIDES, (CONTIGUOUS, 512))
        # With two ranks both algorithms are one message.
        if algorithm == "linear" or ranks > 2
    ]
    predictions = [predict(machine, *case) for case in planned]
    repeated = ("--cache", "warm", "--repeat", str(context.size(150, 100)))
    programs = [
        Program(
            "broadcast",
            ("--algorithm", ALGORITHMS[name], "--bytes", str(size), "--stride", str(stride), *repeated),
            ranks,
        )
        for name, ranks, size, stride in planned
    ]
    # Where ranks share cores more launches show nothing more.
    alone = [one for one in programs if one.ranks <= cores]
    crowded = [one for one in programs if one.ranks > cores]
    runs = run_here(context, "broadcasts, a core for each rank", alone, context.size(6, 3))
    runs += run_here(context, "broadcasts, more ranks than cores", crowded, 1)
    found = dict(zip([*alone, *crowded], runs, strict=True))
    return [
        Case(*case, predicted, found[program]["mean_us"])
        for case, predicted, program in zip(planned, predictions, programs, strict=True)
    ]


def predict(machine: Machine, algorithm: str, ranks: int, size: int, stride: int) -> dict[str, float]:
    """us. LogGP knows no strides; contiguous data has stride 0 in log3P's tables."""
    from logpost.replay.models import broadcast
    from logpost.replay.predict.machine_values import machine_values

    chosen = {"P": float(ranks), "B": float(size), "stride": 0.0 if stride == CONTIGUOUS else float(stride)}
    found = {}
    for name, model in (("LogGP", broadcast.LOGGP), ("log3P", broadcast.LOG3P)):
        given = {p.name: chosen[p.name] for p in model.parameters if p.name in chosen}
        picoseconds = model.predict(**given, **machine_values(model, machine, given, locality=locality(machine)))
        found[name] = float(np.asarray(picoseconds[algorithm])) * 1e-6
    return found


def mean_error(cases: Sequence[Case], model: str) -> float:
    """Of one of MODELS, per cent; of one case or more."""
    return 100.0 * statistics.fmean(abs(case.error(model)) for case in cases)
