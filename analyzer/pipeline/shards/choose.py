"""The task that chooses the machine for all blocks, whose messages further tasks then replay."""

from __future__ import annotations

import json

from logpost.analyzer.archive._native import Progress, choose_split, is_chosen
from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.plan import Plan
from logpost.analyzer.pipeline.shards.task import shards_of
from logpost.analyzer.pipeline.stages import replays
from logpost.replay.cost.message_models import MessageModel


def choose(plan: Plan, progress: Progress) -> bool:
    """Write down what the replays of all blocks need. False: it was whole.

    Raises:
        ArchiveError: a file of an earlier stage is damaged, or the system refuses a file.
        InputError: the machine cannot be used.
    """
    if is_chosen(shards_of(plan), progress):
        return False
    said = json.loads(plan.machine)
    clock = ClockMode.offsets if plan.offsets else ClockMode.none
    request = Request(plan.archive, "", clock=clock, **{**said, "model": MessageModel(said["model"])})
    archive = ReadAhead(plan.archive, 1, clock, shards=plan.text(), progress=progress)
    anchor, trace = archive.wait()
    chosen = replays.choose(request, archive, anchor, trace, lambda _phase, _done, _total: None)
    replays.place_program(trace, chosen)
    choose_split(trace, replays.parameters_of(request, trace, chosen), shards_of(plan), progress)
    return True
