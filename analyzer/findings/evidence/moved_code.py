"""Code that stands before a call and could stand behind it: the calls come earlier, all other work stays.

Who posts behind work, or completes behind it, keeps others waiting for that. With the code behind the call the ranks
that wait go on, and the same code is run before the next call of its location. Code for which nobody waits may as well
stay. Of the program, that is other gaps only: a replay then lets messages and operations meet as they would
(`evidence.replayed`). Times in ps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Flags, Graph
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int64

MOSTLY = 0.9
"""Of the code: what stands before other calls, such as the wrapper's own, does not matter."""


def moved_behind(graph: Graph, calls: npt.NDArray[np.integer], most_ps: Int64 | None = None) -> Int64:
    """By call: the code before it, if what stands directly before each of these calls stood behind it.

    Arguments:
        graph: of the run.
        calls: each of them once.
        most_ps: of the code before each of these calls, what moves at most; None: all of it.
    """
    gaps: Int64 = np.array(graph.gap_ps, dtype=np.int64)
    some = graph.following[calls] >= 0  # what is behind a last call takes part in no replay
    here = calls[some]
    moved = graph.gap_ps[here] if most_ps is None else np.minimum(graph.gap_ps[here], most_ps[some])
    gaps[here] -= moved
    np.add.at(gaps, graph.following[here], moved)
    return gaps


def stands_directly_before(graph: Graph, calls: npt.NDArray[np.integer], since: Flags) -> bool:
    """Whether most of the code between the last of the calls flagged and each of these, at its location, stands
    directly before these: what is moved then passes no other call."""
    rows = np.arange(graph.count)
    last = np.maximum.accumulate(np.where(since | ~graph.follows, rows, 0))
    code = np.cumsum(graph.gap_ps)
    before = np.where(graph.follows[calls], last[calls - 1], calls)
    own = graph.gap_ps[calls]
    whole = np.where(graph.follows[calls], code[calls] - code[before], own)
    return exact_sum(own) >= MOSTLY * exact_sum(whole)
