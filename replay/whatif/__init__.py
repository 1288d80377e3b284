"""What-if replay: a program's dependency graph under other machines, other speeds of computation, or both."""

from __future__ import annotations

from logpost.replay.whatif.breakpoints import Curve, Segment, curve, reached
from logpost.replay.whatif.changes import Scenario, changed, on_machine
from logpost.replay.whatif.direction import Direction, direction
from logpost.replay.whatif.engine import Engine, Outcome

__all__ = [
    "Curve",
    "Direction",
    "Engine",
    "Outcome",
    "Scenario",
    "Segment",
    "changed",
    "curve",
    "direction",
    "on_machine",
    "reached",
]
