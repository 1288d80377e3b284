"""OVL 2.2, Fig. 6: the forms of the program compared, each with the same messages in the same bursts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from logpost.experiments.best_overlap.decomposition import Decomposed, decompositions, doubles_text
from logpost.experiments.best_overlap.landscapes import Landscape
from logpost.experiments.best_overlap.nic_queue import Pattern, played
from logpost.experiments.best_overlap.problems import ASSUMED, BURSTS, VOLUMES
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Number, Part, Table, derived, setting

FORMS: dict[Pattern, str] = {
    "B": "communication overlaps communication",
    "C": "and computation, tight dependencies",
    "E": "C, pipelined",
}
"""After A, which is blocking."""


def forms(context: Context, landscapes: tuple[Landscape, ...]) -> Part:
    """Played on a NIC with a queue, for the problems of Fig. 7 to 9."""
    volumes = [VOLUMES[i] for i in context.size((0, 3, 6, 9), (0,))]
    most = context.size(512, 64)
    found = {
        (one.title, case): _times(one, case)
        for one in landscapes
        for V in volumes
        for case in decompositions(V, most, BURSTS)
        # A burst of all messages leaves no next one to initiate, and one of a single message none to overlap with.
        if 1 < case.b < V // case.S
    }

    def least(place: int) -> Callable[[tuple[str, int]], Number]:
        def cell(row: tuple[str, int]) -> Number:
            mine = [times for (title, case), times in found.items() if (title, case.V) == row]
            return Number(100 * min(times[place] / times[0] for times in mine), "%")

        return cell

    table = Table.of(
        "Fig. 6: forms of overlap, time over that of blocking with the same messages",
        [(one.title, V) for one in landscapes for V in volumes],
        setting("problem", lambda row: f"{row[0]}, {doubles_text(row[1])}"),
        *(derived(f"{form}: {said}", least(place)) for place, (form, said) in enumerate(FORMS.items(), start=1)),
        note=f"The least over {len(found)} decompositions of these volumes with bursts of two messages or more, NIC "
        "with a queue.",
    )
    ordered = sum(all(one > other for one, other in pairwise(times)) for times in found.values())
    return Part(
        tables=(table,),
        claims=(
            Claim(
                "Each form of Fig. 6 improves on the one before: communication that overlaps communication (B) on "
                "blocking (A), with computation (C) on B, pipelined (E) on C",
                "better, even better, improved (2.2)",
                f"in {ordered} of {len(found)} decompositions",
                ordered == len(found),
                assumption=ASSUMED,
                reason="C is not always slower than E: E initiates two bursts before its first computation, which long "
                "ones put off where computation hides the transfers anyway, or where they fill the queue",
            ),
        ),
    )


def _times(landscape: Landscape, case: Decomposed) -> list[float]:
    """Of A and of FORMS, us."""
    blocking = played(landscape.middle, landscape.ratio, replace(case, b=1), "C")
    return [blocking, *(played(landscape.middle, landscape.ratio, case, form) for form in FORMS)]
