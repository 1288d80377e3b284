"""The option --unit of verbs that write or read a GOAL schedule."""

from __future__ import annotations

from enum import Enum


class Unit(str, Enum):
    """Of a schedule's times."""

    ns = "ns"
    ps = "ps"
