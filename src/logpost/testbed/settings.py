"""Settings of a run that override the machine file (`--set NAME=VALUE`), and sweeps of them (`--sweep`).

A setting that a machine file can express changes the machine, whose text is kept next to the archive; the rest are
`machine.Choices`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from logpost.errors import InputError, suggestion
from logpost.machines.schema import LocalityClass, Machine, Source
from logpost.machines.topologies.parse import HOW, parse_topology
from logpost.machines.values.quantity import Bandwidth, Bytes, Quantity, Time, TimePerByte
from logpost.machines.values.units import UNITS, to_base, units_of
from logpost.testbed.machine import Choices

SOURCE = "testbed"
LINK = "testbed-link"
_RANGE = {"latency": "L", "L": "L", "o_s": "o_s", "o_r": "o_r", "g": "g", "G": "G"}
_KINDS: Mapping[str, type[Quantity]] = {"L": Time, "o_s": Time, "o_r": Time, "g": Time, "G": TimePerByte}
_HELP: Mapping[str, str] = {
    "latency": "L of messages between nodes, e.g. 2us or 21cycle",
    "o_s": "send overhead, a time",
    "o_r": "receive overhead, a time",
    "g": "gap between messages, a time",
    "G": "gap per byte of messages between nodes, e.g. 10ns/B",
    "bandwidth": "bandwidth of a link, e.g. 40MB/s or 2B/cycle",
    "injection": "rate at which a NIC gives data to the network, a bandwidth",
    "per-hop": "latency of a hop, a time",
    "bisection": "bandwidth across the middle, both directions; bare numbers are B/cycle",
    "eager-limit": "largest message that does not wait for its receive, in bytes, or none",
    "capacity": "bytes that a receiver's NIC holds, or none",
    "speed": "flop per second of a processor",
    "sharing": "split-duplex or shared: whether the directions of a link share its bandwidth",
    "poll": "time that MPI_Test and MPI_Iprobe take",
    "topology": HOW,
    "dims": "dimensions of a mesh or torus, e.g. 16x8",
}


def names() -> Mapping[str, str]:
    """What can be set, with a line on each."""
    return _HELP


def apply(machine: Machine, settings: Mapping[str, str]) -> tuple[Machine, Choices]:
    """The machine and the choices with the settings made. Raises InputError for an unknown name or a bad value."""
    choices = Choices()
    first = ("topology", "dims")  # the others change values within them
    for name in sorted(settings, key=lambda name: first.index(name) if name in first else len(first)):
        text = settings[name]
        machine, choices = _set(machine, choices, name, text)
    return machine, choices


def _set(machine: Machine, choices: Choices, name: str, text: str) -> tuple[Machine, Choices]:
    clock = machine.clock_hz
    if name in _RANGE:
        field = _RANGE[name]
        kind = _KINDS[field]
        return _with_range_value(machine, field, _quantity(kind, name, text)), choices
    if name == "topology":
        made, old = parse_topology(text, SOURCE), machine.topology
        if old is not None:  # its links stay as they are
            kept = {"per_hop": old.per_hop, "link_bandwidth": old.link_bandwidth, "header": old.header}
            made = made.model_copy(update=kept)
        return _changed(machine, topology=made), choices
    if name in ("bandwidth", "per-hop", "dims"):
        if machine.topology is None:
            raise InputError(f"machine {machine.name} has no [topology] to set {name} in; set topology=... before it")
        update: dict[str, Any]
        if name == "dims":
            update = {"dims": _dims(machine, text)}
        elif name == "bandwidth":
            update = {"link_bandwidth": _quantity(Bandwidth, name, text)}
        else:
            update = {"per_hop": _quantity(Time, name, text)}
        return _changed(machine, topology=machine.topology.model_copy(update=update)), choices
    if name == "injection":
        nic = machine.nic.model_copy(update={"injection_rate": _quantity(Bandwidth, name, text)})
        return _changed(machine, nic=nic), choices
    if name == "capacity":
        if text == "none":
            return _changed(machine, nic=machine.nic.model_copy(update={"queue": None})), choices
        return _changed(machine, nic=machine.nic.model_copy(update={"queue": _bytes(name, text)})), choices
    if name == "eager-limit":
        limit = None if text == "none" else _bytes(name, text)
        table = machine.loggp.other_node or LocalityClass()
        loggp = machine.loggp.model_copy(update={"other_node": table.model_copy(update={"eager_limit": limit})})
        return _changed(machine, loggp=loggp), choices
    if name == "bisection":
        whole = f"{text}B/cycle" if _is_number(text) else text
        choices = replace(choices, bisection=_positive(name, _base(Bandwidth, name, whole, clock)))
        left = {"bisection": _quantity(Bandwidth, name, whole), "bisection_per_cycle": None}
        return _changed(machine, network=machine.network.model_copy(update=left)), choices
    if name == "speed":
        return machine, replace(choices, speed=_positive(name, _float(name, text)))
    if name == "sharing":
        return machine, replace(choices, sharing=text)
    if name == "poll":
        return machine, replace(choices, poll_s=_base(Time, name, text, clock) * 1e-12)
    raise InputError(f"--set {name}=... is not known; use one of {', '.join(_HELP)}{suggestion(name, _HELP)}")


def _with_range_value(machine: Machine, field: str, value: Quantity) -> Machine:
    table = machine.loggp.other_node
    if table is None or not table.range:
        raise InputError(f"machine {machine.name} has no [loggp.other_node] to set {field} in; add it to a copy")
    update: dict[str, Any] = {field: value}
    if field == "L":
        update["round_trip_L"] = None
    changed = table.model_copy(update={"range": [r.model_copy(update=update) for r in table.range]})
    return _changed(machine, loggp=machine.loggp.model_copy(update={"other_node": changed}))


def with_simulated_gap(machine: Machine, G_s_per_byte: float) -> Machine:
    """The machine with the G that the testbed simulated between nodes, where its own file gives none."""
    table = machine.loggp.other_node
    if table is None or any(r.G is not None for r in table.range):
        return machine
    value = TimePerByte(
        value=float(f"{G_s_per_byte * 1e9:.9g}"),
        unit="ns/B",
        source=LINK,
        basis="derived",
        note="1 / bandwidth of a link, or of the injection where that is smaller",
    )
    source = Source(kind="estimate", text="simulated by the virtual testbed: a byte occupies the link for so long")
    changed = table.model_copy(update={"range": [r.model_copy(update={"G": value}) for r in table.range]})
    return machine.model_copy(
        update={
            "loggp": machine.loggp.model_copy(update={"other_node": changed}),
            "sources": {**machine.sources, LINK: source},
        }
    )


def _changed(machine: Machine, **tables: Any) -> Machine:
    source = Source(kind="estimate", text="set for a run of the virtual testbed (logpost testbed run --set)")
    return machine.model_copy(update={**tables, "sources": {**machine.sources, SOURCE: source}})


def _quantity(kind: type[Quantity], name: str, text: str) -> Quantity:
    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(\S+)\s*", text)
    if match is None or match[2] not in UNITS or UNITS[match[2]].dimension != kind.dimension:
        assert kind.dimension is not None
        raise InputError(
            f"{name} = {text} is not valid; write a number and a unit: {', '.join(units_of(kind.dimension))}"
        )
    try:
        return kind(value=float(match[1]), unit=match[2], source=SOURCE)
    except ValueError as error:
        if float(match[1]) <= 0.0:
            raise InputError(f"{name} = {match[1]} must be positive") from error
        raise InputError(f"{name} = {text} is not a valid number; write e.g. 2us") from error


def _base(kind: type[Quantity], name: str, text: str, clock_hz: float | None) -> float:
    value = _quantity(kind, name, text)
    if UNITS[value.unit].in_cycles and clock_hz is None:
        raise InputError(f"{name} = {text} is in cycles, and the machine file has no clock; use another unit")
    return to_base(value.number(), value.unit, clock_hz)


def _bytes(name: str, text: str) -> Quantity:
    return _quantity(Bytes, name, f"{text}B" if _is_number(text) else text)


def _dims(machine: Machine, text: str) -> list[int]:
    assert machine.topology is not None
    if not hasattr(machine.topology, "dims"):
        raise InputError(f"a {machine.topology.kind} has no dims to set; copy the machine file and change its topology")
    parts = text.split("x")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"dims = {text} is not known; write e.g. 16x8")
    return [int(part) for part in parts]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} = {text} is not a number") from None


def _positive(name: str, value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise InputError(f"{name} = {value:g} must be positive")
    return value


@dataclass(frozen=True)
class Sweep:
    """A setting and the values that it takes, one run each."""

    name: str
    values: tuple[str, ...]


def parse_sweep(text: str) -> Sweep:
    """NAME=FROM:TO:COUNT, or NAME=A,B,C.

    Steps are even for a bisection and geometric for everything else; :lin or :log behind the count says otherwise. The
    unit may be at either end.
    """
    name, equals, rest = text.partition("=")
    if not equals or name not in _HELP:
        raise InputError(f"--sweep {text} is not known; write NAME=FROM:TO:COUNT with NAME one of {', '.join(_HELP)}")
    if ":" not in rest:
        return Sweep(name, tuple(part for part in rest.split(",") if part))
    parts = rest.split(":")
    step = parts[3] if len(parts) == 4 else "lin" if name == "bisection" else "log"
    ends = [re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)([a-zA-Z/]*)", part) for part in parts[:2]]
    if len(parts) not in (3, 4) or not parts[2].isdecimal() or int(parts[2]) < 1 or step not in ("lin", "log"):
        raise InputError(f"--sweep {text} is not known; write {name}=FROM:TO:COUNT, or :lin or :log behind")
    one, two = ends
    if one is None or two is None:
        raise InputError(f"--sweep {text}: {parts[0]} and {parts[1]} must be numbers with a unit")
    unit = two[2] or one[2]
    low, high = _in_unit(one, unit), _in_unit(two, unit)
    if step == "log" and not (low > 0 and high > 0):
        raise InputError(f"--sweep {text}: geometric steps need positive ends; add :lin for even steps")
    return Sweep(name, tuple(f"{value:.6g}{unit}" for value in _steps(low, high, int(parts[2]), step)))


def _in_unit(end: re.Match[str], unit: str) -> float:
    own = end[2] or unit
    if own == unit:
        return float(end[1])
    if own not in UNITS or unit not in UNITS or UNITS[own].dimension != UNITS[unit].dimension:
        raise InputError(f"{end[0]} and a value in {unit} do not go together; use one unit")
    if UNITS[own].in_cycles != UNITS[unit].in_cycles:
        raise InputError(f"{end[0]} and a value in {unit} do not go together: one counts in cycles")
    return float(end[1]) * UNITS[own].factor / UNITS[unit].factor


def _steps(low: float, high: float, count: int, step: str) -> Iterator[float]:
    for i in range(count):
        share = i / (count - 1) if count > 1 else 0.0
        yield low * (high / low) ** share if step == "log" else low + (high - low) * share


def product(sweeps: Sequence[Sweep]) -> list[dict[str, str]]:
    """Every combination of the sweeps' values, the last sweep fastest; a single empty one without sweeps."""
    doubled = [s.name for s in sweeps if sum(other.name == s.name for other in sweeps) > 1]
    if doubled:
        raise InputError(f"--sweep {doubled[0]} is given twice; list its values in one")
    return [
        dict(zip((s.name for s in sweeps), values, strict=True))
        for values in itertools.product(*(s.values for s in sweeps))
    ]
