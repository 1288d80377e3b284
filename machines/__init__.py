"""What a machine is: schema, files with sources, topologies, and the flat numbers for the replay engine."""

from __future__ import annotations

from logpost.machines.load import file_hash, library_names, load_machine
from logpost.machines.loggp import assemble, estimated_parameters, replay_parameters
from logpost.machines.mapping import Mapping, parse_mapping
from logpost.machines.parameters import Log3PTable, Quality, RangeValues, ReplayParameters
from logpost.machines.schema import LOCALITIES, Machine
from logpost.machines.topologies import Topology

__all__ = [
    "LOCALITIES",
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
    "library_names",
    "load_machine",
    "parse_mapping",
    "replay_parameters",
]
