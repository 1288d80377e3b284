"""One task of a plan: `python -m logpost.analyzer.shards.task PLAN STAGE BLOCK`.

Reads files and writes files, and knows nothing of who runs it. Exit status 0 when the files of its block are whole
(at once, if they were), 2 with one line on standard error when they cannot be.
"""

from __future__ import annotations

import signal
import sys

from logpost.analyzer._native import ArchiveError, ClockMode, Shards, decode_block, match_block
from logpost.analyzer.shards.plan import Plan


def shards_of(plan: Plan) -> Shards:
    """The plan as the native reader has it."""
    return Shards(plan.folder, plan.blocks, plan.key)


def run(plan: Plan, stage: str, block: int) -> bool:
    """Write the files of one block. False: they were whole.

    Raises:
        ArchiveError: the archive or a file of an earlier stage is damaged, or the system refuses a file.
    """
    if stage == "decode":
        clock = ClockMode.offsets if plan.offsets else ClockMode.none
        return decode_block(plan.archive, shards_of(plan), block, 1, clock)
    return match_block(shards_of(plan), block)


def main(arguments: list[str]) -> int:
    """Run the task that the arguments name; its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a limit on the size of files is an error like a full disk
    plan, stage, block = Plan.of_text(arguments[0]), arguments[1], int(arguments[2])
    try:
        run(plan, stage, block)
    except ArchiveError as error:
        print(str(error), file=sys.stderr)
        return 2
    except MemoryError:
        print(f"block {block} of {plan.blocks} needs more memory than there is; take more blocks", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
