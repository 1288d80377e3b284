"""OVL Fig. 11 and 12: every process gets from several peers, one after the other (contiguous) or interleaved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logpost.experiments.best_overlap.decomposition import (
    Decomposed,
    case_text,
    decompositions,
    doubles_text,
    whole,
)
from logpost.experiments.best_overlap.loss_map import loss_map
from logpost.experiments.best_overlap.problems import COMM_BOUND, GOOD, INFINIBAND, VOLUMES
from logpost.experiments.best_overlap.search import Searched, choice, choices_cells, loss_cell, times_cells
from logpost.experiments.best_overlap.simulation import on_testbed
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cell, Claim, Column, Difference, Figure, Origin, Part, Table

if TYPE_CHECKING:
    from logpost.replay.models.overlap import Topology

SCHEDULES: dict[str, tuple[int, Topology]] = {
    "contiguous": (11, "multi-contiguous"),
    "interleaved": (12, "multi-interleaved"),
}
"""The program's name of a schedule -> its figure (Fig. 11, Fig. 12), and the model's name."""


def several_peers(context: Context) -> Part:
    """Exhaustive searches under both schedules, on the testbed."""
    ranks, peers = context.size((8, 4), (3, 2))
    rows: list[tuple[Cell, ...]] = []
    figures = []
    found = []
    for schedule, (number, _) in SCHEDULES.items():
        searches = _searches(context, schedule, ranks, peers)
        found.append(searches)
        rows += [
            (
                f"{schedule}, {doubles_text(one.V)}",
                *choices_cells(one),
                *times_cells(one),
                loss_cell(one, one.chosen),
            )
            for one in searches
        ]
        if len(searches) > 1:
            last = searches[-1]
            said = f"{schedule}: best {case_text(last.best)}, model {case_text(last.chosen)}."
            figures.append(Figure(f"Fig. {number}: several end-points, {schedule} peers", loss_map(searches, said)))
    table = Table(
        f"Fig. 11 and 12: several end-points, {ranks} ranks with {peers} peers each",
        (
            Column("schedule and V", Origin.SETTING),
            Column("best S × b", Origin.SETTING),
            Column("model's S × b", Origin.SETTING),
            Column("whole messages", Origin.TESTBED, INFINIBAND.machine),
            Column("best", Origin.TESTBED, INFINIBAND.machine),
            Column("model's choice", Origin.TESTBED, INFINIBAND.machine),
            Column("loss", Origin.DERIVED),
        ),
        tuple(rows),
        note="Loss against whole messages that overlap already, the paper's base here.",
    )
    apart = [abs(one.times[one.best] / other.times[other.best] - 1.0) for one, other in zip(*found, strict=True)]
    return Part(
        tables=(table,),
        figures=tuple(figures),
        claims=(
            Claim(
                "Contiguous and interleaved peers hardly differ for their best decompositions (judged: by less than "
                "the 12 % that Table 2 calls relatively small)",
                "minimal for the optimal case",
                f"at most {100 * max(apart):.1f} % apart",
                max(apart) < GOOD,
                assumption=f"{ranks} ranks with {peers} peers each on a crossbar, o and G as in Fig. 7 without growth",
            ),
        ),
        differences=(
            Difference(
                "Contiguous and interleaved peers hardly differ (Fig. 11, 12).",
                "the simulated network is one crossbar without route contention, so G_N = G_C; and 8 ranks with 4 "
                "peers each instead of 32.",
            ),
        ),
    )


def _searches(context: Context, schedule: str, ranks: int, peers: int) -> list[Searched]:
    """One for each volume."""
    number, topology = SCHEDULES[schedule]
    volumes = context.size([VOLUMES[3], VOLUMES[6]], [VOLUMES[0]])
    most, bursts = context.size((128, (1, 4, 16)), (16, (1, 8)))
    cases = [case for V in volumes for case in decompositions(V, most, bursts)]
    arguments = ("--topology", "multiple", "--peers", str(peers), "--schedule", schedule)

    def time(case: Decomposed) -> float:
        return on_testbed(context, INFINIBAND, COMM_BOUND, case, ranks=ranks, arguments=arguments)

    times = context.found(f"Fig. {number}: {schedule} peers", cases, time)
    searches = []
    for V in volumes:
        here = {case: took for case, took in times.items() if case.V == V}
        t_V = INFINIBAND.computation(COMM_BOUND, V)
        chosen = choice(INFINIBAND.profile(), V, t_V, "balanced", here, P=peers, topology=topology)
        # The base case of Fig. 11 and 12 overlaps already: whole messages, the next peer's while computing.
        searches.append(Searched(V, COMM_BOUND, here[whole(V)], here, chosen))
    return searches
