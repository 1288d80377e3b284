"""One prediction as asked for on the command line: assignments, sweeps and a machine in, a table out.

Everything is computed in picoseconds and bytes; the table shows times in one unit. Several sweeps make a grid, the
last one varying fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.machines import LOCALITIES, Machine
from logpost.machines.units import UNITS, to_base
from logpost.replay.models.arrays import ModelError
from logpost.replay.models.interface import Kind, Model, Parameter
from logpost.replay.models.machine_values import machine_values
from logpost.replay.models.quantities import parse_assignments, parse_sweep, parse_value


@dataclass(frozen=True)
class Column:
    """A column of the table: name, unit as shown ("" for pure numbers), values, what it is."""

    name: str
    unit: str
    values: NDArray[np.float64]
    meaning: str


@dataclass(frozen=True)
class Prediction:
    """Swept parameters and results, row by row; ``used`` are the constant parameters with unit and origin."""

    model: Model
    used: tuple[tuple[str, str, str], ...]
    swept: tuple[Column, ...]
    results: tuple[Column, ...]

    def rows(self) -> list[dict[str, float]]:
        """One dict per row, names as keys."""
        columns = (*self.swept, *self.results)
        return [{c.name: float(c.values[i]) for c in columns} for i in range(len(columns[0].values))]


def predict(
    model: Model,
    assignments: Sequence[str] = (),
    sweeps: Sequence[str] = (),
    *,
    machine: Machine | None = None,
    locality: str = "other_node",
    unit: str | None = None,
    clock_hz: float | None = None,
) -> Prediction:
    """Evaluate ``model`` over the sweeps.

    ``unit`` is the time unit of numbers without a unit and of the table. Without it: cycles when some value is
    given in cycles, or when no time is given and the machine's own are in cycles; else us.

    Raises ModelError for bad assignments and for parameters that nobody gives.
    """
    pairs = parse_assignments(assignments, "--set")
    swept_pairs = parse_assignments(sweeps, "--sweep")
    texts = [text for _, text in (*pairs, *swept_pairs)]
    if unit is None and machine is not None and not _times(texts) and _counts_cycles(machine):
        unit = "cycle"
    shown = _unit(unit, texts)
    clock = clock_hz or (machine.clock_hz if machine else None)
    if clock is None and shown == "cycle":
        clock = None if _times(texts) else 1e12
    if clock is None and shown == "cycle":
        raise ModelError(
            "a table in cycles needs the processor clock beside times in seconds: give it, e.g. --clock 20MHz"
        )
    known = _parameters(model)
    given: dict[str, Any] = {}
    origin: dict[str, str] = {}
    axes: dict[str, NDArray[np.float64]] = {}
    for option, group in (("--set", pairs), ("--sweep", swept_pairs)):
        for name, text in group:
            if name not in known:
                raise ModelError(f"model {model.name} has no parameter {name!r}; it takes {', '.join(known)}")
            if name in given or name in axes:
                raise ModelError(f"{name} is given twice; keep one {option} {name}=...")
            if option == "--set":
                given[name] = parse_value(known[name], text, time_unit=shown, clock_hz=clock)
                origin[name] = "given"
            else:
                axes[name] = parse_sweep(known[name], text, time_unit=shown, clock_hz=clock)
    if axes:
        grids = np.meshgrid(*axes.values(), indexing="ij")
        given.update({name: grid.ravel() for name, grid in zip(axes, grids, strict=True)})
    if "o" in given and "o" not in {p.name for p in model.parameters}:
        both = given.pop("o")
        for name in ("o_s", "o_r"):
            given.setdefault(name, both)
            origin.setdefault(name, "given as o")
    if clock and "cycle" in known and "cycle" not in given:
        given["cycle"] = 1e12 / clock
    elif "cycle" in known and "cycle" not in given and given.get("units") == "printed":
        raise ModelError("units=printed counts a byte as a cycle: give the clock (--clock 20MHz) or --set cycle=50ns")
    if machine is not None:
        for name, value in machine_values(model, machine, given, locality=locality).items():
            if name in ("k_d", "n") and {"kx", "k_d"} & given.keys():
                continue
            if name in ("kx", "ky", "kz") and "k_d" in given:
                continue
            given[name] = value
            origin[name] = machine.name
    try:
        results = model.predict(**given)
    except ModelError as error:
        if machine is not None and " needs " in str(error):
            size = next((name for name in ("B", "S") if name in known and name not in given), None)
            if size is not None:
                raise ModelError(
                    f"model {model.name} needs {size}, the message size: give it, e.g. --set {size}=1KiB; a machine's "
                    "values depend on it"
                ) from None
            raise ModelError(f"{error} (machine {machine.name} does not give it)") from None
        factor, name = _scale("time", shown, clock)
        raise error.in_unit(lambda time: f"{time / factor:.4g} {name}") from None
    count = len(next(iter(axes.values()))) if len(axes) == 1 else int(np.prod([len(a) for a in axes.values()] or [1]))
    outputs = {output.name: output for output in model.outputs}
    return Prediction(
        model=model,
        used=tuple(
            (name, _show(known[name], value, shown, clock), origin.get(name, "given"))
            for name, value in given.items()
            if name not in axes and known[name].kind != "table" and not (isinstance(value, np.ndarray) and value.ndim)
        ),
        swept=tuple(
            _column(name, known[name].kind, np.asarray(given[name]), count, known[name].meaning, shown, clock)
            for name in axes
            if name in given
        ),
        results=tuple(
            _column(name, outputs[name].kind, np.asarray(value), count, outputs[name].meaning, shown, clock)
            for name, value in results.items()
        ),
    )


def _parameters(model: Model) -> dict[str, Parameter]:
    known = {parameter.name: parameter for parameter in model.parameters}
    if "o" not in known and {"o_s", "o_r"} <= known.keys():
        known["o"] = Parameter("o", "time", "both overheads")
    return known


def _unit(unit: str | None, texts: Sequence[str]) -> str:
    if unit is None:
        return "cycle" if any("cycle" in text for text in texts) else "us"
    name = {"cycles": "cycle", "µs": "us"}.get(unit, unit)
    if name not in UNITS or UNITS[name].dimension != "time":
        raise ModelError(f"unit {unit!r} is no time unit; use one of ps, ns, us, ms, s, cycle")
    return name


def _times(texts: Sequence[str]) -> list[str]:
    """The values that are given in seconds or their parts, not in cycles.

    Without any no clock is needed: the equations are linear in time, and cycles in give cycles out.
    """
    absolute = ("ps", "ns", "us", "µs", "ms", "s")
    return [text for text in texts if "cycle" not in text and text.removesuffix("/B").endswith(absolute)]


def _counts_cycles(machine: Machine) -> bool:
    """Whether the machine file gives its latencies in cycles, as the papers on Alewife do."""
    tables = [machine.loggp.of(locality) for locality in LOCALITIES]
    latencies = [r.L for table in tables if table is not None for r in table.range if r.L is not None]
    return bool(latencies) and all(latency.unit == "cycle" for latency in latencies)


def _scale(kind: Kind, shown: str, clock: float | None) -> tuple[float, str]:
    if kind == "time":
        return to_base(1.0, shown, clock), "cycles" if shown == "cycle" else shown
    if kind == "time_per_byte":
        return to_base(1.0, f"{shown}/B", clock), "cycles/B" if shown == "cycle" else f"{shown}/B"
    return 1.0, "B" if kind == "bytes" else ""


def _column(
    name: str, kind: Kind, value: NDArray[np.float64], count: int, meaning: str, shown: str, clock: float | None
) -> Column:
    factor, unit = _scale(kind, shown, clock)
    column = np.broadcast_to(np.asarray(value, dtype=np.float64), (count,)) / factor
    return Column(name=name, unit=unit, values=column, meaning=meaning)


def _show(parameter: Parameter, value: Any, shown: str, clock: float | None) -> str:
    if isinstance(value, str):
        return value
    factor, unit = _scale(parameter.kind, shown, clock)
    return f"{float(value) / factor:.7g} {unit}".strip()
