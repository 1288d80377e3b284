"""OVL Fig. 3: the bandwidth between two processors, in one direction and in both.

Both directions of the paper's nodes share the PCI bus, so that a byte costs twice in both; what a NIC does for each
message, it does for one direction. On the machine that the experiments run on both are measured, an addition for each
value included.
"""

from __future__ import annotations

from dataclasses import replace

from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.errors import InputError
from logpost.experiments.best_overlap.decomposition import Decomposed, size_text
from logpost.experiments.best_overlap.nic_queue import played
from logpost.experiments.best_overlap.problems import ASSUMED, ELAN4, GROWTHS, INFINIBAND, SCALES, Network
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import (
    Claim,
    Column,
    Figure,
    Number,
    Origin,
    Part,
    Table,
    derived,
    measured,
    setting,
)
from logpost.experiments.support.launches import Program, run_here

SIZES = tuple(1 << i for i in range(3, 21))
MESSAGES = 256
"""Of each size: enough that the first and the last hide, and more than the deepest queue."""
SATURATED = 0.9
"""Of the peak; none is printed. The claim holds for any share, as both curves have the same shape."""
HALF, HALF_DIGIT = 0.5, 0.05
""""Roughly half of the unidirectional bandwidth" (2.1), to its one digit."""
BURST = 16
"""On this machine: all messages in flight at once, fewer than the least printed queue depth, 32."""
HERE = ("--pattern", "B", "--mechanism", "two-sided", "--topology")
DIRECTIONS = {1: ("point",), 2: ("multiple", "--peers", "1")}
"""Unidirectional and bidirectional (Fig. 3), by the program's topologies."""


def two_ways(context: Context) -> Part:
    """Played on both networks, measured here."""
    networks = [one.with_overheads(SCALES[0], GROWTHS[0]) for one in (INFINIBAND, ELAN4)]
    rates = {
        (one.label, ways): [_rate(_shared(one, ways), S) for S in SIZES] for one in networks for ways in DIRECTIONS
    }
    chart = curves(
        [
            Curve(f"{label}, {_said(ways)}", [float(S) for S in SIZES], rate, "testbed", hue)
            for hue, ((label, ways), rate) in enumerate(rates.items())
        ],
        Axis("transfer size (B)", log=True),
        Axis("bandwidth of a processor (MB/s)"),
        "Bandwidth over the size, in one direction and in both.",
    )
    full = {key: _saturating(rate) for key, rate in rates.items()}
    halves = [rates[one.label, 2][-1] / rates[one.label, 1][-1] for one in networks]
    table = Table.of(
        "Fig. 3: bandwidth of a processor in one direction and in both",
        rates,
        setting("network", lambda case: f"{case[0]}, {_said(case[1])}"),
        derived(f"at {size_text(SIZES[-1])}", lambda case: Number(rates[case][-1], "MB/s")),
        derived(f"{100 * SATURATED:.0f} % of it from", lambda case: size_text(full[case])),
        note=f"{MESSAGES} messages of each size, as many in flight as the queue holds, played on a NIC with a queue.",
    )
    return Part(
        tables=(table, _here(context)),
        figures=(Figure("Fig. 3: bandwidth in one direction and in both", chart),),
        claims=(
            Claim(
                "In both directions a processor has half of the bandwidth",
                "roughly half",
                ", ".join(f"{share:.2f}" for share in halves),
                all(abs(share - HALF) < HALF_DIGIT for share in halves),
                given="both directions share one bus",
            ),
            Claim(
                "In both directions the network is saturated at another size than in one",
                "at a different message size",
                ", ".join(
                    f"{one.label} {size_text(full[one.label, 1])} and {size_text(full[one.label, 2])}"
                    for one in networks
                ),
                all(full[one.label, 1] != full[one.label, 2] for one in networks),
                assumption=f"what a message costs the NIC is not shared between directions; {ASSUMED}",
            ),
        ),
    )


def _shared(network: Network, ways: int) -> Network:
    return replace(network, G=ways * network.G)


def _rate(network: Network, S: int) -> float:
    """MB/s of messages without computation."""
    V = MESSAGES * S
    return V / played(network, 0.0, Decomposed(V, S, int(network.HD)))


def _saturating(rates: list[float]) -> int:
    return next(S for S, rate in zip(SIZES, rates, strict=True) if rate >= SATURATED * rates[-1])


def _said(ways: int) -> str:
    return "one direction" if ways == 1 else "both"


def _here(context: Context) -> Table:
    """Measured, or why not."""
    sizes = context.size((8, 512, 4096, 32768, 262144, 2**20), (32768,))
    programs = {
        (ways, S): Program("overlap", (*HERE, *how, "--repeat", "20", *_volume(S)), 2)
        for ways, how in DIRECTIONS.items()
        for S in sizes
    }
    try:
        found = run_here(context, "bandwidth in one direction and in both", list(programs.values()), context.size(3, 1))
    except InputError as error:
        return Table("This machine: bandwidth", (Column("not measured", Origin.SETTING),), ((str(error),),))
    best = dict(zip(programs, (one["fastest_us"].least for one in found), strict=True))
    return Table.of(
        "This machine: bandwidth of a rank in one direction and in both, two-sided MPI",
        sizes,
        setting("S", size_text),
        measured("one direction", lambda S: Number(_moved(S) / best[1, S], "MB/s")),
        measured("both", lambda S: Number(_moved(S) / best[2, S], "MB/s")),
        derived("share", lambda S: Number(best[1, S] / best[2, S], digits=2)),
        note="Messages through shared memory, copied by the two processors: both directions share memory, not a bus.",
    )


def _moved(S: int) -> int:
    return BURST * S


def _volume(S: int) -> tuple[str, ...]:
    return ("--volume", str(_moved(S)), "--size", str(S), "--burst", str(BURST))
