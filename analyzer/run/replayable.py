"""A run as what-if replays take it: its program, the machine that it ran on, and engines for them.

By which algorithms collective operations were carried out is part of the program: the run's table `collective_kinds`
has what their measured ends show.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from logpost.analyzer.run.algorithms import set_algorithms
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import program_of
from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import Program, Surroundings
from logpost.replay.graph import Engine, Scenario


class Replayable:
    """A run's program, and what was recorded of its machine.

    Raises:
        InputError: its machine file is none.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ran_on = load_machine(run.machine_file)
        used = run.manifest.machine
        self.recorded = Scenario(
            replay_parameters(self.ran_on), used.asynchronous_progress, library=used.stated_of_library
        )
        self.locations, self.callpaths = (
            run.facts(name).select(pl.len()).collect().item() for name in ("locations", "callpaths")
        )

    @cached_property
    def program(self) -> Program:
        """Rebuilt when it is first needed.

        Raises:
            InputError: tables of the run contradict each other.
        """
        stated = self.run.manifest.machine.origin != "estimated"
        program = program_of(self.run, self.ran_on if stated else None)
        set_algorithms(program, self.run)
        return program

    def engine(self, recorded: Scenario | None = None, network: Surroundings | None = None) -> Engine:
        """An engine, had the program run as `recorded` (None: as it did); with a `network` it replays contention."""
        return Engine(
            lambda: self.program,
            self.recorded if recorded is None else recorded,
            locations=self.locations,
            callpaths=self.callpaths,
            network=network,
        )
