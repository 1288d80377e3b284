"""What-if replay: a program's dependency graph under other machines, other speeds of computation, or both."""

from __future__ import annotations

from logpost.replay.graph.breakpoints import Curve, Segment, curve, reached
from logpost.replay.graph.changes import Scenario, changed, on_machine
from logpost.replay.graph.direction import Direction, direction
from logpost.replay.graph.engine import Engine, Outcome, StoredGraph

__all__ = [
    "Curve",
    "Direction",
    "Engine",
    "Outcome",
    "Scenario",
    "Segment",
    "StoredGraph",
    "changed",
    "curve",
    "direction",
    "on_machine",
    "reached",
]
