"""A run under other conditions: what the program would have taken."""

from __future__ import annotations

from logpost.analyzer.whatif.ask import Ask, Point, Prediction, RegionChange, Sweep, predict
from logpost.analyzer.whatif.tolerance import TOLERATED, Tolerance

__all__ = ["TOLERATED", "Ask", "Point", "Prediction", "RegionChange", "Sweep", "Tolerance", "predict"]
