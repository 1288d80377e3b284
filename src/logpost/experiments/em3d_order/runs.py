"""EM3D in both orders over the span on the testbed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.experiments.framework.context import Context
from logpost.experiments.support.alewife import CYCLE_NS, EDGE_CYCLES
from logpost.experiments.support.programs import Simulated, simulate

ORIGINAL, IMPROVED = "original", "improved"
ORDERS = (ORIGINAL, IMPROVED)
PAPERS_ITERATIONS = 100
RANKS, NODES, DEGREE = 32, 3200, 32
"""The paper's (LOGPC 5.3.1), on the nodes of its mesh (3.3)."""
OTHER_WORK = (10, 30, 90)
"""Cycles per edge: a band around EDGE_CYCLES."""
HANDLERS, MACHINES_OWN = "handlers", "testbed"
"""What spends o_r = 122 cycles on a message: the program's handlers, so that the time in which a send is stalled is
distinct from the time spent on arrivals, or the testbed, as the machine's file says."""


@dataclass(frozen=True)
class Runs:
    """What was simulated."""

    spans: Sequence[int]
    works: Sequence[int]
    """Cycles per edge at the largest span; EDGE_CYCLES first."""
    iterations: int
    """Of the runs over the span."""
    analyzed: int
    """Iterations of the runs whose archives are analyzed."""
    every: Mapping[tuple[str, int, str, int], Simulated]
    """(order, span, what spends o_r, cycles per edge) -> run."""

    @property
    def largest(self) -> int:
        """Span of the analyzed runs, and of those with more work per edge."""
        return self.spans[-1]

    def times(self, order: str, what: str) -> list[float]:
        """`total_s` or `stall_s` over the span, seconds of PAPERS_ITERATIONS."""
        scale = PAPERS_ITERATIONS / self.iterations
        return [self.every[order, span, HANDLERS, EDGE_CYCLES].values[what] * scale for span in self.spans]

    def logp(self) -> list[float]:
        """LogP's run time over the span, seconds of PAPERS_ITERATIONS.

        Every rank sends and receives the mean number of messages at o_s + o_r each, and updates its edges; no waiting.
        With the hot spots gone LoGPC says the same (caption of Fig. 11).
        """
        from logpost.replay.models.papers.alewife import ALEWIFE_SHORT

        per_message = float(ALEWIFE_SHORT.o_s) + float(ALEWIFE_SHORT.o_r)
        work = self.iterations * NODES * DEGREE / RANKS * EDGE_CYCLES
        messages = [self.every[IMPROVED, span, HANDLERS, EDGE_CYCLES].messages for span in self.spans]
        scale = PAPERS_ITERATIONS / self.iterations
        return [(count / RANKS * per_message + work) * CYCLE_NS * 1e-9 * scale for count in messages]

    def saved(self, work: int, what: str) -> float:
        """Of `total_s` or `stall_s` by the improved order at the largest span, as a fraction."""
        before, after = (self.every[order, self.largest, HANDLERS, work].values[what] for order in ORDERS)
        return 1 - after / before

    def share(self, order: str, work: int) -> float:
        """Of the run time at the largest span, in which a rank's sends are stalled."""
        values = self.every[order, self.largest, HANDLERS, work].values
        return values["stall_s"] / values["total_s"]

    def own(self, order: str) -> Simulated:
        """The run whose archive is analyzed."""
        return self.every[order, self.largest, MACHINES_OWN, EDGE_CYCLES]


def run_all(context: Context) -> Runs:
    """Simulate; the archives of the largest span with the machine's own o_r are kept."""
    spans: Sequence[int] = context.size(full=tuple(range(1, 16)), quick=(1, 15))
    works = (EDGE_CYCLES, *context.size(full=OTHER_WORK, quick=()))
    iterations = context.size(full=3, quick=2)
    analyzed = context.size(full=5, quick=4)
    cases = [(order, span, HANDLERS, EDGE_CYCLES) for span in spans for order in ORDERS]
    cases += [(order, spans[-1], HANDLERS, work) for work in works[1:] for order in ORDERS]
    cases += [(order, spans[-1], MACHINES_OWN, EDGE_CYCLES) for order in ORDERS]

    def one(case: tuple[str, int, str, int]) -> Simulated:
        order, span, o_r, work = case
        count = iterations if o_r == HANDLERS else analyzed
        arguments = ["--order", order, "--span", str(span), "--iterations", str(count), "--receive", "interrupt"]
        arguments += ["--nodes", str(NODES), "--degree", str(DEGREE), "--edge-cycles", str(work)]
        arguments += ["--receive-cycles", "122" if o_r == HANDLERS else "0"]
        settings = {"o_r": "0cycle"} if o_r == HANDLERS else {}
        return simulate(
            context, "em3d", arguments, f"{order}-span-{span}-{o_r}-{work}", settings=settings, keep=o_r == MACHINES_OWN
        )

    every = context.found("orders and spans on the testbed", cases, one)
    return Runs(spans, works, iterations, analyzed, every)
