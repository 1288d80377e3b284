"""All values of a machine that a model may take and the user did not give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from logpost.machines import Machine
from logpost.replay.models.interface import Model
from logpost.replay.predict.machine_values.log3p import log3p_values
from logpost.replay.predict.machine_values.loggp import OVERLAP, loggp_values
from logpost.replay.predict.machine_values.network import logpc_values, network_values
from logpost.replay.predict.machine_values.overlap import overlap_values


def machine_values(
    model: Model, machine: Machine, given: Mapping[str, Any], *, locality: str = "other_node"
) -> dict[str, Any]:
    """Values of ``machine`` for the parameters of ``model`` that ``given`` does not set; times in ps.

    ``given`` also selects: B (or S), stride, b, P. Raises ModelError for a locality class that does not exist or
    that the machine has no values for.
    """
    wanted = {parameter.name for parameter in model.parameters}
    offered: dict[str, Any] = {}
    offered.update(loggp_values(model, machine, given, locality))
    offered.update(logpc_values(machine))
    offered.update(network_values(model, machine, given))
    if {"o_mw", "o_net"} & wanted:
        offered.update(log3p_values(machine, given, wanted - given.keys(), locality))
    if model.name in OVERLAP:
        offered = overlap_values(model, machine, given, offered, locality)
    return {name: value for name, value in offered.items() if name in wanted and name not in given}
