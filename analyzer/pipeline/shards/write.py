"""The task that writes a part of the tables of messages and calls."""

from __future__ import annotations

from logpost.analyzer.archive._native import Progress, begin_tables, tables_are_written
from logpost.analyzer.pipeline.shards.plan import Plan
from logpost.analyzer.pipeline.shards.task import shards_of
from logpost.analyzer.pipeline.tables.batches import MESSAGES_PER_BATCH


def write(plan: Plan, part: int, progress: Progress) -> bool:
    """Write a part, where tasks account the calls. False: its file was whole.

    Raises:
        ArchiveError: a file of an earlier stage is damaged, or the system refuses a file.
    """
    shards = shards_of(plan)
    if not tables_are_written(shards):
        return True
    tables = begin_tables(shards, part, MESSAGES_PER_BATCH, progress)
    if tables is None:
        return False
    if part == 0 or tables.has_rows:
        # Half a second of processor time.
        import pyarrow as pa

        from logpost.analyzer.pipeline.tables.parts import write_part

        # Arrow's default keeps 30 MB of what batches leave, a third of what the task of 3 million events needs.
        pa.set_memory_pool(pa.system_memory_pool())
        write_part(tables)
    else:
        tables.finish_empty()
    return True
