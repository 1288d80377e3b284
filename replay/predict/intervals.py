"""The interval of a prediction: what the uncertainties of the machine's values make of it.

    upper = T + sqrt( sum_i max(T(v_i low) - T, T(v_i high) - T, 0)^2 )        lower likewise, with the falls

v_i are the machine's values that state an uncertainty and enter the prediction; each is set to both ends of its 95 %
interval, one at a time, and the model is evaluated again for all rows. Ends stated at another level are scaled as
those of a normal distribution, ends without a level are taken as 95 %. Values are taken as independent, and their
effects as additive: of what a calibration derives from one another (L from o_s and o_r) the interval is too wide.

What is given by hand is taken as exact, and so is a value whose source states no uncertainty: it is counted, because
the interval is then too narrow. A result that is infinite, or that the model refuses at an end, has no interval.

Cost: two evaluations of the model for each uncertain value that enters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from logpost.errors import InputError
from logpost.machines import Machine
from logpost.machines.calibration.statistics import CONFIDENCE
from logpost.machines.schema.places import Place, located
from logpost.machines.values.quantity import Quantity
from logpost.replay.models.interface import Model
from logpost.replay.predict.machine_values.locality import class_taken
from logpost.replay.predict.machine_values.loggp import OVERLAP

Offer = Callable[[Machine], Mapping[str, Any]]
"""A machine's values under the names of the model's parameters."""
Evaluate = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""The model's results for a machine's values."""


@dataclass(frozen=True)
class Intervals:
    """Lower and upper ends of each result, row by row (NaN: none), from `stated` of the `entering` machine values."""

    ends: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    stated: int
    entering: int


def intervals(
    model: Model, machine: Machine, locality: str, offer: Offer, evaluate: Evaluate, results: Mapping[str, Any]
) -> Intervals | None:
    """Of `results`, which are those of the machine as stated; None where no value that enters is uncertain."""
    base = offer(machine)
    centre = {name: np.asarray(value, dtype=np.float64) for name, value in results.items()}
    rises = {name: np.zeros(value.shape) for name, value in centre.items()}
    falls = {name: np.zeros(value.shape) for name, value in centre.items()}
    stated = entering = 0
    for place, quantity in _that_may_enter(model, machine, locality):
        ends = ends_of(quantity)
        # A value without uncertainty is moved to see whether it enters.
        moved = ends or (quantity.number() * 1.01 or 1.0,)
        offers = [_offered(offer, replaced(machine, place, at(quantity, end)), base) for end in moved]
        if all(one is not None and _same(base, one) for one in offers):
            continue
        entering += 1
        if ends is None:
            continue
        stated += 1
        shifts = [_results(evaluate, one, centre) for one in offers]
        for name, value in centre.items():
            with np.errstate(invalid="ignore"):
                moves = np.stack([shift[name] - value for shift in shifts])
                rises[name] += np.maximum(moves.max(axis=0), 0.0) ** 2
                falls[name] += np.maximum(-moves.min(axis=0), 0.0) ** 2
    if not stated:
        return None
    return Intervals(
        ends={
            name: (np.maximum(value - np.sqrt(falls[name]), 0.0), value + np.sqrt(rises[name]))
            for name, value in centre.items()
        },
        stated=stated,
        entering=entering,
    )


def ends_of(quantity: Quantity) -> tuple[float, float] | None:
    """The ends of the value's 95 % interval in its own unit; None where its source states no uncertainty."""
    value = quantity.number()
    if quantity.uncertainty is not None:
        low, high = value - quantity.uncertainty, value + quantity.uncertainty
    elif (span := quantity.interval or quantity.range) is not None:
        low, high = span
    else:
        return None
    widen = 1.0
    if quantity.confidence is not None:
        widen = _deviations(CONFIDENCE) / _deviations(quantity.confidence)
    return max(value - (value - low) * widen, 0.0), value + (high - value) * widen


def replaced(table: Any, place: Place, quantity: Quantity) -> Any:
    """The table with another value at a place in it."""
    if not place:
        return quantity
    key, rest = place[0], place[1:]
    if isinstance(table, list) and isinstance(key, int):
        return [*table[:key], replaced(table[key], rest, quantity), *table[key + 1 :]]
    assert isinstance(table, BaseModel)
    name = next(n for n, field in type(table).model_fields.items() if key in (n, field.alias))
    return table.model_copy(update={name: replaced(getattr(table, name), rest, quantity)})


def _that_may_enter(model: Model, machine: Machine, locality: str) -> Iterator[tuple[Place, Quantity]]:
    """Values of the tables that the model may take: one that does not enter costs time, and nothing else."""
    wanted = {parameter.name for parameter in model.parameters}
    tables = {"loggp"}
    tables |= {"logpc"} if {"G_m", "a"} & wanted else set()
    tables |= {"log3p"} if {"o_mw", "o_net"} & wanted else set()
    tables |= {"overlap"} if model.name in OVERLAP else set()
    taken = class_taken(machine, locality)
    for found in located(machine):
        if found.place[0] in tables and (found.place[0] != "loggp" or found.place[1] == taken):
            yield found.place, found.quantity


def _deviations(level: float) -> float:
    return NormalDist().inv_cdf((1.0 + level) / 2.0)


def at(quantity: Quantity, value: float) -> Quantity:
    """The same quantity with another value in its unit."""
    return quantity.model_copy(update={"value": value, "range": None})


def _offered(offer: Offer, machine: Machine, base: Mapping[str, Any]) -> Mapping[str, Any] | None:
    try:
        found = offer(machine)
    except InputError:
        return None
    return found if found.keys() == base.keys() else None


def _same(base: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(_equal(value, other[name]) for name, value in base.items())


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, (int, float, np.ndarray)):
        return bool(np.array_equal(a, b))
    return isinstance(a, str) and a == b


def _results(
    evaluate: Evaluate, values: Mapping[str, Any] | None, centre: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """NaN where the model refuses the values."""
    none = {name: np.full(value.shape, np.nan) for name, value in centre.items()}
    if values is None:
        return none
    try:
        found = evaluate(values)
    except InputError:
        return none
    return {name: np.asarray(found.get(name, np.nan), dtype=np.float64) for name in centre}
