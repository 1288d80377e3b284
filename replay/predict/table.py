"""What a prediction hands back: the table's columns, and the values behind them with where each comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logpost.replay.models.interface import Model, Parameter
from logpost.replay.predict.beyond import Beyond


@dataclass(frozen=True)
class Column:
    """A column of the table: name, unit as shown ("" for pure numbers), values, what it is.

    `interval` has the lower and upper ends of the 95 % intervals, NaN where there is none; None without any.
    """

    name: str
    unit: str
    values: NDArray[np.float64]
    meaning: str
    interval: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class Prediction:
    """Swept parameters and results, row by row.

    ``used`` are the other parameters that were given or that the machine has, ``defaults`` those without a given value
    that count in the result: each with its value in the table's unit and its origin. ``beyond`` lists what was
    extrapolated; ``uncertain`` how many of the machine's values that enter state an uncertainty, and how many enter.
    """

    model: Model
    used: tuple[tuple[str, str, str], ...]
    defaults: tuple[tuple[str, str, str], ...]
    swept: tuple[Column, ...]
    results: tuple[Column, ...]
    beyond: tuple[Beyond, ...] = ()
    uncertain: tuple[int, int] | None = None

    @property
    def count(self) -> int:
        """Rows of the table."""
        return len((*self.swept, *self.results)[0].values)

    def rows(self) -> list[dict[str, float]]:
        """One dict per row, names as keys."""
        columns = (*self.swept, *self.results)
        return [{c.name: float(c.values[i]) for c in columns} for i in range(len(columns[0].values))]

    def saturated(self, column: Column) -> NDArray[np.bool_]:
        """Row by row, whether the column is a result that is inf because a channel has no time left (rho >= 1).

        Other infinities are no saturation: a limit that does not exist, a size that is never reached.
        """
        loads = [c.values >= 1.0 for c in self.results if c.name.split("_")[0] == "rho" or c.name.endswith("_rho")]
        if not loads or not any(column is result for result in self.results):
            return np.zeros(len(column.values), dtype=bool)
        return np.asarray(np.isinf(column.values) & np.any(loads, axis=0))


def overheads(model: Model) -> bool:
    """Whether the model has o_s and o_r but no o, which then is a short way to give both."""
    names = {parameter.name for parameter in model.parameters}
    return {"o_s", "o_r"} <= names and "o" not in names


def parameters(model: Model) -> dict[str, Parameter]:
    """What may be given by name: the model's parameters, and o where it stands for both overheads."""
    known = {parameter.name: parameter for parameter in model.parameters}
    if overheads(model):
        known["o"] = Parameter("o", "time", "both overheads")
    return known
