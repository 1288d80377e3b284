"""A parameter and the values that it takes, as `--sweep` and `--grid` are given them: L=1us:100us:11, G=x0.5:x8:5."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from logpost.errors import InputError
from logpost.replay.graph.changes import PARAMETERS, lacks_unit
from logpost.replay.graph.network_changes import SWEPT
from logpost.replay.models.interface import Kind, Parameter
from logpost.replay.predict.quantities import parse_sweep

BANDWIDTHS = ("bisection", "link_bandwidth")
"""The network is worse where they are smaller. They are read as their inverses, gaps per byte."""

MOST_POINTS = 4096
"""Of a sweep; each may take several replays for its interval."""

UNITS = {"time": "ps", "time_per_byte": "ps/B"}


@dataclass(frozen=True)
class Axis:
    """The values of one parameter."""

    name: str
    kind: Kind
    factor: bool
    """whether values are factors of the machine's"""
    values: tuple[float, ...]
    """factors, or picoseconds (per byte), or bytes"""

    @property
    def symbol(self) -> str:
        """The parameter without its locality."""
        return self.name.rpartition(".")[2]

    @property
    def worse_upwards(self) -> bool:
        """Whether a larger number is a worse network."""
        return self.symbol not in BANDWIDTHS

    @property
    def same_messages(self) -> bool:
        """Whether messages keep their protocols and their links whatever the value."""
        return self.symbol != "eager_limit" and self.symbol not in SWEPT

    @property
    def shown(self) -> list[str]:
        """The values for people."""
        return [self.show(value) for value in self.values]

    @property
    def unit(self) -> str:
        """Of `numbers`; empty: factors."""
        if self.factor:
            return ""
        return "GB/s" if self.symbol in BANDWIDTHS else {"time": "us", "time_per_byte": "ns/B"}.get(self.kind, "B")

    @property
    def numbers(self) -> list[float]:
        """The values in their unit."""
        return [self.number(value) for value in self.values]

    @property
    def settings(self) -> list[str]:
        """The setting that gives the parameter each value."""
        return [self.setting(value) for value in self.values]

    def setting(self, value: float) -> str:
        """The setting that gives the parameter this value."""
        if self.factor:
            return f"{self.name}=x{value:.17g}"
        return f"{self.name}={value:.17g}{UNITS.get(self.kind, 'B')}"

    def show(self, value: float) -> str:
        """A value for people."""
        return self.said(self.number(value))

    def said(self, number: float) -> str:
        """One of the numbers with its unit."""
        if self.factor:
            return f"x{number:g}"
        return f"{np.format_float_positional(number, trim='-') if self.unit == 'B' else f'{number:g}'} {self.unit}"

    def number(self, value: float) -> float:
        """A value in the axis's unit."""
        match self.unit:
            case "us":
                return value / 1e6
            case "ns/B":
                return value / 1e3
            case "GB/s":
                return 1e3 / value
        return value


def parse_axis(text: str, option: str) -> Axis:
    """NAME=FROM:TO:COUNT of `option`.

    Raises:
        InputError: it is not understood.
    """
    name, equals, span = (part.strip() for part in text.partition("="))
    known = {**{key: value[0] for key, value in PARAMETERS.items()}, **SWEPT}
    symbol = name.rpartition(".")[2]
    if not equals or symbol not in known:
        raise InputError(
            f"{option} {text}: write NAME=FROM:TO:COUNT, e.g. L=1us:100us:11 or L=x0.1:x10:11; "
            f"NAME is one of {', '.join(known)}"
        )
    parameter = known[symbol]
    if "x" in span:
        values = parse_sweep(replace(parameter, kind="ratio"), span.replace("x", ""), time_unit="ps", clock_hz=None)
    else:
        _refuse_without_unit(f"{option} {text}", span, parameter)
        values = parse_sweep(parameter, span, time_unit="ps", clock_hz=None)
    if len(values) > MOST_POINTS:
        raise InputError(f"{option} {text}: {len(values):,} points; {option} takes at most {MOST_POINTS:,}")
    return Axis(name, parameter.kind, "x" in span, tuple(values.tolist()))


def _refuse_without_unit(written: str, span: str, parameter: Parameter) -> None:
    if parameter.kind not in UNITS:
        return
    unit = "GB/s" if parameter.name in BANDWIDTHS else "us" if parameter.kind == "time" else "ns/B"
    for end in span.split(":")[:2]:
        if lacks_unit(end):
            raise InputError(f"{written}: {end} has no unit; write {end}{unit}, or x{end} for a factor")
