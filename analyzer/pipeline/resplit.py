"""Split a run's messages again in place, from its own tables: as it was, or under another model or machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from pathlib import Path

import numpy as np
import numpy.typing as npt

from logpost.analyzer.pipeline.spill_place import spill_for_reading
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import program_of
from logpost.machines import ReplayParameters, load_machine, replay_parameters
from logpost.replay._native import Analysis, Causes
from logpost.replay.cost.message_models import MessageModel
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.graph.library import codes_of

Times = npt.NDArray[np.int64]
Report = Callable[[str, int, int], None]
"""progress(phase, done, total); total 0: unknown."""


def silent(_phase: str, _done: int, _total: int) -> None:
    """Progress that is not shown."""


class Resplit:
    """A run's program, rebuilt once, and the machine that it is split with."""

    def __init__(self, run: Run, machine: str | Path | None = None) -> None:
        """Without a machine, with the run's own.

        Raises:
            InputError: the run's tables contradict each other, or the machine cannot be used.
        """
        self.run = run
        on = load_machine(run.machine_file if machine is None else machine)
        self.parameters = replay_parameters(on)
        self.program = program_of(run, None if machine is None else on, spill_for_reading(run.path))
        self.causes: Causes | None = None

    def middle(self, messages: int) -> Resplit:
        """The middle of the program, of about so many messages."""
        other = copy(self)
        other.program = self.program.excerpt(messages)
        other.causes = Causes(other.program, 1)
        return other

    def on(self, parameters: ReplayParameters) -> Resplit:
        """The same program on another machine."""
        other = copy(self)
        other.parameters = parameters
        return other

    def under(
        self, model: MessageModel | None = None, begin_ps: Times | None = None, end_ps: Times | None = None
    ) -> Analysis:
        """The split under a model; without one, under the run's.

        Args:
            model: which of the machine's values count.
            begin_ps: begin of the region of interest on every location; None: everything is of interest.
            end_ps: its end.

        Raises:
            InputError: the machine lacks what the model needs.
        """
        used = self.run.manifest.machine
        parameters = native_parameters(
            self.parameters, asynchronous_progress=used.asynchronous_progress, model=model or used.model
        )
        parameters.library = codes_of(used.stated_of_library)
        return Analysis(self.program, parameters, len(os.sched_getaffinity(0)), begin_ps, end_ps, self.causes)
