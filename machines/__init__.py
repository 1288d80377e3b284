"""What a machine is: schema, files with sources, topologies, and the flat numbers for the replay engine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logpost.machines.localities import LOCALITIES
from logpost.machines.parameters import Log3PTable, Quality, RangeValues, ReplayParameters

if TYPE_CHECKING:
    from logpost.machines.parameters.loggp import assemble, estimated_parameters, replay_parameters
    from logpost.machines.schema import Machine
    from logpost.machines.schema.load import file_hash, library_names, load_machine
    from logpost.machines.topologies import Topology
    from logpost.machines.topologies.distances import UNKNOWN_HOPS, hops_between, hops_matrix
    from logpost.machines.topologies.mapping import Mapping, parse_mapping

__all__ = [
    "LOCALITIES",
    "UNKNOWN_HOPS",
    "Log3PTable",
    "Machine",
    "Mapping",
    "Quality",
    "RangeValues",
    "ReplayParameters",
    "Topology",
    "assemble",
    "estimated_parameters",
    "file_hash",
    "hops_between",
    "hops_matrix",
    "library_names",
    "load_machine",
    "parse_mapping",
    "replay_parameters",
]

_OF_FILES = {
    "parameters.loggp": ("assemble", "estimated_parameters", "replay_parameters"),
    "schema": ("Machine",),
    "schema.load": ("file_hash", "library_names", "load_machine"),
    "topologies": ("Topology",),
    "topologies.distances": ("UNKNOWN_HOPS", "hops_between", "hops_matrix"),
    "topologies.mapping": ("Mapping", "parse_mapping"),
}


def __getattr__(name: str) -> Any:
    """What is of machine files, on first use: it imports their schema, and a replay needs the flat numbers alone."""
    for module, names in _OF_FILES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
