"""OVL Fig. 10's knee: the NIC's TLB covers less than what is in flight.

The paper prints 128 entries and "the volume of outstanding communication requests to 4MB", found "by inspection": an
entry of 32 KB. The processor's own pages, 4 KB, are the other end of the band; a miss costs up to a round trip.
"""

from __future__ import annotations

from dataclasses import replace

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.experiments.best_overlap.decomposition import Decomposed, size_text
from logpost.experiments.best_overlap.nic_queue import played
from logpost.experiments.best_overlap.problems import (
    BURSTS,
    ELAN4,
    ELAN_RATIO,
    GROWTHS,
    SCALES,
    VOLUMES,
    Network,
    Translations,
)
from logpost.experiments.framework.result import Cell, Claim, Column, Difference, Figure, Number, Origin, Part, Table

ENTRIES, ENTRIES_ELAN3 = 128, 32
"""Printed (3.1)."""
LIMIT = int(ELAN4.outstanding)
OPTERON_PAGE = 4096
"""Bytes: of the AMD64 architecture (AMD64 Architecture Programmer's Manual, volume 2, 5.1)."""
PAGES = (LIMIT // ENTRIES, OPTERON_PAGE)
COUNTS = (4, 8, 16, 32)
"""Messages of V: with more, HD of them (printed, 2.1) are in flight before the limit is."""
MISSES = (1.0, 0.1)
"""Of a miss, in round trips: a band, as the paper prints none."""


def knee(getters: int) -> Part:
    """All get from one, in step: each has its share of that one's NIC."""
    V, without = VOLUMES[-1], _shared(getters)
    sizes = [V // count for count in COUNTS]
    bursts = BURSTS[:-1]
    plain = {case: _time(without, getters, case) for S in sizes for case in _cases(V, S)}
    knees: dict[tuple[int, int], int | None] = {}
    rises: dict[int, list[float]] = {page: [] for page in PAGES}
    shown: dict[Decomposed, float] = {}
    for page in PAGES:
        for miss in MISSES:
            network = replace(without, tlb=Translations(ENTRIES, page, miss * ELAN4.L))
            times = {case: _time(network, getters, case) for case in plain}
            shown = shown or times
            rises[page].append(max(times[case] / plain[case] - 1.0 for case in plain))
            for S in sizes:
                slower = [case.b * S for case in plain if case.S == S and times[case] > plain[case]]
                knees[S, page] = min(slower, default=None)
    chart = curves(
        [
            Curve(
                size_text(S), [float(c.b) for c in _cases(V, S)], [shown[c] / 1e3 for c in _cases(V, S)], "testbed", hue
            )
            for hue, S in enumerate(sizes)
        ],
        Axis("burst length b", log=True, ticks=bursts),
        Axis("time (ms)", zero=False),
        f"{getters} processes get {size_text(V)} each from one, whose NIC translates {ENTRIES} pages of "
        f"{size_text(PAGES[0])}; a miss costs {ELAN4.L:g} us.",
    )
    at_limit = all(knees[S, PAGES[0]] == LIMIT for S in sizes)
    rows: list[tuple[Cell, ...]] = [
        (size_text(S), Number(LIMIT // S), *(_burst(knees[S, page], S) for page in PAGES)) for S in sizes
    ]
    table = Table(
        f"Fig. 10: the knee, NIC with a TLB of {ENTRIES} entries",
        (
            Column("S", Origin.SETTING),
            Column("b from which 4 MB are outstanding", Origin.PAPER),
            *(Column(f"first slower b, pages of {size_text(page)}", Origin.DERIVED, ELAN4.machine) for page in PAGES),
        ),
        tuple(rows),
        note="Slower than on the same NIC without a TLB, whatever a miss costs between "
        f"{min(MISSES) * ELAN4.L:g} and {max(MISSES) * ELAN4.L:g} us. –: at no burst.",
    )
    said = "; ".join(
        f"pages of {size_text(page)}: from {size_text(min(k for (_, p), k in knees.items() if p == page and k))}, by "
        f"up to {100 * min(rises[page]):.2g} to {100 * max(rises[page]):.2g} %"
        for page in PAGES
    )
    return Part(
        tables=(table,),
        figures=(Figure(f"Fig. 10: the knee of the TLB, V = {size_text(V)}", chart),),
        claims=(
            Claim(
                "Decompositions beyond the TLB's coverage are slower (the knee of Fig. 10)",
                "beyond 4 MB outstanding",
                said,
                at_limit,
                given=f"a page of {size_text(PAGES[0])} is the printed limit over the printed {ENTRIES} entries",
                reason="the knee is where as many pages are in flight as the TLB has entries",
            ),
        ),
        differences=(
            Difference(
                f"One limit of 4 MB for both Quadrics NICs, with {ENTRIES} and {ENTRIES_ELAN3} entries.",
                f"as coverage it needs pages of {size_text(LIMIT // ENTRIES)} and {size_text(LIMIT // ENTRIES_ELAN3)}; "
                f"with the processor's {size_text(OPTERON_PAGE)} the knee is at {size_text(ENTRIES * OPTERON_PAGE)}. "
                "The paper calls the limit empirical.",
            ),
        ),
    )


def _shared(getters: int) -> Network:
    """One getter's share of the owner's NIC."""
    middle = ELAN4.with_overheads(SCALES[0], GROWTHS[0])
    return replace(middle, G=getters * middle.G, service=getters * middle.service)


def _time(network: Network, getters: int, case: Decomposed) -> float:
    """The computation is in proportion to what the network alone would cost."""
    return played(network, ELAN_RATIO / getters, case)


def _cases(V: int, S: int) -> list[Decomposed]:
    return [Decomposed(V, S, b) for b in BURSTS if b <= V // S]


def _burst(outstanding: int | None, S: int) -> Cell:
    return None if outstanding is None else Number(outstanding // S)
