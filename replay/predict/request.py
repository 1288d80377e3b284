"""What the user asked for, read: --set and --sweep texts as values by parameter, and the grid of the sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import Model, Parameter
from logpost.replay.predict.quantities import MOST_POINTS, parse_assignments, parse_sweep, parse_value
from logpost.replay.predict.scale import Scale
from logpost.replay.predict.table import overheads, parameters


@dataclass(frozen=True)
class Request:
    """``sets`` and ``sweeps``: parameter and text as written. Every name is one of the model's and occurs once."""

    model: Model
    sets: tuple[tuple[Parameter, str], ...]
    sweeps: tuple[tuple[Parameter, str], ...]

    @property
    def written(self) -> tuple[tuple[Parameter, str], ...]:
        return (*self.sets, *self.sweeps)

    def values(self, scale: Scale) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
        """All values by name in base units, and the swept ones among them, one entry per row.

        Raises ModelError for what cannot be read and for more than MOST_POINTS rows.
        """
        unit, clock = scale.unit, scale.clock_hz
        given: dict[str, Any] = {p.name: parse_value(p, text, time_unit=unit, clock_hz=clock) for p, text in self.sets}
        axes = {p.name: parse_sweep(p, text, time_unit=unit, clock_hz=clock) for p, text in self.sweeps}
        rows = prod(len(axis) for axis in axes.values())
        if rows > MOST_POINTS:
            sizes = " x ".join(f"{name}: {len(axis)}" for name, axis in axes.items())
            raise ModelError(
                f"the sweeps make {rows} rows ({sizes}), and a table has at most {MOST_POINTS}: ask for fewer"
            )
        grids = np.meshgrid(*axes.values(), indexing="ij") if axes else []
        columns = {name: np.asarray(grid.ravel()) for name, grid in zip(axes, grids, strict=True)}
        return {**given, **columns}, columns


def read_request(model: Model, assignments: Sequence[str], sweeps: Sequence[str]) -> Request:
    """The texts by parameter. Raises ModelError for an unknown name, one that is given twice, and an unused o."""
    known = parameters(model)
    seen: set[str] = set()
    groups = []
    for option, texts in (("--set", assignments), ("--sweep", sweeps)):
        group = []
        for name, text in parse_assignments(texts, option):
            if name not in known:
                raise ModelError(f"model {model.name} has no parameter {name!r}; it takes {', '.join(known)}")
            if name in seen:
                raise ModelError(f"{name} is given twice; keep one {option} {name}=...")
            seen.add(name)
            group.append((known[name], text))
        groups.append(tuple(group))
    if overheads(model) and {"o", "o_s", "o_r"} <= seen:
        raise ModelError("o is given in addition to o_s and o_r, which leave nothing to it: leave o out")
    return Request(model, *groups)
