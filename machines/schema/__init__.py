"""What a machine file may say, and the way from TOML to a checked `Machine` and back."""

from __future__ import annotations

from logpost.machines.schema.machine import (
    FORMAT,
    LOCALITIES,
    NAME,
    LocalityClass,
    Log3PPoint,
    LogGP,
    Machine,
    Observation,
    Range,
    Source,
)

__all__ = [
    "FORMAT",
    "LOCALITIES",
    "NAME",
    "LocalityClass",
    "Log3PPoint",
    "LogGP",
    "Machine",
    "Observation",
    "Range",
    "Source",
]
