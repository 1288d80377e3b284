"""The unit of the table, the clock that makes cycles times, and values as the table shows them.

Equations are linear in time. Where every time is in cycles no clock is needed: cycles in give cycles out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.machines import LOCALITIES, Machine
from logpost.machines.schema import Source
from logpost.machines.values.quantity import Frequency
from logpost.machines.values.units import PS_PER_S, UNITS, to_base
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import Kind, Parameter
from logpost.replay.predict.table import Column

_SECONDS = ("ps", "ns", "us", "µs", "ms", "s")


@dataclass(frozen=True)
class Scale:
    """Unit of times in the table, and the clock of cycles: an ``assumed`` one where all times are in cycles."""

    unit: str
    clock_hz: float | None
    assumed: bool = False

    def of(self, kind: Kind) -> tuple[float, str]:
        """One unit of the table in base units (ps, ps/B), and its name."""
        if kind == "time":
            return to_base(1.0, self.unit, self.clock_hz), "cycles" if self.unit == "cycle" else self.unit
        if kind == "time_per_byte":
            factor = to_base(1.0, f"{self.unit}/B", self.clock_hz)
            return factor, "cycles/B" if self.unit == "cycle" else f"{self.unit}/B"
        return 1.0, "B" if kind == "bytes" else ""

    def show(self, parameter: Parameter, value: Any) -> str:
        """A value as the line above the table has it."""
        if isinstance(value, str):
            return value
        factor, unit = self.of(parameter.kind)
        return f"{float(value) / factor:.7g} {unit}".strip()

    def time_text(self, time: float) -> str:
        """A time of a message from a model, which does not know the unit."""
        factor, unit = self.of("time")
        return f"{time / factor:.4g} {unit}"

    def column(
        self, name: str, kind: Kind, meaning: str, value: Any, count: int, interval: tuple[Any, Any] | None = None
    ) -> Column:
        """``count`` rows of a value in base units, and of the ends of its interval."""
        factor, unit = self.of(kind)

        def rows(base: Any) -> NDArray[np.float64]:
            return np.broadcast_to(np.asarray(base, dtype=np.float64), (count,)) / factor

        ends = None if interval is None else (rows(interval[0]), rows(interval[1]))
        return Column(name=name, unit=unit, values=rows(value), meaning=meaning, interval=ends)


def scale(
    unit: str | None, written: Sequence[tuple[Parameter, str]], machine: Machine | None, clock_hz: float | None
) -> Scale:
    """The table's unit and clock, for the values as they are written.

    Without ``unit``: cycles when some time is given in cycles, or when none is given in seconds and the machine's own
    are in cycles; else us. A clock with a machine that has one is refused: its values would be in two.

    Raises ModelError also for cycles and seconds without a clock.
    """
    own = machine.clock_hz if machine is not None else None
    if machine is not None and own is not None and clock_hz is not None:
        raise ModelError(
            f"--clock {clock_hz / 1e6:g}MHz: machine {machine.name} has its own clock, {own / 1e6:g}MHz; leave "
            "--clock out, or change the clock in a copy of the file"
        )
    clock = clock_hz or own
    parts = [part for parameter, text in written for part in _times(parameter, text)]
    seconds = any("cycle" not in part and part.removesuffix("/B").endswith(_SECONDS) for part in parts)
    if unit is not None:
        name = {"cycles": "cycle", "µs": "us"}.get(unit, unit)
        if name not in UNITS or UNITS[name].dimension != "time":
            raise ModelError(f"unit {unit!r} is not a time unit; use one of ps, ns, us, ms, s, cycle")
    elif any("cycle" in part for part in parts) or (machine is not None and not seconds and _counts_cycles(machine)):
        name = "cycle"
    else:
        name = "us"
    if clock is not None or name != "cycle":
        return Scale(name, clock)
    if seconds:
        raise ModelError(
            "a table in cycles needs the processor clock next to times in seconds: give it, e.g. --clock 20MHz"
        )
    return Scale(name, PS_PER_S, assumed=True)


def with_clock(machine: Machine, clock_hz: float) -> Machine:
    """The machine with the clock that its file does not give."""
    key = "--clock"
    given = Source(kind="estimate", text="the processor clock that was given for the prediction")
    processor = Frequency(value=clock_hz, unit="Hz", source=key)
    return machine.model_copy(
        update={
            "clock": machine.clock.model_copy(update={"processor": processor}),
            "sources": {**machine.sources, key: given},
        }
    )


def _times(parameter: Parameter, text: str) -> list[str]:
    """The times and times per byte of a text (of a sweep: its ends or its list), as they are written."""
    if parameter.kind not in ("time", "time_per_byte"):
        return []
    return [part.strip() for part in re.split("[:,]", text)]


def _counts_cycles(machine: Machine) -> bool:
    """Whether the machine file gives its latencies in cycles, as the papers on Alewife do."""
    tables = [machine.loggp.of(locality) for locality in LOCALITIES]
    latencies = [r.L for table in tables if table is not None for r in table.range if r.L is not None]
    return bool(latencies) and all(latency.unit == "cycle" for latency in latencies)
