"""Which models a machine file can feed, and what is missing for the others, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from logpost.errors import InputError
from logpost.machines.loggp import NEEDS, given, usable_ranges
from logpost.machines.schema import LOCALITIES, Machine
from logpost.machines.topologies import Cartesian


def missing_loggp(machine: Machine, model: str) -> list[str]:
    """Parameters of a model of `NEEDS` that the best-described locality class lacks in a range that the model uses."""
    needs = NEEDS[model]
    classes = {name: table for name in LOCALITIES if (table := machine.loggp.of(name)) is not None}
    if not classes:
        return list(needs)
    gaps = {
        name: [p for p in needs if not all(given(r, p) for r in usable_ranges(table, model))]
        for name, table in classes.items()
    }
    return gaps[min(gaps, key=lambda name: (len(gaps[name]), -LOCALITIES.index(name)))]


def _loggp(model: str) -> Callable[[Machine], list[str]]:
    return lambda machine: missing_loggp(machine, model)


def _cube(machine: Machine) -> list[str]:
    if machine.topology is None:
        return ["topology"]
    return [] if isinstance(machine.topology, Cartesian) else ["a mesh, torus or k-ary n-cube as topology"]


def _logpc_short(machine: Machine) -> list[str]:
    return missing_loggp(machine, "LoPC") + _cube(machine)


def _logpc_long(machine: Machine) -> list[str]:
    gaps = missing_loggp(machine, "LogGP") + _cube(machine)
    if machine.logpc.G_m is None:
        gaps.append("logpc.G_m")
    if machine.logpc.header_before_interrupt is None:
        gaps.append("logpc.header_before_interrupt")
    return gaps


def _log3p(machine: Machine) -> list[str]:
    points = machine.log3p.point
    gaps = []
    for name in ("o_mw", "o_net"):
        if not any(getattr(p, name) is not None for p in points):
            gaps.append(f"log3p.{name}")
    if not any(p.l_mw is not None for p in points):
        gaps.append("log3p.l_mw")
    return gaps


def _overlap(machine: Machine) -> list[str]:
    classes = [table for name in LOCALITIES if (table := machine.loggp.of(name)) is not None]
    gaps = [] if any(given(r, "L") for table in classes for r in table.range) else ["L"]
    if machine.overlap.HD is None:
        gaps.append("overlap.HD")
    if not machine.overlap.o:
        gaps.append("overlap.o(S, b)")
    if not machine.overlap.G:
        gaps.append("overlap.G(P, S, pattern)")
    return gaps


def _sens(machine: Machine) -> list[str]:
    found = {"network.packet_latency": machine.network.packet_latency, "network.bisection": machine.network.bisection}
    return [name for name, value in found.items() if value is None]


MODELS: Mapping[str, Callable[[Machine], list[str]]] = MappingProxyType(
    {
        "LogP": _loggp("LogP"),
        "LogGP": _loggp("LogGP"),
        "LoPC": _loggp("LoPC"),
        "LoGPC short": _logpc_short,
        "LoGPC long": _logpc_long,
        "k-ary n-cube": _cube,
        "log3P": _log3p,
        "overlap": _overlap,
        "bisection and latency": _sens,
    }
)
"""Model -> what it misses in a machine file. "bisection and latency" are SENS's two axes."""


def feeds(machine: Machine) -> dict[str, list[str]]:
    """For each model the list of what the file does not give; empty: the file feeds it."""
    return {model: gaps_of(machine, model) for model in MODELS}


def gaps_of(machine: Machine, model: str) -> list[str]:
    """What the file does not give for one model. Times in cycles need the clock; distances alone do not."""
    gaps = MODELS[model](machine)
    return [*gaps, "clock.processor"] if machine.lacks_clock and model != "k-ary n-cube" else gaps


def require(machine: Machine, model: str) -> None:
    """Raise InputError naming machine, model and what is missing, unless the file feeds the model."""
    if model not in MODELS:
        raise InputError(f"{model!r} is no model of machine files; use one of {', '.join(MODELS)}")
    gaps = gaps_of(machine, model)
    if gaps:
        able = [name for name, missing in feeds(machine).items() if not missing]
        instead = f"; it feeds {', '.join(able)}" if able else ""
        raise InputError(
            f"machine {machine.name} cannot feed {model}: its sources do not give {', '.join(gaps)}{instead}; "
            "add the values to a copy of the file, or choose another machine"
        )
