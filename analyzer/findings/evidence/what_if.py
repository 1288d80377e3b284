"""What the program saves under a hypothesis: other gaps, work or waits in the graph of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Flags, Graph, Reason
from logpost.replay.columns import Int32, Int64


@dataclass(frozen=True)
class Hypothesis:
    """What is different from the run; None: nothing. Columns by row of the calls or the messages; times in ps."""

    gap_ps: Int64 | None = None
    """code before each call, instead of what was measured"""
    work_ps: Int64 | None = None
    """what each call does itself, likewise"""
    share: npt.NDArray[np.float64] | None = None
    """of each call's work, and of what it takes from its own begin to a message's end, what remains"""
    freed: Flags | None = None
    """calls that wait for nobody"""
    later: Int32 | None = None
    """the later call that waits instead of each call, behind its own work; -1: itself"""
    member_ps: Int64 | None = None
    """of each call's waits for members of an operation, the lag at most: what it takes when all have come"""
    stay_ps: Int64 | None = None
    """by call: what it takes at least, waiting included"""
    earlier: Int32 | None = None
    """by call: an earlier call of its location, for whose end those who wait for it wait instead; -1: as it was; -2:
    nobody waits for it"""
    less_ps: npt.NDArray[np.int64] | None = None
    """by message: taken off the lag of every wait for it"""
    most_ps: npt.NDArray[np.int64] | None = None
    """by message: that lag at most"""
    instead: Int32 | None = None
    """by message: what its receiver waits for instead of its send: twice a call's row for its enter, one more for its
    leave; nobody waits for such a message else; -1: as it was"""
    lag_ps: Int64 | None = None
    """by message: how long after that it is there"""
    dropped: tuple[Reason, ...] = ()
    """for what nobody waits"""
    of: Flags | None = None
    """by message: those for which that is so; None: all"""
    calibrated: bool = False
    """its lags are those of a replay that gives back the measured times, not what a machine says of messages"""

    @property
    def takes_parts(self) -> bool:
        """Whether it rests on what a machine says of messages or operations, and not on measured times alone."""
        parts = (self.less_ps, self.most_ps, self.lag_ps, self.member_ps)
        return not self.calibrated and any(column is not None for column in parts)

    def columns(self) -> dict[str, Any]:
        """Those that are given, as the engine takes them."""
        kinds = {"gap_ps": np.int64, "work_ps": np.int64, "share": np.float64, "freed": np.uint8}
        kinds |= {
            "later": np.int32,
            "member_ps": np.int64,
            "stay_ps": np.int64,
            "earlier": np.int32,
            "less_ps": np.int64,
            "most_ps": np.int64,
            "instead": np.int32,
            "lag_ps": np.int64,
            "of": np.uint8,
        }
        given = {name: getattr(self, name) for name in kinds}
        return {
            name: np.ascontiguousarray(column, dtype=kinds[name])
            for name, column in given.items()
            if column is not None
        }


@dataclass(frozen=True)
class Cure:
    """A program without a cause."""

    graph: Graph
    """of the program, maybe of its first part"""
    hypothesis: Hypothesis
    at_least: Hypothesis | None = None
    """the same at the other end of what the machine leaves open: none of the time that it does not divide goes with the
    cause, or bytes take no time"""
    length_ps: int | None = None
    """of the graph with the hypothesis; None: nobody has replayed it"""

    def gain(self) -> float:
        """What it saves, as a fraction of the time."""
        length = self.length_ps
        if length is None:
            length = self.graph.native.replay(self.hypothesis.columns(), list(self.hypothesis.dropped))["length_ps"]
        return max(0.0, 1.0 - length / max(1, self.graph.length_ps))


@dataclass(frozen=True)
class Saving:
    """What a hypothesis saves."""

    gain: float
    """fraction of the time"""
    removes: Mapping[tuple[int, int], float]
    """(location, call path) to the waiting there that disappears; ps"""
    cure: Cure | None = None
    """of which hypothesis that is"""


def saving_if(graph: Graph, hypothesis: Hypothesis) -> Saving:
    """A hypothesis beside the run as it was."""
    if graph.length_ps <= 0:
        return Saving(0.0, {})
    after = graph.native.replay(hypothesis.columns(), list(hypothesis.dropped))
    removed = graph.by_place(graph.length - graph.work_ps) - graph.by_place(after["waited_ps"])
    cure = Cure(graph, hypothesis, length_ps=after["length_ps"])
    return Saving(
        gain=cure.gain(),
        removes={place: time for place, time in zip(graph.places[0], removed.tolist(), strict=True) if time > 0},
        cure=cure,
    )
