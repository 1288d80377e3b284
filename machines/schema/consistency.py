"""Check a machine file across its tables: sources, ranges of numbers, contradictory values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.machines.schema.places import Located, Place, key_name, located, whole_numbers
from logpost.machines.topologies import KaryNcube, Topology
from logpost.machines.values.quantity import Bytes, Count, Quantity, Time
from logpost.machines.values.units import LARGEST, PS_PER_S, UNITS

if TYPE_CHECKING:
    from logpost.machines.schema import Machine


@dataclass(frozen=True)
class Contradiction:
    """A place and what is wrong there: a sentence that continues after the name of the place, or (`of_value`) after
    its value.
    """

    place: Place
    words: str
    of_value: bool = False


class ContradictionsError(ValueError):
    """All that was found in one file."""

    def __init__(self, found: tuple[Contradiction, ...]) -> None:
        super().__init__("; ".join(f"{key_name(one.place)} {one.words}" for one in found))
        self.found = found


def refuse_contradictions(machine: Machine) -> None:
    """Raise ContradictionsError unless the tables fit together and all values fit the int64 of the replay's tables."""
    values = list(located(machine))
    found = (*_sources(machine, values), *_sizes(machine, values), *_same_size(machine))
    if not found:
        found = tuple(_placement(machine))
    if found:
        raise ContradictionsError(found)


def _sources(machine: Machine, values: list[Located]) -> Iterator[Contradiction]:
    """Every source that is cited is one of [sources]; said once for each that is not."""
    cited: dict[str, list[Place]] = {}
    for value in values:
        cited.setdefault(value.quantity.source, []).append(value.place)
    topology = machine.topology
    if topology is not None and topology.source is None:
        words = 'has no source; add source = "KEY" (an entry of [sources]) to it or to the file'
        yield Contradiction(("topology",), words)
    elif topology is not None and topology.source is not None:
        cited.setdefault(topology.source, []).append(("topology",))
    for source, places in cited.items():
        if source not in machine.sources:
            more = f" ({len(places) - 1} more cite it)" if len(places) > 1 else ""
            yield Contradiction(
                places[0],
                f"cites source {source!r}, which [sources] does not have; it has {', '.join(machine.sources)}{more}",
            )


def _sizes(machine: Machine, values: list[Located]) -> Iterator[Contradiction]:
    """Numbers that the tables of the replay, int64 in picoseconds and bytes, can hold."""
    for place, number in whole_numbers(machine):
        if abs(number) > LARGEST:
            yield Contradiction(place, f"must be at most {LARGEST}", of_value=True)
    clock = machine.clock_hz
    for value in values:
        quantity = value.quantity
        if UNITS[quantity.unit].in_cycles and clock is None:
            continue
        size, error = quantity.base(clock), quantity.base_error(clock) or 0.0
        if not (math.isfinite(size) and math.isfinite(error)):
            yield Contradiction(value.place, f"is too large to compute with in {quantity.unit}", of_value=True)
        elif size > LARGEST and isinstance(quantity, Time):
            limit = f"{LARGEST / PS_PER_S:.3g} s, {LARGEST} ps"
            yield Contradiction(value.place, f"must be at most {limit}, not {size / PS_PER_S:.3g} s", of_value=True)
        elif size > LARGEST and isinstance(quantity, (Bytes, Count)):
            what = "B" if isinstance(quantity, Bytes) else ""
            yield Contradiction(value.place, f"must be at most {LARGEST} {what}".rstrip(), of_value=True)


def _same_size(machine: Machine) -> Iterator[Contradiction]:
    """o_mw, o_net and T_mem depend on the size alone: points of one size and several strides must agree on them."""
    for name in ("o_mw", "o_net", "T_mem"):
        first: dict[int, tuple[int, Quantity]] = {}
        for i, point in enumerate(machine.log3p.point):
            quantity: Quantity | None = getattr(point, name)
            if quantity is None:
                continue
            before, other = first.setdefault(point.size_bytes, (i, quantity))
            if _agree(machine, quantity, other):
                continue
            yield Contradiction(
                ("log3p", "point", i, name),
                f"is {quantity.number():g} {quantity.unit}, but log3p.point[{before}] has {other.number():g} "
                f"{other.unit} at the same size_bytes = {point.size_bytes}; it depends on the size alone, keep one",
            )


def _agree(machine: Machine, a: Quantity, b: Quantity) -> bool:
    """Whether two values are the same; without a clock, cycles equal only cycles."""
    clock = machine.clock_hz
    if clock is None and (UNITS[a.unit].in_cycles or UNITS[b.unit].in_cycles):
        return (a.number(), a.unit) == (b.number(), b.unit)
    return a.base(clock) == b.base(clock)


def _placement(machine: Machine) -> Iterator[Contradiction]:
    """The network has a countable number of nodes, and the mapping uses no more of them."""
    topology, mapping = machine.topology, machine.mapping
    if topology is None:
        return
    if isinstance(topology, KaryNcube) and topology.n >= LARGEST.bit_length():
        # Not counted: k**n would be a number of n digits.
        yield Contradiction(("topology", "n"), f"must be less than {LARGEST.bit_length()}", of_value=True)
        return
    if topology.n_vertices > LARGEST:
        yield Contradiction(("topology",), f"has {_counted(topology)}; at most {LARGEST} can be counted")
    elif mapping is not None:
        needed = max((mapping.nodes or 0, *(node + 1 for node in mapping.nodes_of_ranks or ())))
        if needed > topology.n_nodes:
            yield Contradiction(
                ("mapping",),
                f"uses {needed} nodes, but the topology ({topology.describe()}) has {topology.n_nodes}; "
                "give the topology more nodes, or the mapping fewer",
            )


def _counted(topology: Topology) -> str:
    return f"about 10^{round(math.log10(topology.n_vertices))} nodes and switches"
