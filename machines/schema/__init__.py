"""What a machine file may say, and the way from TOML to a checked `Machine` and back."""

from __future__ import annotations

from logpost.machines.schema.machine import (
    FORMAT,
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
    "NAME",
    "LocalityClass",
    "Log3PPoint",
    "LogGP",
    "Machine",
    "Observation",
    "Range",
    "Source",
]
