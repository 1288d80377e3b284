"""OVL 2.2, Fig. 6: the forms of the program compared, each with the same messages in the same bursts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from logpost.experiments.best_overlap.decomposition import Decomposed, decompositions, doubles_text
from logpost.experiments.best_overlap.landscapes import Landscape
from logpost.experiments.best_overlap.nic_queue import played
from logpost.experiments.best_overlap.problems import ASSUMED, BURSTS, VOLUMES
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Claim, Number, Part, Table, derived, setting

FORMS = {
    "A": "blocking",
    "B": "communication overlaps communication",
    "C": "and computation, tight dependencies",
    "E": "C, pipelined",
}


@dataclass(frozen=True)
class Compared:
    """One decomposition of a volume in each of FORMS."""

    landscape: Landscape
    case: Decomposed
    times: dict[str, float]
    """us."""

    @property
    def ordered(self) -> bool:
        """Each form is faster than the one before it."""
        times = [self.times[form] for form in FORMS]
        return all(one > other for one, other in pairwise(times))


def forms(context: Context, landscapes: tuple[Landscape, ...]) -> Part:
    """Played on a NIC with a queue, for the problems of Fig. 7 to 9."""
    volumes = [VOLUMES[i] for i in context.size((0, 3, 6, 9), (0,))]
    most = context.size(512, 64)
    found = [
        _compared(one, case)
        for one in landscapes
        for V in volumes
        for case in decompositions(V, most, BURSTS)
        # A burst of all messages leaves no next one to initiate, and one of a single message none to overlap with.
        if 1 < case.b < V // case.S
    ]
    shown = [(one, V) for one in landscapes for V in volumes]

    def least(form: str) -> Callable[[tuple[Landscape, int]], Number]:
        return lambda row: Number(
            100 * min(c.times[form] / c.times["A"] for c in found if (c.landscape, c.case.V) == row), "%"
        )

    table = Table.of(
        "Fig. 6: forms of overlap, time over that of blocking with the same messages",
        shown,
        setting("problem", lambda row: f"{row[0].title}, {doubles_text(row[1])}"),
        *(derived(f"{form}: {said}", least(form)) for form, said in FORMS.items() if form != "A"),
        note=f"The least over {len(found)} decompositions of these volumes with bursts of two messages or more, NIC "
        "with a queue.",
    )
    ordered = sum(one.ordered for one in found)
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


def _compared(landscape: Landscape, case: Decomposed) -> Compared:
    network, ratio = landscape.middle, landscape.ratio
    return Compared(
        landscape,
        case,
        {
            "A": played(network, ratio, replace(case, b=1), "C"),
            "B": played(network, ratio, case, "B"),
            "C": played(network, ratio, case, "C"),
            "E": played(network, ratio, case, "E"),
        },
    )
