"""POP's efficiencies of a run.

With u_i the useful (compute) time of rank i, T the runtime and P ranks (Rosas, Giménez, Labarta: "Scalability
prediction for fundamental performance factors", 2014; POP Centre of Excellence):

    parallel efficiency       PE = mean(u_i) / T = LB * CommE
    load balance              LB = mean(u_i) / max(u_i)
    communication efficiency  CommE = max(u_i) / T = Ser * Trf
    serialization             Ser = max(u_i) / T_ideal
    transfer                  Trf = T_ideal / T

T is the program time of the slowest rank, from the end of its start-up to the begin of its shut-down; T_ideal is the
runtime on a network with no latency and no limit of bandwidth. T_ideal cannot be read from a trace: it needs a replay
on such a network, and without one Ser and Trf are not computed. All are fractions of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NAMES = ("parallel_efficiency", "load_balance", "communication_efficiency", "serialization", "transfer")
NO_IDEAL = "not computed: this run has no replay on an ideal network"
NO_RANKS = "not computed: no rank of this run has a measured runtime"
NO_COMPUTE = "not computed: no rank computed for a measurable time"
CONTRADICTED = "not stated: the replay on an ideal network contradicts the measured times"
"""It is longer than the program, or shorter than its longest computation."""


@dataclass(frozen=True)
class Efficiency:
    """One efficiency: a fraction of 1, or None and the reason."""

    name: str
    value: float | None
    reason: str = ""


def efficiencies(
    compute_ps: Sequence[int], runtime_ps: int, ideal_runtime_ps: int | None = None
) -> tuple[Efficiency, ...]:
    """All of `NAMES`, in order.

    Arguments:
        compute_ps: useful time of every rank.
        runtime_ps: T.
        ideal_runtime_ps: T_ideal of a what-if replay; None where there is none.
    """
    if not compute_ps or runtime_ps <= 0:
        return tuple(Efficiency(name, None, NO_RANKS) for name in NAMES)
    most, mean = max(compute_ps), sum(compute_ps) / len(compute_ps)
    balance = Efficiency("load_balance", mean / most) if most > 0 else Efficiency("load_balance", None, NO_COMPUTE)
    if ideal_runtime_ps is None or ideal_runtime_ps <= 0:
        network = (Efficiency("serialization", None, NO_IDEAL), Efficiency("transfer", None, NO_IDEAL))
    elif not most <= ideal_runtime_ps <= runtime_ps:
        network = (Efficiency("serialization", None, CONTRADICTED), Efficiency("transfer", None, CONTRADICTED))
    else:
        network = (
            Efficiency("serialization", most / ideal_runtime_ps),
            Efficiency("transfer", ideal_runtime_ps / runtime_ps),
        )
    return (
        Efficiency("parallel_efficiency", mean / runtime_ps),
        balance,
        Efficiency("communication_efficiency", most / runtime_ps),
        *network,
    )
