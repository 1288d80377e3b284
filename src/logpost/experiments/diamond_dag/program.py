"""The Diamond DAG's program on the testbed."""

from __future__ import annotations

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Number
from logpost.experiments.support.alewife import CYCLE_NS
from logpost.experiments.support.programs import Simulated, simulate

CYCLE_S = CYCLE_NS * 1e-9
BLOCKS = 64
"""b of Fig. 9."""
SPLIT_DUPLEX, SHARED = "split-duplex", "shared"
"""Links with a channel for each direction, and with one for both."""


def simulated(
    context: Context, mapping: str, blocks: int, size: int, seed: int = 1, sharing: str = SPLIT_DUPLEX
) -> Simulated:
    """Run it; archives of the first seed of Fig. 9 are kept.

    Args:
        context: of the experiment.
        mapping: of stripes to nodes: perfect, default or random.
        blocks: b, of a stripe.
        size: bytes of a block's message.
        seed: of the random mapping.
        sharing: of a link's two directions.
    """
    arguments = ["--mapping", mapping, "--blocks", str(blocks), "--bytes", str(size), "--seed", str(seed)]
    name = f"{mapping}-b{blocks}-{size}B-{seed}-{sharing}"
    settings = {"eager-limit": "0", "sharing": sharing}
    return simulate(context, "diamond", arguments, name, settings=settings, keep=seed == 1 and blocks == BLOCKS)


def makespan(
    context: Context, mapping: str, blocks: int, size: int, seed: int = 1, sharing: str = SPLIT_DUPLEX
) -> float:
    """Of a run, seconds."""
    return simulated(context, mapping, blocks, size, seed, sharing).values["makespan_s"]


def seconds_number(value: float, error: float | None = None) -> Number:
    """A makespan in seconds and in cycles."""
    return Number(value, "s", error, also=f"{value / CYCLE_S / 1e6:,.3g} Mcycles")
