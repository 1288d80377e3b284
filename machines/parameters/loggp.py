"""From a machine file, or from a fit, to the flat numbers of `parameters.ReplayParameters`.

Rules for what a file does not give, each recorded in `assumptions`:

1. A class without values takes those of the next farther class that has some (self, same_socket, same_node,
   other_node), or of the next nearer one when no farther class has.
2. A class whose last range ends at a size continues it for larger messages. Under LogP and LoPC, which know small
   messages only, the ranges from the first one that lacks a needed value on are left out, and the one before continues.
3. g, o_s_per_byte and o_r_per_byte that no range of the class gives are 0: a NIC is then busy for B G alone.
   LogP and LoPC have no cost per byte: there G, o_s_per_byte and o_r_per_byte are 0 whatever the file says.
4. An eager limit that a class does not give is that of the next farther class that has one; where there is none, a
   class without values has that of the class by rule 1, and of another one it is unknown.
5. `nics_per_node` that is not given is 1.

A value that is not given, falls under none of these rules and is needed raises InputError with machine, class and
parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from logpost.errors import InputError
from logpost.machines.localities import LOCALITIES
from logpost.machines.parameters.table import (
    ESTIMATED,
    MEANINGS,
    NO_SIDES,
    PARAMETERS,
    UNKNOWN_LIMIT,
    UNLIMITED,
    BeyondLogGP,
    FloatArray,
    Log3PTable,
    Quality,
    RangeValues,
    ReplayParameters,
    class_index,
    frozen,
    ints,
)
from logpost.machines.schema import LocalityClass, Machine, Range
from logpost.machines.values.quantity import Quantity
from logpost.machines.values.units import to_base

T = TypeVar("T")

NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"LogP": ("L", "o_s", "o_r", "g"), "LogGP": ("L", "o_s", "o_r", "G"), "LoPC": ("L", "o_s", "o_r")}
)
"""Parameters without which a model cannot be computed. The others fall under rule 3."""

PER_BYTE = ("G", "o_s_per_byte", "o_r_per_byte")

SMALL_MESSAGES = ("LogP", "LoPC")
"""Models of small messages: the first ranges of a class suffice (rule 2)."""


def replay_parameters(machine: Machine, model: str = "LogGP") -> ReplayParameters:
    """The machine's numbers for the replay engine, complete for `model` ("LogP", "LogGP" or "LoPC").

    Raises InputError naming machine, class and parameter when a needed value is not in the file.
    """
    if model not in NEEDS:
        raise InputError(f"model {model!r} has no replay parameters; use one of {', '.join(NEEDS)}")
    given = {name: machine.loggp.of(name) for name in LOCALITIES}
    classes: dict[str, list[RangeValues]] = {}
    limits: dict[str, int] = {}
    assumptions: list[str] = []
    for name, table in given.items():
        if table is not None:
            ranges = usable_ranges(table, model)
            if len(ranges) < len(table.range):
                assumptions.append(f"class {name} above {ranges[-1].up_to_bytes} B lacks values that {model} needs")
            classes[name] = _class_values(machine, name, ranges, NEEDS[model], assumptions)
        limit = machine.loggp.eager_limit(name)
        if limit is not None:
            limits[name] = round(limit.base())
    if not classes:
        raise InputError(
            f"machine {machine.name}: no locality class has LogGP values, and {model} needs "
            f"{', '.join(NEEDS[model])}; use another machine, or add a table [loggp.other_node] to a copy of the file"
        )
    nics = 1
    if machine.nic.per_node is not None:
        nics = round(machine.nic.per_node.number())
    else:
        assumptions.append("nic.per_node is not given: 1 NIC per node")
    return assemble(
        machine.name,
        f"machine file {machine.name} ({machine.date})",
        classes,
        eager_limits=limits,
        nics_per_node=nics,
        log3p=log3p_table(machine),
        beyond_loggp=beyond_loggp(machine),
        assumptions=assumptions,
    )


def estimated_parameters(
    trace: str,
    classes: Mapping[str, Sequence[RangeValues]],
    quality: Mapping[str, Quality],
    *,
    eager_limits: Mapping[str, int] | None = None,
    nics_per_node: int = 1,
    log3p: Log3PTable | None = None,
    assumptions: Iterable[str] = (),
) -> ReplayParameters:
    """Parameters that the analyzer fitted to a trace, labelled as such and with the quality of each class's fit.

    `assumptions` are the fit's own; those of the layout join them.
    """
    for name, fit in quality.items():
        class_index(name)
        if fit.n < 1:
            raise InputError(f"{trace}: the fit of class {name} rests on {fit.n} messages; it needs at least one")
    return assemble(
        trace,
        ESTIMATED,
        classes,
        eager_limits=eager_limits or {},
        nics_per_node=nics_per_node,
        log3p=log3p,
        assumptions=assumptions,
        quality=quality,
    )


def assemble(
    machine: str,
    source: str,
    classes: Mapping[str, Sequence[RangeValues]],
    *,
    eager_limits: Mapping[str, int],
    nics_per_node: int,
    log3p: Log3PTable | None = None,
    beyond_loggp: BeyondLogGP | None = None,
    assumptions: Iterable[str] = (),
    quality: Mapping[str, Quality] | None = None,
) -> ReplayParameters:
    """Lay out the ranges of the given classes, filling absent classes and open ends by rules 1 and 2."""
    if nics_per_node < 1:
        raise InputError(f"machine {machine}: nics_per_node = {nics_per_node}; a node needs at least one")
    for name in classes:
        class_index(name)
    present = [name for name in LOCALITIES if classes.get(name)]
    if not present:
        raise InputError(f"machine {machine}: no locality class has values; give at least other_node")
    notes = list(assumptions)
    rows: list[tuple[int, RangeValues]] = []
    origin, start, eager = [], [0], []
    for c, name in enumerate(LOCALITIES):
        donor = standing_in(name, present)
        if donor != name:
            notes.append(f"class {name} is not given: the values of {donor} hold")
        ranges = _open_ended(machine, donor, list(classes[donor]))
        if donor == name and classes[donor][-1].max_bytes != UNLIMITED:
            notes.append(f"class {name} ends at {classes[donor][-1].max_bytes} B: its last range continues")
        rows += [(c, values) for values in ranges]
        start.append(len(rows))
        origin.append(class_index(donor))
        limit_donor = next((other for other in (*LOCALITIES[c:], donor) if other in eager_limits), None)
        if limit_donor is not None and limit_donor != name:
            notes.append(f"the eager limit of {name} is not given: that of {limit_donor} holds")
        eager.append(UNKNOWN_LIMIT if limit_donor is None else eager_limits[limit_donor])
    columns: dict[str, Any] = {}
    errors: dict[str, FloatArray] = {}
    sides: dict[str, FloatArray] = {}
    for parameter, column in PARAMETERS.items():
        values = [getattr(r, column) for _, r in rows]
        _refuse_bad(machine, parameter, rows, values)
        if column.endswith("per_byte"):
            columns[column] = frozen(np.array(values, dtype=np.float64))
        else:
            columns[column] = frozen(np.array([round(v) for v in values], dtype=np.int64))
        errors[column] = frozen(np.array([r.errors.get(parameter, np.nan) for _, r in rows], dtype=np.float64))
        sides[column] = frozen(np.array([r.sides.get(parameter, NO_SIDES) for _, r in rows], dtype=np.float64))
    return ReplayParameters(
        machine=machine,
        source=source,
        class_id=ints([c for c, _ in rows]),
        max_bytes=ints([r.max_bytes for _, r in rows]),
        class_start=ints(start),
        class_origin=ints(origin),
        eager_limit_bytes=ints(eager),
        nics_per_node=nics_per_node,
        errors=MappingProxyType(errors),
        sides=MappingProxyType(sides),
        log3p=log3p,
        beyond_loggp=beyond_loggp or BeyondLogGP(),
        assumptions=tuple(notes),
        quality=MappingProxyType(dict(quality or {})),
        **columns,
    )


def log3p_table(machine: Machine) -> Log3PTable | None:
    """The machine's log3P points; None when it has none.

    o_mw, o_net and T_mem depend on size alone, NaN where there is no point; l_mw on size, stride and block. A point
    without stride is contiguous and adds no l_mw. Points of one size agree: the check of the file saw to it.
    """
    points = machine.log3p.point
    if not points:
        return None
    clock = machine.clock_hz
    sizes = sorted({p.size_bytes for p in points})
    by_size = {name: np.full(len(sizes), np.nan) for name in ("o_mw", "o_net", "T_mem")}
    strided: dict[tuple[str, bool], list[tuple[float, float, float, float]]] = {}
    for p in points:
        i = sizes.index(p.size_bytes)
        for name, column in by_size.items():
            quantity: Quantity | None = getattr(p, name)
            if quantity is None:
                continue
            column[i] = quantity.base(clock)
        for name, gaps in (("l_mw", p.l_mw), ("l_mw_self", p.l_mw_self)):
            if p.stride_bytes is not None and gaps is not None:
                row = (p.size_bytes, p.stride_bytes, p.block_bytes or 0, gaps.base(clock))
                strided.setdefault((name, p.alone), []).append(row)

    def rows(name: str, alone: bool) -> FloatArray:
        return frozen(np.array(strided.get((name, alone), []), dtype=np.float64).reshape(-1, 4))

    return Log3PTable(
        sizes=ints(sizes),
        o_mw_ps=frozen(by_size["o_mw"]),
        o_net_ps=frozen(by_size["o_net"]),
        T_mem_ps=frozen(by_size["T_mem"]),
        l_mw=rows("l_mw", alone=False),
        alone=rows("l_mw", alone=True),
        l_mw_self=rows("l_mw_self", alone=False),
        alone_self=rows("l_mw_self", alone=True),
    )


def beyond_loggp(machine: Machine) -> BeyondLogGP:
    """o(S, b), the receiver's DMA, a reduction's computation, the latency of a hop and one-sided transfers, as far as
    the file gives them.

    L is taken to hold for the mean distance between two nodes of the topology.
    """
    clock = machine.clock_hz
    bursts = [(float(p.size_bytes), float(p.burst), p.o.base(clock)) for p in machine.overlap.o]
    header, topology = machine.logpc.header_before_interrupt, machine.topology
    per_hop = machine.network.per_hop_message or (None if topology is None else topology.per_hop)
    transfers: dict[str, list[tuple[float, float]]] = {"put": [], "get": []}
    for point in machine.one_sided.point:
        transfers[point.operation].append((float(point.size_bytes), point.T.base(clock)))
    return BeyondLogGP(
        bursts=frozen(np.array(bursts)) if bursts else None,
        G_m_ps_per_byte=None if machine.logpc.G_m is None else machine.logpc.G_m.base(clock),
        header_bytes=0.0 if header is None else header.base(),
        reduction_ps_per_byte=None if machine.memory.reduction is None else machine.memory.reduction.base(clock),
        per_hop_ps=None if per_hop is None else per_hop.base(clock),
        mean_hops=None if per_hop is None or topology is None else topology.mean_hops(include_self=False),
        **{name: frozen(np.array(sorted(rows))) for name, rows in transfers.items() if rows},
    )


def given(r: Range, parameter: str) -> bool:
    """Whether a range gives a parameter; half of a printed round trip counts as L."""
    return getattr(r, parameter) is not None or (parameter == "L" and r.round_trip_L is not None)


def usable_ranges(table: LocalityClass, model: str) -> list[Range]:
    """The ranges that `model` computes with: all, or under rule 2 those before the first incomplete one.

    The first range is always among them, so that what it lacks is named.
    """
    if model not in SMALL_MESSAGES:
        return table.range
    complete = [all(given(r, p) for p in NEEDS[model]) for r in table.range]
    stop = complete.index(False) if False in complete else len(complete)
    return table.range[: max(stop, 1)]


def _class_values(
    machine: Machine, name: str, ranges: Sequence[Range], needs: tuple[str, ...], assumptions: list[str]
) -> list[RangeValues]:
    values = [_range_values(machine, name, r, needs) for r in ranges]
    small = "G" not in needs
    for parameter in ("g", *PER_BYTE):
        if parameter not in needs and all(getattr(r, parameter) is None for r in ranges):
            assumptions.append(f"{parameter} of {name} is not given: 0")
        elif small and parameter in PER_BYTE:
            assumptions.append(f"{parameter} of {name} is not part of the model: 0")
    if small:
        none: dict[str, Any] = {PARAMETERS[parameter]: 0.0 for parameter in PER_BYTE}
        values = [replace(v, **none, errors=_without_bytes(v.errors), sides=_without_bytes(v.sides)) for v in values]
    return values


def _without_bytes(stated: Mapping[str, T]) -> dict[str, T]:
    return {parameter: value for parameter, value in stated.items() if parameter not in PER_BYTE}


def _range_values(machine: Machine, name: str, r: Range, needs: tuple[str, ...]) -> RangeValues:
    clock = machine.clock_hz
    values: dict[str, float] = {}
    errors: dict[str, float] = {}
    sides: dict[str, tuple[float, float]] = {}
    if gaps := [parameter for parameter in PARAMETERS if parameter in needs and not given(r, parameter)]:
        raise InputError(missing(machine.name, name, r.up_to_bytes, gaps))
    for parameter in PARAMETERS:
        quantity: Quantity | None = getattr(r, parameter)
        scale = 1.0
        if parameter == "L" and quantity is None and r.round_trip_L is not None:
            quantity, scale = r.round_trip_L, 0.5
        if quantity is None:
            values[parameter] = 0.0
            continue
        values[parameter] = quantity.base(clock) * scale
        error = quantity.base_error(clock)
        if error is not None:
            errors[parameter] = error * scale
        if quantity.interval is not None:
            low, high = (to_base(end, quantity.unit, clock) * scale for end in quantity.interval)
            sides[parameter] = values[parameter] - low, high - values[parameter]
    return RangeValues(
        max_bytes=UNLIMITED if r.up_to_bytes is None else r.up_to_bytes,
        errors=errors,
        sides=sides,
        **{PARAMETERS[p]: v for p, v in values.items()},
    )


def missing(machine: str, locality: str, up_to_bytes: int | None, parameters: Sequence[str]) -> str:
    """The message for values that are needed and not in the file: all at once, not one after the other."""
    size = "" if up_to_bytes is None else f" up to {up_to_bytes} B"
    first, *others = (f"{parameter} ({MEANINGS[parameter]})" for parameter in parameters)
    nor = f", nor {'is' if len(others) == 1 else 'are'} {', '.join(others)}" if others else ""
    return (
        f"machine {machine}, class {locality}{size}: {first} is not given by its source{nor}; use a model that does "
        f"without, another machine, or add {', '.join(parameters)} to a copy of the file"
    )


def standing_in(name: str, present: Sequence[str]) -> str:
    """The class whose values stand for those of `name` (rule 1); `present` are those that have some, at least one."""
    position = LOCALITIES.index(name)
    farther = [other for other in LOCALITIES[position:] if other in present]
    return farther[0] if farther else [other for other in LOCALITIES[:position] if other in present][-1]


def _open_ended(machine: str, name: str, ranges: list[RangeValues]) -> list[RangeValues]:
    limits = [r.max_bytes for r in ranges]
    if limits != sorted(set(limits)) or limits[0] < 0:
        raise InputError(
            f"machine {machine}, class {name}: ranges end at {limits} bytes; list them in increasing order"
        )
    return [*ranges[:-1], replace(ranges[-1], max_bytes=UNLIMITED)]


def _refuse_bad(machine: str, parameter: str, rows: list[tuple[int, RangeValues]], values: list[float]) -> None:
    for (c, _), value in zip(rows, values, strict=True):
        if not np.isfinite(value) or value < 0:
            raise InputError(
                f"machine {machine}, class {LOCALITIES[c]}: {parameter} = {value:g} ps is not a time; "
                "it must be finite and not negative"
            )
