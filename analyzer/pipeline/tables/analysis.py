"""The tables that a split program gives: those of a recorded one, and of a predicted one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

import polars as pl

from logpost.analyzer.archive._native import release_memory
from logpost.analyzer.machine.known_network import KnownNetwork
from logpost.analyzer.pipeline.memory_limit import LEAST_BYTES
from logpost.analyzer.pipeline.tables.batches import CALLS_PER_BATCH, MESSAGES_PER_BATCH
from logpost.analyzer.pipeline.tables.network import network_frames
from logpost.analyzer.pipeline.tables.ordered_items import ordered_items
from logpost.analyzer.pipeline.tables.parts import WrittenParts, summed
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run, RunWriter
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import MemoryUsed, Windows
from logpost.analyzer.run.parquet import ROWS, Columns, TableStream, frame, write_whole
from logpost.replay._native import Analysis
from logpost.replay.columns import Calls, DelayCosts

COLLECTIVES_SHARE = 32
"""Of the limit of memory: a larger table of collectives is read again where it is needed."""
KEPT_SHARE = 64
"""Of the limit of memory: a larger table of sums is read again, too."""
FINDERS_BYTES = 100_000_000
"""Memory of a finder next to others, at most, when it has collected its rows of the tables."""
MOST_AHEAD = 4
"""Blocks of calls that are accounted side by side: writing them costs half of that, and is done by one."""

NEEDED_NEXT = (
    "logpost.analyzer.pipeline.tables.ideal_network",
    "logpost.analyzer.pipeline.rescope",
    "logpost.analyzer.findings.find",
)
"""Imported while calls are written, not while an archive is read, which needs every core."""

Report = Callable[[str, int, int], None]
"""progress(phase, done, total); total 0: unknown."""


def write_analysis(
    writer: RunWriter,
    analysis: Analysis,
    network: KnownNetwork,
    report: Report,
    further_tables: Callable[[], dict[str, pl.DataFrame]] = dict,
    limit_bytes: int | None = None,
    parts: WrittenParts | None = None,
) -> tuple[dict[str, pl.DataFrame], Counter[str]]:
    """Write every table of an analysis but its findings. The larger ones are streamed; files of aggregates and cells
    may be read after `RunWriter.settle`.

    Args:
        writer: of the run.
        analysis: none of its rows has been read.
        network: the network that the replay knows.
        report: progress.
        further_tables: makes further tables, by name, that need no account of a call.
        limit_bytes: of memory. Sums that are large against it are written one after the other, and not kept.
        parts: of the tables of messages and calls, whose rows the analysis then does not give.

    Returns:
        The smaller tables, and the sums of `SUMMED` over all messages, and over all transfers (`error_shares`), in ps.
    """
    # Messages, calls, delays and collectives in parallel: each alone leaves a core idle.
    with ThreadPoolExecutor(max_workers=3) as pool:
        accounted = pool.submit(_write_calls, writer, analysis, parts)
        delayed = pool.submit(analysis.delay_costs)
        collected = pool.submit(_write_collectives, writer, analysis)
        sums = _write_messages(writer, analysis, report, parts)
        writer.flush_in_background("messages")
        release_memory()  # batches of messages leave 50 MB behind, and the peak is still ahead
        report("accounting calls", 0, 0)
        sums += _write_transfers(writer, analysis)
        # Calls cost more time than messages: what needs none of their accounts is made concurrently.
        written = _write_sums(writer, _message_sums(analysis), limit_bytes)
        frames = _without_accounts(analysis) | network_frames(analysis, network) | further_tables()
        written |= {name: writer.write_in_background(name, table) for name, table in frames.items()}
        for module in NEEDED_NEXT:
            import_module(module)
        accounted.result()
        delayed.result()
    writer.settle()  # replays read these tables
    analysis.forget_messages()
    report("writing tables", 0, 0)
    with ThreadPoolExecutor(max_workers=1) as pool:
        cells = pool.submit(analysis.time_cells)
        written |= _write_sums(writer, _account_sums(analysis, delayed.result()), limit_bytes)
    # It may be large, and pages alone read it. Its writer must not hold the analysis, whose memory is given back next.
    writer.in_background(partial(write_whole, schema.TIME_CELLS, writer.table_path("time_cells"), cells.result()))
    collected.result()
    return written, sums


def analysis_windows(analysis: Analysis) -> Windows:
    """The windows of an analysis, for the manifest."""
    return Windows(count=analysis.window_count, width_ps=analysis.window_width_ps, cells=analysis.window_cells)


def aggregates(analysis: Analysis, delay_costs: DelayCosts) -> dict[str, pl.DataFrame]:
    """The tables that are sums over the analysis's region of interest, by name."""
    return dict(chain(_account_sums(analysis, delay_costs), _message_sums(analysis)))


def _account_sums(analysis: Analysis, delay_costs: DelayCosts) -> Iterator[tuple[str, pl.DataFrame]]:
    """Those that need the account of every call, each made when it is needed."""
    return _one_by_one(
        (schema.ACCOUNTING, analysis.accounting),
        (schema.EXPOSURE, analysis.exposure),
        (schema.IN_COLLECTIVES, analysis.collective_parts),
        (schema.PATH_PROFILE, analysis.path_profile),
        (schema.DELAY_COSTS, lambda: delay_costs),
    )


def _message_sums(analysis: Analysis) -> Iterator[tuple[str, pl.DataFrame]]:
    """Those that need none, likewise."""
    return _one_by_one(
        (schema.WAIT_STATE_TOTALS, analysis.wait_states),
        (schema.PAIRS, analysis.pairs),
        (schema.LOAD, analysis.load),
    )


def _one_by_one(*tables: tuple[schema.Table, Callable[[], Columns]]) -> Iterator[tuple[str, pl.DataFrame]]:
    for table, columns in tables:
        yield table.name, frame(table, columns())


def _write_sums(
    writer: RunWriter, sums: Iterator[tuple[str, pl.DataFrame]], limit_bytes: int | None
) -> dict[str, pl.DataFrame]:
    """Write tables of sums; returns those that are kept, as they will be read.

    They have a row for each location, window and category, and no place in the file of what exceeds the limit.
    """
    kept = {}
    for name, table in sums:
        if limit_bytes is not None and table.estimated_size() > limit_bytes // KEPT_SHARE:
            writer.write(name, table)
        else:
            kept[name] = writer.write_in_background(name, table)
    return kept


def _without_accounts(analysis: Analysis) -> dict[str, pl.DataFrame]:
    """Tables that are no sums, and need no account of a call."""
    return dict(
        _one_by_one(
            (schema.COLLECTIVE_KINDS, analysis.collective_kinds),
            (schema.CRITICAL_PATH, analysis.critical_path),
            (schema.UNMATCHED, analysis.unmatched),
            (schema.EPOCHS, analysis.epochs),
        )
    )


def write_findings(writer: RunWriter, run: Run, known: Mapping[str, pl.DataFrame], faults: Faults) -> None:
    """Look for hotspots in an unfinished run that has every other table; those that are `known` are not read again."""
    if not known:
        writer.settle()
    tables = {
        name: known[name].lazy() if name in known else run.table(name)
        for name in schema.TABLES
        if name not in ("findings", "time_cells")
    }
    # Several finders need it. Kept since it was written, it would be in memory with all that rows of calls are made
    # from.
    used = run.manifest.memory
    tables["collectives"] = _in_memory(tables["collectives"], used.limit_bytes if used is not None else None)
    from logpost.analyzer.findings.find import find_all

    writer.flush_in_background()  # the disk writes what is there while findings are looked for
    findings = find_all(tables, run.manifest, run, _at_once(used), faults)
    writer.write("findings", findings)


def _at_once(used: MemoryUsed | None) -> int | None:
    """How many finders may look at tables at once within the limit; None: all."""
    if used is None or used.limit_bytes is None:
        return None
    return max(1, (used.limit_bytes - LEAST_BYTES) // FINDERS_BYTES)


def _write_messages(writer: RunWriter, analysis: Analysis, report: Report, parts: WrittenParts | None) -> Counter[str]:
    """Stream the table `messages`; its `SUMMED` columns' sums, in ps."""
    if parts is not None:
        report("joining parts of tables", 0, 0)
        return parts.write_messages(writer.table_path("messages"))
    sums: Counter[str] = Counter()
    done = 0
    with TableStream(schema.MESSAGES, writer.table_path("messages")) as stream:
        while (batch := analysis.next_messages(MESSAGES_PER_BATCH)) is not None:
            stream.put(batch)
            sums.update(summed(batch))
            done += len(batch["tag"])
            report("splitting messages", done, analysis.messages)
    return sums


def _write_transfers(writer: RunWriter, analysis: Analysis) -> Counter[str]:
    """Stream the table `transfers`; the same sums, `transfer_` before their names."""
    sums: Counter[str] = Counter()
    with TableStream(schema.TRANSFERS, writer.table_path("transfers")) as stream:
        while (batch := analysis.next_transfers(MESSAGES_PER_BATCH)) is not None:
            stream.put(batch)
            sums.update({f"transfer_{name}": time for name, time in summed(batch).items()})
    return sums


def error_shares(sums: Mapping[str, int]) -> dict[str, Any]:
    """What `MachineUsed` says of how well the machine explains messages and transfers, from `write_analysis`'s sums."""
    found: dict[str, float | None] = {}
    for kind, none in (("", 0.0), ("transfer_", None)):
        envelope = sums[f"{kind}envelope_ps"]
        for of in ("residual", "deficit"):
            found[f"{kind}{of}_share"] = sums[f"{kind}{of}_ps"] / envelope if envelope else none
    of_transfers = sums["transfer_envelope_ps"]
    found["transfer_share"] = of_transfers / max(1, of_transfers + sums["envelope_ps"])
    return found


def _write_calls(writer: RunWriter, analysis: Analysis, parts: WrittenParts | None) -> None:
    """Stream the table `calls`."""
    if parts is not None:
        parts.write_calls(writer.table_path("calls"))
        return
    with TableStream(schema.CALLS, writer.table_path("calls")) as stream:
        workers = min(analysis.threads, MOST_AHEAD)
        with closing(ordered_items(analysis.call_blocks, partial(_calls_of, analysis), workers)) as batches:
            for batch in batches:
                stream.put(batch)


def _calls_of(analysis: Analysis, block: int) -> Iterator[Calls]:
    """The rows of a block of calls, in batches."""
    while (batch := analysis.next_calls(block, CALLS_PER_BATCH)) is not None:
        yield batch


def _write_collectives(writer: RunWriter, analysis: Analysis) -> None:
    """Stream the table `collectives`."""
    begin, rows = 0, ROWS
    with TableStream(schema.COLLECTIVES, writer.table_path("collectives")) as stream:
        while rows == ROWS:
            batch = analysis.collectives(begin, begin + ROWS)
            stream.put(batch)
            rows = len(batch["location"])
            begin += rows


def _in_memory(table: pl.LazyFrame, limit_bytes: int | None) -> pl.LazyFrame:
    """A table that is read several times, read once where the limit of memory allows."""
    if limit_bytes is not None:
        some = table.head(ROWS).collect()
        rows = table.select(pl.len()).collect().item()
        if rows * some.estimated_size() > max(some.height, 1) * (limit_bytes // COLLECTIVES_SHARE):
            return table
    return table.collect().lazy()
