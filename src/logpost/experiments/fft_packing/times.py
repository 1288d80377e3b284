"""The parts of a transform's time: measured on this machine, by LogGP and by log3P."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from logpost.experiments.fft_packing.problem import DDT, ELEMENT, OPT, PACK, VERSIONS, Problem
from logpost.experiments.framework.context import Context
from logpost.experiments.support.launches import Program, Spread, layout_times, run_here
from logpost.experiments.support.this_machine import locality

if TYPE_CHECKING:
    from logpost.machines.schema import Machine

LOGGP, LOG3P, MEASURED = "LogGP", "log3P", "measured"
SOURCES = (LOGGP, LOG3P, MEASURED)


@dataclass(frozen=True)
class Times:
    """One version on one problem, seconds per transform: stacked parts by each model and measured."""

    version: str
    transforms: float
    """The 1-D FFTs: the same code in all versions."""
    packing: float
    """By the program."""
    contiguous: Mapping[str, float]
    """Source -> the exchange as if all data were contiguous."""
    strided: Mapping[str, float]
    """Source -> what strides add to it."""
    total: Spread
    """As the program times the whole; the parts above are the shortest of each."""

    @property
    def computation(self) -> float:
        """As LOG3P counts it: with the program's own packing."""
        return self.transforms + self.packing

    def of(self, source: str) -> float:
        """The whole by one of SOURCES."""
        return self.computation + self.contiguous[source] + self.strided[source]


def times_of(context: Context, machine: Machine, problem: Problem) -> dict[str, Times]:
    """Predict and measure all three versions of one problem."""
    loggp = _loggp(machine, problem)
    contiguous, strided = _log3p(context, problem)
    # Several: the first transform also waits for the memory to be mapped.
    iterations = context.size(max(2, 8 * 2**20 // (problem.plane * problem.nz)), 12)
    common = ("--grid", problem.grid, "--scale", str(problem.scale), "--iterations", str(iterations))
    programs = [Program("fft3d", (*common, "--version", version), problem.ranks) for version in VERSIONS]
    runs = run_here(context, f"{problem.label} on this machine", programs, context.size(3, 2))
    measured = dict(zip(VERSIONS, runs, strict=True))

    def least(version: str, name: str) -> float:
        return measured[version][name].least / iterations

    transforms = min(
        least(version, "total_s") - least(version, "pack_s") - least(version, "exchange_s") for version in VERSIONS
    )
    exchange = {version: least(version, "exchange_s") for version in VERSIONS}
    # MPI does not say how long it gathers: ddt's time beyond the best exchange of packed data.
    plain = min(exchange[PACK], exchange[OPT])
    gathering = max(exchange[DDT] - plain, 0.0)
    return {
        version: Times(
            version,
            transforms,
            least(version, "pack_s"),
            {
                LOGGP: loggp,
                LOG3P: contiguous,
                MEASURED: min(exchange[DDT], plain) if version == DDT else exchange[version],
            },
            {
                LOGGP: 0.0,
                LOG3P: strided if version == DDT else 0.0,
                MEASURED: gathering if version == DDT else 0.0,
            },
            Spread(least(version, "total_s"), measured[version]["total_s"].median / iterations),
        )
        for version in VERSIONS
    }


def _loggp(machine: Machine, problem: Problem) -> float:
    """Seconds of the P - 1 messages to others, contiguous."""
    from logpost.replay.models import loggp
    from logpost.replay.predict.machine_values import machine_values

    values = machine_values(loggp.MODEL, machine, {"B": float(problem.message)}, locality=locality(machine))
    picoseconds = sum(float(np.asarray(values[name])) for name in ("o_s", "L", "o_r"))
    picoseconds += (problem.message - 1) * float(np.asarray(values["G"]))
    return (problem.ranks - 1) * picoseconds * 1e-12


def _log3p(context: Context, problem: Problem) -> tuple[float, float]:
    """Contiguous and strided seconds of a transpose, from messages to oneself and half round trips.

    l_mw = T00(s,d) - T00(s) is that of the program itself on one rank, where its whole transpose is a message to
    itself with the same values the same nz apart; it grows with the bytes.
    """
    s = problem.message
    launches = context.size(3, 1)
    arguments = ["--bytes", str(s), "--forms", "contiguous", "--batch", "4"]
    arguments += ["--budget-s", str(context.size(2.0, 0.5))]
    found = layout_times(context, f"contiguous-{s}", arguments, launches)
    half = {transfer: seconds for (transfer, *_), seconds in found.items()}
    iterations = context.size(2, 8)
    common = ("--grid", problem.grid, "--scale", str(problem.scale), "--iterations", str(iterations))
    programs = [Program("fft3d", (*common, "--version", version), 1) for version in (DDT, PACK)]
    described, packed = (
        one["exchange_s"].least / iterations
        for one in run_here(context, f"{problem.label}: messages to oneself", programs, launches)
    )
    return exchange_log3p(problem, half, described, packed)


def exchange_log3p(problem: Problem, half: Mapping[str, float], described: float, packed: float) -> tuple[float, float]:
    """Contiguous seconds of a transpose, a message to itself and P - 1 to others, and what strides add, P l_mw.

    Args:
        problem: the grid and its ranks.
        half: self (T00), remote (T01) and memory_copy (T_mem) of contiguous data of a message's size, seconds.
        described, packed: the whole transpose on one rank by datatypes and packed, seconds; their difference is of all
            bytes, a message has its share of them.
    """
    from logpost.replay.models import log3p

    share = problem.message / (problem.plane * problem.nz * ELEMENT)
    T00, T_mem = half["self"], min(half["memory_copy"], half["self"])
    found = log3p.extract(
        T00=T00,
        T01=max(half["remote"], T00 - T_mem),
        T00_strided=T00 + max(described - packed, 0.0) * share,
        T_mem=T_mem,
    )
    contiguous = (problem.ranks - 1) * (found.o_mw + found.o_net) + T00
    return float(contiguous), float(problem.ranks * found.l_mw)
