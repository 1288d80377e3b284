"""How far the times of an archive are corrected. Imports nothing, because the command line names the modes."""

from __future__ import annotations

from enum import Enum


class ClockMode(str, Enum):
    """As users name them, and the native reader (`analyzer/archive/native/clocks/clock_correction.hpp`)."""

    none = "none"
    offsets = "offsets"
    clc = "clc"
