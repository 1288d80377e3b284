"""One task of a plan: files are read, and files are written; the process and the machine that run it do not matter."""

from __future__ import annotations

import signal

from logpost.analyzer.archive._native import (
    ArchiveError,
    ClockMode,
    Progress,
    Shards,
    decode_block,
    join_block,
    leave_block,
    match_block,
    number_blocks,
    reply_block,
)
from logpost.analyzer.pipeline.shards.plan import Plan
from logpost.errors import InputError


def shards_of(plan: Plan) -> Shards:
    """The plan as the native reader has it."""
    return Shards(plan.folder, plan.blocks, plan.key, plan.split)


def run(plan: Plan, stage: str, block: int, progress: Progress | None = None) -> bool:
    """Write the files of one block, or of all. False: they were whole. `progress` grows with what is read and written.

    Raises:
        ArchiveError: the archive or a file of an earlier stage is damaged, or the system refuses a file.
        InputError: the machine cannot be used.
    """
    watched = progress or Progress()
    if stage == "decode":
        clock = ClockMode.offsets if plan.offsets else ClockMode.none
        return decode_block(plan.archive, shards_of(plan), block, 1, clock, watched)
    if stage == "number":
        return number_blocks(plan.archive, shards_of(plan), watched)
    if stage == "join":
        return join_block(plan.archive, shards_of(plan), block, watched)
    if stage == "match":
        return match_block(shards_of(plan), block, watched)
    if stage == "choose":
        from logpost.analyzer.pipeline.shards.choose import choose  # other tasks need no tables

        return choose(plan, watched)
    replay, number = (leave_block if stage.startswith("leave") else reply_block), int(stage[-1])
    return replay(shards_of(plan), number, block, watched)


def problem(plan: Plan, stage: str, block: int, progress: Progress | None = None) -> str | None:
    """Run a task; one line that says why its files cannot be whole, or nothing: they are."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a limit on the size of files is an error like a full disk
    try:
        run(plan, stage, block, progress)
    except (ArchiveError, InputError) as error:
        return str(error)
    except MemoryError:
        return f"block {block} of {plan.blocks} needs more memory than there is; take more blocks"
    return None
