"""From a machine file to the flat numbers that the replay engine computes with, and what a file can feed."""

from __future__ import annotations

from logpost.machines.parameters.table import (
    COLUMNS,
    ESTIMATED,
    MEANINGS,
    NO_SIDES,
    PARAMETERS,
    UNKNOWN_LIMIT,
    UNLIMITED,
    BeyondLogGP,
    Log3PTable,
    Quality,
    RangeValues,
    ReplayParameters,
    class_index,
)

__all__ = [
    "COLUMNS",
    "ESTIMATED",
    "MEANINGS",
    "NO_SIDES",
    "PARAMETERS",
    "UNKNOWN_LIMIT",
    "UNLIMITED",
    "BeyondLogGP",
    "Log3PTable",
    "Quality",
    "RangeValues",
    "ReplayParameters",
    "class_index",
]
