"""A network is stated by its mean distance (k_d, n) or its sides (kx, ky, kz); values that do not count are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import Model
from logpost.replay.models.kary_ncube import SIDES
from logpost.replay.models.network_contention import NETWORK_PARAMETERS


def has_distances(model: Model) -> bool:
    """Whether the model takes NETWORK_PARAMETERS: its n counts dimensions, and its k_d may be given or computed."""
    return any(parameter.name == "k_d" for parameter in model.parameters)


def check_given(model: Model, given: Mapping[str, Any]) -> None:
    """Raises ModelError for values of the user's that contradict each other."""
    sides = [name for name in SIDES if name in given]
    if not has_distances(model):
        return
    if "k_d" in given and sides:
        raise ModelError(
            f"k_d and {', '.join(sides)} are both given, and each says how far messages go: keep k_d (with n), or "
            f"{', '.join(sides)}"
        )
    if "k_d" in given and given.get("self_messages") == "no":
        raise ModelError(
            "self_messages=no cannot be counted into a k_d that is given: give k_d without messages to oneself, which "
            "is N/(N-1) of the one with them for N nodes, and leave self_messages out"
        )


def check_all(model: Model, values: Mapping[str, Any], origin: Mapping[str, str]) -> None:
    """Raises ModelError for a network whose n is not that of its sides; ``values`` with those of the machine."""
    sides = [name for name in SIDES if name in values]
    if not has_distances(model) or "k_d" in values or not sides:
        return
    whose = ", ".join(dict.fromkeys(f" of {origin[name]}" for name in sides if origin[name] != "given"))
    if "kx" not in sides:
        raise ModelError(f"{', '.join(sides)} without kx: call the first dimension kx, or give k_d and n")
    # A dimension of one node is none.
    n = sum(np.asarray(values[name]) > 1.0 for name in sides)
    if "n" in values and (np.asarray(values["n"]) != n).any():
        raise ModelError(
            f"n is given, and {', '.join(sides)}{whose} say how many dimensions there are, which is another number: "
            "leave n out, or give k_d with it"
        )


def unused(model: Model, values: Mapping[str, Any], origin: Mapping[str, str]) -> set[str]:
    """Network parameters whose defaults do not enter the result for these values."""
    if not has_distances(model):
        return set()
    if "k_d" not in values and "kx" not in values:
        # Only a model for which the network is a part does without (the Diamond DAG's bound).
        return {parameter.name for parameter in NETWORK_PARAMETERS}
    found = set() if values.get("units") == "printed" else {"cycle"}
    if "k_d" not in values:
        found.add("n")
    elif origin["k_d"] == "given":
        found |= {"self_messages", "average"}
    return found
