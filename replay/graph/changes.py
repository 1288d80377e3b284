"""What is changed: settings as people write them, applied to a machine's values.

    L=5us   G=10GB/s   o=x0.5   other_node.L=x2   other_node.L=+450us   eager_limit=64KiB
    progress=asynchronous   layout=contiguous   network=ideal   overlap=perfect

xF multiplies what the machine states, range by range; +V and -V move it, down to 0 (a gap per byte: +9ns/B); a value
replaces it in all ranges. Without a locality in front, all localities change. o is o_s and o_r. A gap per byte may be
given as a bandwidth; G=x2 is half the bandwidth.

A change's error is that of what it adds to the recorded times, new - old: of p F, |F - 1| times the error of p; of
p + V, none, but where p ends at 0, the error of p; of a value that replaces p, the error of p; from one machine to
another, both errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.errors import InputError, suggestion
from logpost.machines import LOCALITIES, ReplayParameters
from logpost.machines.parameters import COLUMNS, UNKNOWN_LIMIT, BeyondLogGP
from logpost.machines.parameters import PARAMETERS as COLUMN_OF
from logpost.replay._native import Surroundings
from logpost.replay.graph.setting import factor_of, parted
from logpost.replay.models.interface import Parameter
from logpost.replay.predict.quantities import parse_value

Factors = NDArray[np.float64]

PARAMETERS: Mapping[str, tuple[Parameter, tuple[str, ...]]] = MappingProxyType(
    {
        "L": (Parameter("L", "time", "latency"), ("L",)),
        "o": (Parameter("o", "time", "overhead at both ends"), ("o_s", "o_r")),
        "o_s": (Parameter("o_s", "time", "overhead of sending"), ("o_s",)),
        "o_r": (Parameter("o_r", "time", "overhead of receiving"), ("o_r",)),
        "g": (Parameter("g", "time", "gap between messages"), ("g",)),
        "G": (Parameter("G", "time_per_byte", "gap per byte"), ("G",)),
        "eager_limit": (Parameter("eager_limit", "bytes", "largest message without a handshake"), ()),
    }
)
"""What a setting may name, and the machine's values that it changes."""

SWITCHES: Mapping[str, str] = MappingProxyType(
    {"progress": "asynchronous", "layout": "contiguous", "network": "ideal", "overlap": "perfect"}
)
MOST_PS = 10**15
"""The longest time that a message's step may take, and a byte: sums over millions of messages hold it."""
PER_BYTE = {"o_s": "o_s_per_byte", "o_r": "o_r_per_byte"}


@dataclass(frozen=True)
class Scenario:
    """One replay: the machine, and factors of the time between calls, by location and by callpath (None: 1)."""

    machine: ReplayParameters
    asynchronous_progress: bool = False
    library: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """what the library profile states of the program as it was recorded; what it does not state, the trace decides"""
    overlapped: bool = False
    """computation behind a Wait for a nonblocking exchange is moved before it"""
    compute: float = 1.0
    by_location: Factors | None = None
    by_callpath: Factors | None = None
    elsewhere: Surroundings | None = None
    """where the program runs, if not where it was recorded"""
    errors: Mapping[str, Factors] = field(default_factory=lambda: MappingProxyType({}))
    """by column of the machine: half width of what the change adds to a message's time"""
    follows: Mapping[str, Factors] | None = field(default_factory=lambda: MappingProxyType({}))
    """by column of the machine: by how much the planned value moves with the recorded one (not there: as much). None:
    the planned machine is another one"""


def changed(scenario: Scenario, settings: Sequence[str]) -> Scenario:
    """The scenario with each setting applied, in their order.

    Raises:
        InputError: a setting is not understood, or the machine cannot have it.
    """
    for text in settings:
        name, value = parted(text)
        scenario = _switched(scenario, name, value) if name in SWITCHES else _set(scenario, name, value)
    return scenario


def is_nothing(scenario: Scenario, name: str) -> bool:
    """Whether a parameter, `name` as in a setting, is 0 wherever the scenario's machine has it."""
    where, _, symbol = name.rpartition(".")
    machine = scenario.machine
    mine = np.isin(machine.class_id, [LOCALITIES.index(one) for one in ([where] if where else LOCALITIES)])
    parameters = [name for one in PARAMETERS.get(symbol, (None, ()))[1] for name in (one, PER_BYTE.get(one, one))]
    return bool(parameters) and not any(getattr(machine, COLUMN_OF[one])[mine].any() for one in parameters)


def on_machine(scenario: Scenario, machine: ReplayParameters) -> Scenario:
    """The scenario on another machine."""
    old, new = scenario.machine, machine
    aligned = old.same_ranges(new)
    errors = {}
    for column in COLUMNS:
        own = _known(new.errors[column])
        # Ranges that do not match: the largest error that the old machine states stands for all.
        other = _known(old.errors[column])
        errors[column] = np.hypot(own, other if aligned else other.max(initial=0.0))
    return replace(scenario, machine=machine, errors=MappingProxyType(errors), follows=None)


def _known(errors: NDArray[Any]) -> Factors:
    return np.nan_to_num(np.asarray(errors, dtype=np.float64), nan=0.0)


def _switched(scenario: Scenario, name: str, value: str) -> Scenario:
    if value != SWITCHES[name]:
        raise InputError(f"--set {name}={value}: the only {name} to set is {SWITCHES[name]}")
    machine = scenario.machine
    if name == "progress":
        return replace(scenario, asynchronous_progress=True)
    if name == "overlap":
        return replace(scenario, overlapped=True, asynchronous_progress=True)
    if name == "layout":
        return replace(scenario, machine=replace(machine, log3p=None))
    for parameter in COLUMN_OF:
        machine = machine.with_value(parameter, 0.0)
    errors = {column: _known(scenario.machine.errors[column]) for column in COLUMNS}
    ideal = replace(machine, log3p=None, beyond_loggp=BeyondLogGP())
    nowhere = MappingProxyType({column: np.zeros(len(machine.class_id)) for column in COLUMNS})
    follows = None if scenario.follows is None else nowhere
    return replace(scenario, machine=ideal, errors=MappingProxyType({**scenario.errors, **errors}), follows=follows)


def _set(scenario: Scenario, name: str, value: str) -> Scenario:
    where, _, symbol = name.rpartition(".")
    if symbol not in PARAMETERS:
        known = [*PARAMETERS, *SWITCHES]
        raise InputError(
            f"--set {name}={value}: {symbol} cannot be set; use {', '.join(known)}{suggestion(symbol, known)}"
        )
    if where and where not in LOCALITIES:
        raise InputError(f"--set {name}={value}: {where} is no locality; use {', '.join(LOCALITIES)}")
    localities = (where,) if where else LOCALITIES
    parameter, changes = PARAMETERS[symbol]
    if symbol == "eager_limit":
        return replace(scenario, machine=_limited(scenario.machine, localities, parameter, value))
    errors, follows = dict(scenario.errors), None if scenario.follows is None else dict(scenario.follows)
    machine = scenario.machine
    mine = np.isin(machine.class_id, [LOCALITIES.index(one) for one in localities])
    for one in changes:
        for parameter_name in (one, *((PER_BYTE[one],) if one in PER_BYTE else ())):
            column = COLUMN_OF[parameter_name]
            stated = _known(scenario.machine.errors[column])
            slope = 0.0
            if value.startswith("x"):
                slope = factor = factor_of(name, value)
                _refuse_too_long(name, value, getattr(machine, column)[mine] * factor)
                machine = _scaled(machine, column, np.where(mine, factor, 1.0))
                error = stated * abs(factor - 1.0)
            elif value[0] in "+-":
                by = 0.0 if parameter_name in PER_BYTE.values() else _moved_by(parameter, name, value)
                before, slope = getattr(machine, column), 1.0
                _refuse_too_long(name, value, before[mine] + by)
                machine = _moved(machine, column, np.where(mine, by, 0.0))
                error = np.where(before + by < 0.0, stated, 0.0)
            else:
                given = parse_value(parameter, value, time_unit="ps", clock_hz=None)
                assert isinstance(given, float)
                if not math.isfinite(given):
                    raise InputError(f"--set {name}={value}: give a finite value")
                _refuse_without_unit(name, value)
                _refuse_too_long(name, value, np.array([given]))
                machine = machine.with_value(parameter_name, given if parameter_name == one else 0.0, localities)
                error = stated
            errors[column] = np.where(mine, error, _known(errors.get(column, np.zeros(mine.shape))))
            if follows is not None:
                follows[column] = np.where(mine, slope, 1.0) * follows.get(column, np.ones(mine.shape))
    moved = None if follows is None else MappingProxyType(follows)
    return replace(scenario, machine=machine, errors=MappingProxyType(errors), follows=moved)


def lacks_unit(text: str) -> bool:
    """Whether a time, or a time per byte, is written without a unit; 0 needs none."""
    try:
        return float(text) != 0.0
    except ValueError:
        return False


def _refuse_without_unit(name: str, value: str) -> None:
    if lacks_unit(value):
        unit = "ns/B" if name.rpartition(".")[2] == "G" else "us"
        raise InputError(f"--set {name}={value}: give a unit, e.g. {name}={value}{unit}")


def _refuse_too_long(name: str, value: str, values_ps: NDArray[Any]) -> None:
    if values_ps.size and values_ps.max() > MOST_PS:
        raise InputError(f"--set {name}={value}: that is over {MOST_PS / 1e12:g} s, too long for sums over messages")


def _moved_by(parameter: Parameter, name: str, value: str) -> float:
    given = math.nan if value[1:2] in ("+", "-") else parse_value(parameter, value[1:], time_unit="ps", clock_hz=None)
    if not isinstance(given, float) or not math.isfinite(given):
        raise InputError(f"--set {name}={value}: write how much more or less as +450us or -5us")
    _refuse_without_unit(name, value)
    return -given if value[0] == "-" else given


def _moved(machine: ReplayParameters, column: str, by: Factors) -> ReplayParameters:
    values = getattr(machine, column)
    moved = np.maximum(values + by, 0.0)
    columns: dict[str, Any] = {column: (np.rint(moved) if values.dtype.kind == "i" else moved).astype(values.dtype)}
    return replace(machine, **columns)


def _scaled(machine: ReplayParameters, column: str, factors: Factors) -> ReplayParameters:
    values = getattr(machine, column)
    scaled = values * factors
    rounded = np.rint(scaled) if values.dtype.kind == "i" else scaled
    columns: dict[str, Any] = {column: rounded.astype(values.dtype)}
    return replace(machine, **columns)


def _limited(
    machine: ReplayParameters, localities: Sequence[str], parameter: Parameter, value: str
) -> ReplayParameters:
    limit: float | str = UNKNOWN_LIMIT
    if value.startswith("x"):
        raise InputError(f"--set eager_limit={value}: give a size, e.g. eager_limit=64KiB, or eager_limit=none")
    if value != "none":
        limit = parse_value(parameter, value, time_unit="ps", clock_hz=None)
        assert isinstance(limit, float)
        if not math.isfinite(limit):
            limit = UNKNOWN_LIMIT
    mine = np.isin(np.arange(len(LOCALITIES)), [LOCALITIES.index(one) for one in localities])
    limits = np.where(mine, int(limit), machine.eager_limit_bytes).astype(machine.eager_limit_bytes.dtype)
    return replace(machine, eager_limit_bytes=limits)
