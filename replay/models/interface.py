"""The interface of every model: a closed form from named parameters to named results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from logpost.replay.cost.arrays import ModelError, scalar_or_array, values

Kind: TypeAlias = Literal["time", "time_per_byte", "bytes", "count", "ratio", "choice", "table"]


def common_shape(columns: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of the results: one row per row of the columns, () when all are scalars; what is no array is skipped.

    Raises ModelError for columns of different length, naming the first two that do not fit each other.
    """
    shapes = {name: value.shape for name, value in columns.items() if isinstance(value, np.ndarray)}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        pass
    # Shapes that fit together two by two fit all together, so that some pair does not.
    for (one, a), (other, b) in combinations(shapes.items(), 2):
        try:
            np.broadcast_shapes(a, b)
        except ValueError:
            lengths = [f"{name} has {' x '.join(map(str, shape))}" for name, shape in ((one, a), (other, b))]
            raise ModelError(
                f"columns of different length: {' and '.join(lengths)} values; give both one value per row"
            ) from None
    raise AssertionError(shapes)


@dataclass(frozen=True)
class Parameter:
    """One input of a closed form: symbol, kind (which decides the units accepted), meaning."""

    name: str
    kind: Kind
    meaning: str
    default: float | str | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    """Left out entirely when not given (the equation's own rule applies)."""


_LARGEST = 1e30
"""Of a parameter, in its unit: no machine has more, and a product of ten of them is a float (of at most 1.8e308)."""

SIZE_SELECTOR = Parameter("B", "bytes", "message size, at which a machine's values are taken", optional=True)
"""For models whose equations have no size, but whose parameters a machine may give per size."""


@dataclass(frozen=True)
class Output:
    """One result of a closed form."""

    name: str
    kind: Kind
    meaning: str


class MissingParametersError(ModelError):
    """A model was not given ``names``, which it cannot do without."""

    def __init__(self, model: str, names: Sequence[str]) -> None:
        super().__init__(f"model {model} needs {', '.join(names)}: give it, or a machine that has it")
        self.names = tuple(names)


@dataclass(frozen=True)
class Model:
    """A closed-form prediction: what `logpost models` lists and `logpost predict` evaluates.

    ``evaluate`` receives every parameter by name (times in one unit, sizes in bytes) and returns
    every output by name.
    """

    name: str
    title: str
    equations: tuple[str, ...]
    source: str
    validity: str
    parameters: tuple[Parameter, ...]
    outputs: tuple[Output, ...]
    evaluate: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    notes: tuple[str, ...] = field(default=())

    def predict(self, **given: Any) -> dict[str, Any]:
        """Evaluate for the given parameters.

        Columns of no rows give an empty column for every output.

        Raises ModelError for an unknown, missing or inadmissible parameter, and for columns of different length.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        both = given.pop("o", None) if "o" not in known and {"o_s", "o_r"} <= known.keys() else None
        if both is not None:
            given = {"o_s": both, "o_r": both, **given}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ModelError(f"model {self.name} has no parameter {unknown[0]!r}; it takes {', '.join(known)}")
        chosen: dict[str, Any] = {}
        missing = []
        for name, parameter in known.items():
            if name in given:
                chosen[name] = self._checked(parameter, given[name])
            elif parameter.default is not None:
                chosen[name] = parameter.default
            elif not parameter.optional:
                missing.append(name)
        if missing:
            raise MissingParametersError(self.name, missing)
        shape = common_shape(chosen)
        # An overflow is a value beyond any machine: it shows as inf.
        with np.errstate(over="ignore", under="ignore"):
            results = dict(self.evaluate(chosen))
        if 0 in shape:
            unknown_yet = (output.name for output in self.outputs if output.name not in given)
            return {name: np.empty(shape) for name in results or unknown_yet}
        return results

    def _checked(self, parameter: Parameter, value: Any) -> Any:
        if parameter.kind == "choice":
            if not isinstance(value, str):
                raise ModelError(f"{parameter.name} is one choice for all rows: {' or '.join(parameter.choices)}")
            if value not in parameter.choices:
                raise ModelError(f"{parameter.name} = {value!r}: choose {' or '.join(parameter.choices)}")
            return value
        if parameter.kind == "table":
            return value
        if isinstance(value, str):
            raise ModelError(f"{parameter.name} = {value!r} is not a number")
        unlimited = parameter.default == float("inf")
        return values(parameter.name, value, at_most=None if unlimited else _LARGEST, finite=not unlimited)


def row_by_row(
    one: Callable[[Mapping[str, Any]], Mapping[str, float]],
) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """An ``evaluate`` for columns from one for scalars: searches and played benchmarks. Equal rows are evaluated once.

    Without rows nothing is evaluated, and the names of the results are unknown: none is returned.
    """

    def evaluate(given: Mapping[str, Any]) -> dict[str, Any]:
        numbers = {name: value for name, value in given.items() if isinstance(value, (int, float, np.ndarray))}
        columns = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in numbers.values()))
        rows = np.stack([column.ravel() for column in columns], axis=1)
        distinct, place = (
            np.unique(rows, axis=0, return_inverse=True) if len(rows) > 1 else (rows, np.arange(len(rows)))
        )
        found = [one({**given, **dict(zip(numbers, row.tolist(), strict=True))}) for row in distinct]
        names = found[0] if found else ()
        return {
            name: scalar_or_array(np.asarray([row[name] for row in found])[place.ravel()].reshape(columns[0].shape))
            for name in names
        }

    return evaluate
