"""Values that a question changes and that the recorded machine only bounds: nothing in the trace measured them.

An estimated machine may say no more of L than that it is at most so much. A multiple of it is a multiple of that bound,
and the interval of the prediction reaches as far as the bounds do (``uncertainty``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logpost.analyzer.words.units import quantity_text
from logpost.replay.graph.changes import PARAMETERS

if TYPE_CHECKING:
    from logpost.analyzer.predict.whatif.plan import Ask
    from logpost.analyzer.run.manifest import MachineValue


@dataclass(frozen=True)
class Bounded:
    """One such value: it lies between `low` and `high`, both in `unit`."""

    locality: str
    parameter: str
    low: float
    high: float
    unit: str


def changed_names(ask: Ask, axes: Iterable[str] = ()) -> set[str]:
    """The parameters that a question changes, as settings name them: `L`, `other_node.G`; `axes`: those of its curve
    and map."""
    names = {text.partition("=")[0].strip() for text in ask.settings} | set(axes)
    return names | set(PARAMETERS) if ask.machine is not None or "network" in names else names


def only_bounded(values: Sequence[MachineValue]) -> list[Bounded]:
    """Those of a machine's values that are only bounded, in the machine's order."""
    return [
        Bounded(one.locality, one.parameter, one.low or 0.0, one.high, one.unit)
        for one in values
        if one.bound_only and one.high
    ]


def bounded(values: Sequence[Bounded], names: Collection[str]) -> list[Bounded]:
    """Those of them that the names mean."""
    meant = set()
    for name in names:
        where, _, symbol = name.rpartition(".")
        meant |= {(where, parameter) for parameter in PARAMETERS.get(symbol, (None, ()))[1]}
    return [one for one in values if {("", one.parameter), (one.locality, one.parameter)} & meant]


def bounded_notes(found: Sequence[Bounded]) -> list[str]:
    """A sentence for each parameter that is only bounded."""
    return [
        f"{parameter} is only bounded: "
        + ", ".join(_within(one) for one in found if one.parameter == parameter)
        + "; nothing in the trace measured it, and the interval follows from the bound"
        for parameter in dict.fromkeys(one.parameter for one in found)
    ]


def _within(one: Bounded) -> str:
    low, high = (quantity_text(value, one.unit) for value in (one.low, one.high))
    return f"{one.locality} at most {high}" if one.low == 0 else f"{one.locality} between {low} and {high}"
