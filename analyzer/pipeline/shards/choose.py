"""The task that chooses the machine for all blocks, whose messages further tasks then replay."""

from __future__ import annotations

import json
import os

from logpost.analyzer.archive._native import (
    Progress,
    choose_split,
    chosen_machine,
    find_anchor,
    is_chosen,
    map_blocks,
)
from logpost.analyzer.machine.choose import ChosenMachine
from logpost.analyzer.machine.chosen_text import of_text, text_of
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.plan import Plan
from logpost.analyzer.pipeline.shards.task import shards_of
from logpost.analyzer.pipeline.stages import replays
from logpost.errors import InputError
from logpost.replay.cost.message_models import MessageModel


def choose(plan: Plan, progress: Progress) -> bool:
    """Write down what the replays of all blocks need. False: it was whole.

    Raises:
        ArchiveError: a file of an earlier stage is damaged, or the system refuses a file.
        InputError: the machine cannot be used.
    """
    if is_chosen(shards_of(plan), progress):
        return False
    stated = json.loads(plan.machine)
    said = stated["said"]
    try:
        os.chdir(stated["directory"])
    except OSError as error:
        raise InputError(
            f"{error.filename}: {error.strerror}; all nodes need this folder, where analyze began"
        ) from None
    request = Request(run="", **{**said, "model": MessageModel(said["model"])})
    anchor = find_anchor(request.archive)
    trace = map_blocks(anchor, shards_of(plan), progress)
    chosen = replays.choose_anew(request, 1, anchor, trace)
    replays.place_program(trace, chosen)
    parameters = replays.parameters_of(request, trace, chosen)
    choose_split(trace, parameters, text_of(chosen).encode(), shards_of(plan), progress)
    return True


def chosen_by_task(plan: Plan) -> ChosenMachine:
    """The machine that the task has chosen. Raises ArchiveError."""
    return of_text(chosen_machine(shards_of(plan)).decode())
