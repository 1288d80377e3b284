"""A run under other conditions: what the program would have taken."""

from __future__ import annotations

from logpost.analyzer.whatif.ask import Prediction, RegionChange, Replay, predict
from logpost.analyzer.whatif.axis import Axis
from logpost.analyzer.whatif.best_mapping import Proposal
from logpost.analyzer.whatif.contours import Contour
from logpost.analyzer.whatif.grid import Grid
from logpost.analyzer.whatif.network_use import NetworkChange, Use
from logpost.analyzer.whatif.plan import Ask
from logpost.analyzer.whatif.predicted_run import write_predicted
from logpost.analyzer.whatif.sweep import Piece, Point, Sweep
from logpost.analyzer.whatif.tolerance import TOLERATED, Tolerance

__all__ = [
    "TOLERATED",
    "Ask",
    "Axis",
    "Contour",
    "Grid",
    "NetworkChange",
    "Piece",
    "Point",
    "Prediction",
    "Proposal",
    "RegionChange",
    "Replay",
    "Sweep",
    "Tolerance",
    "Use",
    "predict",
    "write_predicted",
]
