"""Limits of the testbed, printed with its results and written into its archives."""

from __future__ import annotations

LIMITS: tuple[str, ...] = (
    "contention is flow-level: flows that share a link get equal (max-min) shares of it at once",
    "there are no packets, no router queues and no wormhole blocking: a waiting message holds no link",
    "a message waits at its sender for room at the receiver or, above the eager limit, for its receive",
    "computation lasts as long as the program states (logpost_compute.h); other computation is free",
)
"""A sentence each."""

SHORT = "simulated by SimGrid SMPI: flow-level sharing of links, no packets, no wormhole blocking"
"""One line: the archive's property LOGPOST::SIMULATION begins with it."""
