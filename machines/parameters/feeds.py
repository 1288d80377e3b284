"""Which models a machine file can feed, and what is missing for the others, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from logpost.errors import InputError
from logpost.machines.localities import LOCALITIES
from logpost.machines.parameters.loggp import NEEDS, given, usable_ranges
from logpost.machines.schema import LocalityClass, Machine
from logpost.machines.topologies import Cartesian

MOST_SIDES = 3
"""Dimensions of the k-ary n-cube model: kx, ky and kz."""


def missing_loggp(machine: Machine, model: str) -> list[str]:
    """Parameters of a model of `NEEDS` that a locality class lacks in a range that the model uses.

    With the name of the class where another class has the parameter: the replay needs it of every class that has
    values at all.
    """
    tables = {name: usable_ranges(table, model) for name, table in _classes(machine).items()}
    found = (
        _lacking(p, {name: all(given(r, p) for r in ranges) for name, ranges in tables.items()}) for p in NEEDS[model]
    )
    return [gap for gap in found if gap]


def _classes(machine: Machine) -> dict[str, LocalityClass]:
    return {name: table for name in LOCALITIES if (table := machine.loggp.of(name)) is not None}


def _lacking(parameter: str, has: Mapping[str, bool]) -> str:
    """What is missing of a parameter that some classes have: all of it, or that of some; empty when all have it."""
    without = [name for name, able in has.items() if not able]
    if len(without) == len(has):
        return parameter
    return f"{parameter} of {' and '.join(without)}" if without else ""


def _loggp(model: str) -> Callable[[Machine], list[str]]:
    return lambda machine: missing_loggp(machine, model)


def _grid(machine: Machine) -> list[str]:
    """What mean distances per dimension need."""
    topology = machine.topology
    if topology is None:
        return ["topology"]
    if not isinstance(topology, Cartesian):
        return ["a mesh, torus or k-ary n-cube as topology"]
    return [] if topology.n_nodes > 1 else ["a topology of more than one node"]


def _cube(machine: Machine) -> list[str]:
    """The model takes the sides kx, ky, kz of one kind of network; it has no k_d for others."""
    gaps = _grid(machine)
    if gaps or not isinstance(machine.topology, Cartesian):
        return gaps
    wraps = machine.topology.wraps()
    if len(wraps) > MOST_SIDES:
        gaps.append(f"a topology of at most {MOST_SIDES} dimensions")
    if any(wraps) and not all(wraps):
        gaps.append("a topology with end-around links in all its dimensions or in none")
    return gaps


def _contention(machine: Machine) -> list[str]:
    """LoGPC's network: distances, two dimensions to turn between, and the time that a byte occupies a channel."""
    gaps = _grid(machine)
    topology = machine.topology
    if not gaps and isinstance(topology, Cartesian):
        waits = max(topology.k_d()) > 1.0
        if waits and sum(side > 1 for side in topology.shape()) == 1:
            gaps.append("a topology of two dimensions or more")
    if machine.logpc.channel_load == "printed" and machine.clock_hz is None:
        gaps.append("clock.processor")
    return gaps


def _logpc_short(machine: Machine) -> list[str]:
    gaps = missing_loggp(machine, "LoPC")
    # A channel's time per byte is that of long messages.
    link = _lacking("G", {name: table.range[-1].G is not None for name, table in _classes(machine).items()})
    gaps += [link] if link else []
    return gaps + _contention(machine)


def _logpc_long(machine: Machine) -> list[str]:
    gaps = missing_loggp(machine, "LogGP") + _contention(machine)
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
    gaps = [] if any(given(r, "L") for table in _classes(machine).values() for r in table.range) else ["L"]
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
    clock = "clock.processor"
    return [*gaps, clock] if machine.lacks_clock and model != "k-ary n-cube" and clock not in gaps else gaps


def require(machine: Machine, model: str) -> None:
    """Raise InputError naming machine, model and what is missing, unless the file feeds the model."""
    if model not in MODELS:
        raise InputError(f"unknown model {model!r}; machine files feed {', '.join(MODELS)}")
    gaps = gaps_of(machine, model)
    if gaps:
        able = [name for name, missing in feeds(machine).items() if not missing]
        instead = f"; it feeds {', '.join(able)}" if able else ""
        raise InputError(
            f"machine {machine.name} cannot feed {model}: its sources do not give {', '.join(gaps)}{instead}; "
            "add the values to a copy of the file, or choose another machine"
        )
