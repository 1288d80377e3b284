"""The tables of a run, each declared once: readers, writers, documentation and checks use these declarations.

Times are int64 picoseconds from the start of the trace (columns end in `_ps`), sums of them over many locations are
128 bits wide, bytes are uint64, ids are dense int32 with -1 for "none". A run of this version that was written when
those sums were int64 is read as well.
"""

from __future__ import annotations

from logpost.analyzer.run.schema.causes import CRITICAL_PATH, DELAY_COSTS, EVIDENCE, FINDINGS, PATH_PROFILE
from logpost.analyzer.run.schema.column import Column, Table
from logpost.analyzer.run.schema.definitions import CALLPATHS, COMMUNICATORS, LOCATIONS, REGIONS
from logpost.analyzer.run.schema.network import LINKS, LOAD, TRAFFIC
from logpost.analyzer.run.schema.records import (
    ANY_SOURCE,
    CALLS,
    COLLECTIVES,
    DETAIL_LEVELS,
    EPOCHS,
    FILE_CALLS,
    MESSAGES,
    OPEN_CALLS,
    SAMPLES,
    TRANSFERS,
    UNMATCHED,
)
from logpost.analyzer.run.schema.threads import STREAMS, THREAD_SPANS, THREADS
from logpost.analyzer.run.schema.times import (
    ACCOUNTING,
    COLLECTIVE_KINDS,
    EXPOSURE,
    IDEAL_NETWORK,
    IN_COLLECTIVES,
    PAIRS,
    PROFILE,
    REGION_SPANS,
    TIME_CELLS,
    WAIT_STATE_TOTALS,
)
from logpost.analyzer.run.schema.vocabulary import (
    ALGORITHMS,
    CATEGORIES,
    COLLECTIVE_PARTS,
    DELAY_PLACES,
    DIRECTIONS,
    EPOCH_KINDS,
    FINDING_KINDS,
    HANDLE_OPERATIONS,
    LOCALITIES,
    OPERATIONS,
    PARTS,
    PHASES,
    PROTOCOLS,
    THREAD_CATEGORIES,
    TRANSFER_KINDS,
    TRANSFER_PARTS,
    WAIT_KINDS,
    WAIT_STATES,
)

FORMAT_VERSION = 7
"""Of a run directory; a reader refuses a run of another version by name."""

TABLES = {
    table.name: table
    for table in (
        LOCATIONS,
        REGIONS,
        CALLPATHS,
        COMMUNICATORS,
        PROFILE,
        REGION_SPANS,
        SAMPLES,
        FILE_CALLS,
        DETAIL_LEVELS,
        OPEN_CALLS,
        THREADS,
        THREAD_SPANS,
        STREAMS,
        CALLS,
        MESSAGES,
        ANY_SOURCE,
        UNMATCHED,
        COLLECTIVES,
        TRANSFERS,
        EPOCHS,
        ACCOUNTING,
        TIME_CELLS,
        IDEAL_NETWORK,
        EXPOSURE,
        IN_COLLECTIVES,
        COLLECTIVE_KINDS,
        WAIT_STATE_TOTALS,
        PAIRS,
        CRITICAL_PATH,
        PATH_PROFILE,
        DELAY_COSTS,
        LOAD,
        TRAFFIC,
        LINKS,
        FINDINGS,
    )
}

__all__ = [
    "ACCOUNTING",
    "ALGORITHMS",
    "ANY_SOURCE",
    "CALLPATHS",
    "CALLS",
    "CATEGORIES",
    "COLLECTIVES",
    "COLLECTIVE_KINDS",
    "COLLECTIVE_PARTS",
    "COMMUNICATORS",
    "CRITICAL_PATH",
    "DELAY_COSTS",
    "DELAY_PLACES",
    "DETAIL_LEVELS",
    "DIRECTIONS",
    "EPOCHS",
    "EPOCH_KINDS",
    "EVIDENCE",
    "EXPOSURE",
    "FILE_CALLS",
    "FINDINGS",
    "FINDING_KINDS",
    "FORMAT_VERSION",
    "HANDLE_OPERATIONS",
    "IDEAL_NETWORK",
    "IN_COLLECTIVES",
    "LINKS",
    "LOAD",
    "LOCALITIES",
    "LOCATIONS",
    "MESSAGES",
    "OPEN_CALLS",
    "OPERATIONS",
    "PAIRS",
    "PARTS",
    "PATH_PROFILE",
    "PHASES",
    "PROFILE",
    "PROTOCOLS",
    "REGIONS",
    "REGION_SPANS",
    "SAMPLES",
    "STREAMS",
    "TABLES",
    "THREADS",
    "THREAD_CATEGORIES",
    "THREAD_SPANS",
    "TIME_CELLS",
    "TRAFFIC",
    "TRANSFERS",
    "TRANSFER_KINDS",
    "TRANSFER_PARTS",
    "UNMATCHED",
    "WAIT_KINDS",
    "WAIT_STATES",
    "WAIT_STATE_TOTALS",
    "Column",
    "Table",
]
