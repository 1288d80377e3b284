"""What a split's machine says of messages: its values with units, uncertainties and sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from logpost.analyzer.machine.estimate import Estimate
from logpost.analyzer.run.manifest import MachineValue
from logpost.machines import LOCALITIES, ReplayParameters
from logpost.machines.parameters import PARAMETERS, UNLIMITED


def machine_values(parameters: ReplayParameters) -> list[MachineValue]:
    """Every parameter of the classes that are the machine's own (not those that borrow another's)."""
    values = []
    for row, c in enumerate(parameters.class_id):
        if int(parameters.class_origin[c]) != int(c):
            continue
        upper = int(parameters.max_bytes[row])
        for name, column in PARAMETERS.items():
            value = float(getattr(parameters, column)[row])
            error = float(parameters.errors[column][row])
            below, above = parameters.sides[column][row].tolist()
            values.append(
                MachineValue(
                    locality=LOCALITIES[int(c)],
                    parameter=name,
                    up_to_bytes=None if upper == UNLIMITED else upper,
                    value=value,
                    unit="ps/B" if column.endswith("per_byte") else "ps",
                    uncertainty=None if np.isnan(error) else error,
                    low=None if np.isnan(below) else max(0.0, value - below),
                    high=None if np.isnan(above) else value + above,
                    source=parameters.source,
                )
            )
    return values + _eager_limits(parameters)


def estimated_values(parameters: ReplayParameters, guess: Estimate) -> list[MachineValue]:
    """Every parameter that an estimate states, with its interval and its evidence."""
    values = []
    for name in guess.classes:
        for parameter, value, known in guess.stated(name, parameters):
            values.append(
                MachineValue(
                    locality=name,
                    parameter=parameter,
                    value=value,
                    unit="ps/B" if parameter == "G" or parameter.endswith("per_byte") else "ps",
                    low=known.low,
                    high=known.high,
                    bound_only=known.bound_only,
                    reason=known.reason,
                    source=parameters.source,
                )
            )
    return values + _eager_limits(parameters)


def _eager_limits(parameters: ReplayParameters) -> list[MachineValue]:
    values = []
    for c, name in enumerate(LOCALITIES):
        limit = parameters.eager_limit(name)
        if limit is not None and int(parameters.class_origin[c]) == c:
            values.append(
                MachineValue(locality=name, parameter="eager_limit", value=limit, unit="B", source=parameters.source)
            )
    return values


def values_for(
    values: Sequence[MachineValue], parameters: ReplayParameters, locality: str, size: int
) -> tuple[MachineValue, ...]:
    """Of a machine's values those of a message's distance and size; values of 0 of which nothing is stated are none.

    Args:
        values: of the machine, e.g. from `machine_values`.
        parameters: the same machine's, for the class whose values stand for `locality`.
        locality: how far apart the ends are.
        size: bytes.
    """
    origin = LOCALITIES[int(parameters.class_origin[LOCALITIES.index(locality)])]
    mine = [value for value in values if value.locality == origin]
    reaching = {value.up_to_bytes for value in mine if value.up_to_bytes is not None and size <= value.up_to_bytes}
    up_to = min(reaching, default=None)
    return tuple(
        value
        for value in mine
        if value.parameter == "eager_limit"
        or (value.up_to_bytes == up_to and (value.value != 0 or value.uncertainty is not None or value.high))
    )
