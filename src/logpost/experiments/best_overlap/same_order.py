"""OVL 3.4: all-to-all in which all processes get from their peers in the same order, or each from its neighbour on."""

from __future__ import annotations

from collections.abc import Callable

from logpost.experiments.best_overlap.decomposition import Decomposed, case_text, decompositions, doubles_text
from logpost.experiments.best_overlap.problems import COMM_BOUND, INFINIBAND, VOLUMES
from logpost.experiments.best_overlap.simulation import on_testbed
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Number, Part, Table, setting, testbed

SAME, STAGGERED = "same", ("contiguous", "interleaved")
"""The program's names: P0, P0 .. P1, P1 for all; P(i+1) .. P(i+2) one after the other, or in turns."""


def same_order(context: Context) -> Part:
    """Simulated on the testbed, whose transfers share the link of the process that they are from."""
    ranks = context.size(8, 4)
    V = VOLUMES[context.size(3, 0)]
    cases = decompositions(V, context.size(16, 4), context.size((1, 4, 16), (1, 4)))
    runs = [(case, schedule) for case in cases for schedule in (SAME, *STAGGERED)]
    found = context.found(
        "3.4: order of the peers",
        runs,
        lambda run: on_testbed(
            context,
            INFINIBAND,
            COMM_BOUND,
            run[0],
            ranks=ranks,
            arguments=("--topology", "all-to-all", "--schedule", run[1]),
        ),
    )

    def took(schedule: str) -> Callable[[Decomposed], Number]:
        return lambda case: Number(found[case, schedule], "us")

    slower = [found[case, SAME] / max(found[case, schedule] for schedule in STAGGERED) for case in cases]
    table = Table.of(
        f"3.4: all-to-all of {ranks} processes by the order of their peers, {doubles_text(V)} from each",
        cases,
        setting("S × b", lambda case: case_text(case)),
        *(testbed(one, INFINIBAND.machine, took(one)) for one in (SAME, *STAGGERED)),
        note="Same: all processes get from process 0 first. The others begin with their next neighbour.",
    )
    return Part(
        tables=(table,),
        claims=(
            Claim(
                "All-to-all in which all processes have the same order of peers is the worst case",
                "the worst case for performance: hot-spots",
                f"{min(slower):.2f} to {max(slower):.2f} times the slower of the staggered orders, over {len(cases)} "
                "decompositions",
                min(slower) > 1.0,
                assumption=f"{ranks} ranks on a crossbar, transfers share the link of their owner, o and G as in "
                "Fig. 7 without growth",
            ),
        ),
    )
