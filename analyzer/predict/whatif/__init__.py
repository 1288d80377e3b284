"""A run under other conditions: what the program would have taken."""

from __future__ import annotations

from logpost.analyzer.predict.whatif.ask import Lengths, Prediction, RegionChange, Replay, lengths, predict
from logpost.analyzer.predict.whatif.axis import Axis
from logpost.analyzer.predict.whatif.contours import Contour
from logpost.analyzer.predict.whatif.grid import Grid
from logpost.analyzer.predict.whatif.mapping import Proposal
from logpost.analyzer.predict.whatif.network_use import NetworkChange, Use
from logpost.analyzer.predict.whatif.plan import Ask
from logpost.analyzer.predict.whatif.sweep import Piece, Point, Sweep
from logpost.analyzer.predict.whatif.tolerance import TOLERATED, Tolerance

__all__ = [
    "TOLERATED",
    "Ask",
    "Axis",
    "Contour",
    "Grid",
    "Lengths",
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
    "lengths",
    "predict",
]
