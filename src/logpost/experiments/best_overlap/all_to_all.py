"""OVL 3.4 and the rows of Table 2 (B) for all-to-all: 32 processes that all get from each other, contiguous peers.

"Load balanced" processes are in step: while one gets from its k-th neighbour, another gets from it, so that each NIC
moves as many bytes out as in, at half the bandwidth ("per processor bi-directional bandwidth is roughly half of the
unidirectional", 2.1), and no two get from one. One process then shows them all: it has all its peers' messages to get,
burst after burst. How the paper's unbalanced runs drift apart is not printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from logpost.experiments.best_overlap.decomposition import Decomposed, decompositions, doubles_text, whole
from logpost.experiments.best_overlap.landscapes import Landscape
from logpost.experiments.best_overlap.nic_queue import Pattern, played
from logpost.experiments.best_overlap.problems import ASSUMED, BURSTS, COMM_BOUND, COMP_BOUND, VOLUMES, Network
from logpost.experiments.best_overlap.search import Searched, choice, choices_cells, loss_cell, percent_cell
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cell, Claim, Column, Origin, Part, Table

PROCESSES = 32
"""Of the rows "A2A,32P" (Table 2)."""
BALANCED = 1.0
"""t_V / (G V) between those of `COMM_BOUND` and `COMP_BOUND`."""
LOSS = (None, None, 6, 2, 5, 2, None, 1, 1, 6)
MISDIAGNOSED = (5, None, 6, 2, 3, 4, 8, 7, 5, 6)
"""Of each volume, per cent, printed; None: "*", less than 1 %."""
SHORT = 2
"""Messages of the best bursts of problems that are not communication-bound (3.4)."""
MOST = 0.06
"""The largest of LOSS (Table 2)."""


def all_to_all(context: Context, comm: Landscape) -> Part:
    """The model of (10) against an exhaustive search, and for a wrong estimate of t_V."""
    halved = replace(comm.middle, G=2.0 * comm.middle.G)
    most = context.size(64, 8)
    some = context.size((VOLUMES[0], VOLUMES[4], VOLUMES[9]), (VOLUMES[0],))
    longer = {(ratio, V): _searched(halved, V, most, ratio) for ratio in (BALANCED, COMP_BOUND) for V in some}
    rows: list[tuple[Cell, ...]] = []
    own, deep = [], []
    for V in context.size(VOLUMES, (VOLUMES[0], VOLUMES[2])):
        found = _searched(halved, V, most)
        wrong = _chosen(halved, V, COMP_BOUND, found.times)
        own.append(found.lost(found.chosen))
        deep.append((found.best.b, found.chosen.b if found.chosen else 0))
        at = VOLUMES.index(V)
        rows.append(
            (
                doubles_text(V),
                *choices_cells(found),
                percent_cell(LOSS[at]),
                loss_cell(found, found.chosen),
                percent_cell(MISDIAGNOSED[at]),
                loss_cell(found, wrong),
            )
        )
    machine = comm.network.machine
    table = Table(
        f"All-to-all rows of Table 2 (B): {PROCESSES} processes, contiguous peers, communication bound",
        (
            Column("V of each peer", Origin.SETTING),
            Column("best S × b", Origin.SETTING),
            Column("(10)'s S × b", Origin.SETTING),
            Column("model, printed", Origin.PAPER),
            Column("model", Origin.DERIVED, machine),
            Column("misdiagnosed, printed", Origin.PAPER),
            Column("misdiagnosed", Origin.DERIVED, machine),
        ),
        tuple(rows),
        note=f"*: less than 1 %. Processes in step, NICs at half their bandwidth; up to {most} messages of a peer.",
    )
    return Part(
        tables=(table,),
        claims=(
            Claim(
                "All-to-all: the loss of the model's choice, by (10), is small",
                "at most 6 % (8K and 1M doubles)",
                f"at most {100 * max(own):.1f} %",
                max(own) <= MOST,
                assumption=f"processes in step; {ASSUMED}",
                reason="(10) adds 2 (P − 1) bursts, which makes it choose bursts of one message, and small ones where "
                "those bursts are most of its time",
            ),
            Claim(
                "All-to-all in step is best with deep bursts, which (10) underestimates",
                "deep burst length",
                "best and (10)'s: " + ", ".join(f"{best} and {model}" for best, model in deep),
                all(best > model for best, model in deep),
                assumption=f"processes in step; {ASSUMED}",
                reason="the pipelined program has messages of two bursts in flight, which with 31 peers one after the "
                "other fill the network for bursts of one too; how far o falls with b is a graph",
            ),
            _short_bursts(longer),
        ),
    )


def _short_bursts(found: Mapping[tuple[float, int], Searched]) -> Claim:
    """Where the computation is as long as the communication, or longer."""
    losses = [one.lost(one.chosen) for one in found.values()]
    return Claim(
        "Balanced and computation-bound all-to-all is best with bursts of two, and (10)'s bursts of one lose little "
        "(judged by the largest loss printed for all-to-all)",
        "consistently b = 2; very small",
        "best b: "
        + ", ".join(f"{one.best.b} ({doubles_text(V)}, {ratio:g})" for (ratio, V), one in found.items())
        + f"; loses at most {100 * max(losses):.1f} %",
        all(one.best.b == SHORT for one in found.values()) and max(losses) <= MOST,
        assumption=f"processes in step; {ASSUMED}",
        reason="with 31 peers one after the other the pipelined program overlaps with any burst, and which is best is "
        "a matter of how o falls with b, a graph",
    )


def _searched(network: Network, V: int, most: int, ratio: float = COMM_BOUND) -> Searched:
    """All decompositions; the base is the program that gets from each peer with one message, and waits for it."""
    times = {case: _time(network, ratio, case) for case in decompositions(V, most, BURSTS)}
    blocking = _time(network, ratio, whole(V), "C")
    return Searched(V, ratio, blocking, times, _chosen(network, V, ratio, times))


def _time(network: Network, ratio: float, case: Decomposed, pattern: Pattern = "E") -> float:
    """One process's, which gets the volumes of all others one after the other."""
    return played(network, ratio / 2.0, replace(case, V=(PROCESSES - 1) * case.V), pattern)


def _chosen(network: Network, V: int, ratio: float, tried: Mapping[Decomposed, float]) -> Decomposed | None:
    """The computation is in proportion to what one direction alone would cost."""
    t_V = network.computation(ratio / 2.0, V)
    return choice(network.profile(), V, t_V, "balanced", tried, P=PROCESSES, topology="all-to-all-contiguous")
