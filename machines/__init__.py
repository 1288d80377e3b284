"""What a machine is: schema, files with sources, topologies, and the flat numbers for the replay engine."""

from __future__ import annotations

from logpost.machines.parameters import Log3PTable, Quality, RangeValues, ReplayParameters
from logpost.machines.parameters.loggp import assemble, estimated_parameters, replay_parameters
from logpost.machines.schema import LOCALITIES, Machine
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
