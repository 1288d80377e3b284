"""A run under other conditions: what the program would have taken."""

from __future__ import annotations

from logpost.analyzer.whatif.ask import Ask, Prediction, RegionChange, Replay, predict
from logpost.analyzer.whatif.sweep import Piece, Point, Sweep
from logpost.analyzer.whatif.tolerance import TOLERATED, Tolerance

__all__ = [
    "TOLERATED",
    "Ask",
    "Piece",
    "Point",
    "Prediction",
    "RegionChange",
    "Replay",
    "Sweep",
    "Tolerance",
    "predict",
]
