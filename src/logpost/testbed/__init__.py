"""The virtual testbed for its users: a machine, a program, a number of ranks -> an OTF2 archive.

It joins what may not know each other: `machines` (what a machine is) and `collectors.testbed` (how SimGrid runs a
program on a platform). The command line and the experiments are above it.
"""

from __future__ import annotations

from logpost.collectors.testbed.limits import LIMITS
from logpost.testbed.goal import play
from logpost.testbed.run import TestbedRun, run_on_testbed

__all__ = ["LIMITS", "TestbedRun", "play", "run_on_testbed"]
