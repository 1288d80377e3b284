"""One task of a plan: files are read, and files are written; the process and the machine that run it do not matter."""

from __future__ import annotations

import signal

from logpost.analyzer.archive._native import ArchiveError, ClockMode, Progress, Shards, run_task
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
    if stage == "choose":
        from logpost.analyzer.pipeline.shards.choose import choose  # other tasks need no tables

        return choose(plan, watched)
    if stage == "write":
        from logpost.analyzer.pipeline.shards.write import write

        return write(plan, block, watched)
    clock = ClockMode.offsets if plan.offsets else ClockMode.none
    return run_task(plan.archive, shards_of(plan), stage, block, clock, watched)


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
