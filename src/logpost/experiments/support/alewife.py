"""The MIT Alewife, the machine of LOGPC and SENS: its name here, its clock, and times in its cycles."""

from __future__ import annotations

from logpost.analyzer.words.units import time_text
from logpost.experiments.framework.result import Number
from logpost.experiments.support.wormhole import Wormholes

MACHINE = "alewife"
WIDTH, NODES = 8, 32
"""Of its mesh of 8 x 4 (LOGPC 3.3)."""
CYCLE_NS = 50.0
"""20 MHz (SENS 3.1); LOGPC prints no clock."""


def cycles_number(cycles: float, error: float | None = None) -> Number:
    """A time in cycles, with the same in micro- or milliseconds at the machine's clock."""
    return Number(cycles, "cycles", error, also=time_text(round(cycles * CYCLE_NS * 1e3)))


G, O_S_LONG, DMA_SLOWDOWN = 0.5, 25.0, 1.45
"""Long messages: cycles per byte and to launch one (LOGPC Table 2); both DMA engines at work make each take 45 % longer
(2.2)."""
DMA_RATE_SLOWDOWN = 1 / (1 - 0.45)
"""The other reading of the same "45 percent" (2.2): of the rate instead of the time."""
TASK_CYCLES, TASK_FLOP = 100.0, 3
"""The one cost of computation that either paper prints: a task of the Diamond DAG, "two double precision floating point
additions and one multiplication", "takes 100 cycles" (LOGPC 5.2.2, Fig. 9)."""
CYCLES_PER_FLOP = TASK_CYCLES / TASK_FLOP
FLOP_PER_SECOND = 1e9 / (CYCLES_PER_FLOP * CYCLE_NS)
"""Of every application of SENS on the testbed."""
SCALE = (
    f"a flop costs {CYCLES_PER_FLOP:.0f} cycles in every application, {TASK_CYCLES:g} for {TASK_FLOP} (LOGPC 5.2.2); "
    "SENS prints no cost of computation"
)
"""The assumption of every claim about a run time."""
EDGE_FLOP = 2
"""Of EM3D (LOGPC 5.3, [8]: Culler et al., Parallel Programming in Split-C): a value times a weight is subtracted."""
EDGE_CYCLES = round(EDGE_FLOP * CYCLES_PER_FLOP)
ACCURACY = 0.12
"""Of the predictions that LOGPC makes (7): a number of the paper is reproduced within so much of it."""
CYCLES_PER_HOP = 0.8
"""Of a message's header (SENS 3.2)."""


def wormholes(slowdown: float = DMA_SLOWDOWN) -> Wormholes:
    """The Alewife's network as LOGPC 2 and 3 describe it: wormholes on a mesh of 8 x 4, two channels per link."""
    return Wormholes(width=WIDTH, G=G, slowdown=slowdown, hop=CYCLES_PER_HOP)
