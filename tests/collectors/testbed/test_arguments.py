"""A program gets the arguments that it is given: the simulator has options of the same names, and takes none."""

from __future__ import annotations

from collections.abc import Callable

from logpost.machines.schema import Machine
from logpost.testbed import TestbedRun

Run = Callable[..., TestbedRun]
Toy = Callable[..., Machine]


def test_options_that_the_simulator_has_too_are_the_programs(toy: Toy, run: Run) -> None:
    # `--version` is fft3d's; SimGrid printed its own version for it, and ended.
    given = ["--version", "pack", "--help", "--cfg=smpi/np:1", "--log=root.thresh:debug", "last"]
    done = run(toy({"kind": "crossbar", "nodes": 2}), "arguments", given, ranks=2)
    assert done.output.splitlines() == given
