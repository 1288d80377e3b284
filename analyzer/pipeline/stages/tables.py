"""Stages that write the tables that need the trace or its analysis in memory."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.machine.choose import ChosenMachine
from logpost.analyzer.machine.placement import Placed
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.recording.open_calls import open_calls
from logpost.analyzer.pipeline.tables.analysis import Report, write_analysis
from logpost.analyzer.pipeline.tables.archive import (
    any_source,
    definition_frames,
    detail_levels,
    file_calls,
    profile_frames,
    samples,
)
from logpost.analyzer.pipeline.tables.threads import span_frame, stream_frame, thread_frame
from logpost.analyzer.run.directory import RunWriter, scan
from logpost.analyzer.run.faults import Faults
from logpost.replay._native import Analysis, Spill

Tables = dict[str, pl.DataFrame]


def write_split(
    writer: RunWriter,
    archive: ReadAhead,
    trace: Trace,
    analysis: Analysis,
    placed: Placed,
    spill: Spill | None,
    faults: Faults,
    report: Report,
) -> tuple[Tables, Counter[str]]:
    """The analysis's tables, of which the smaller ones are returned, and sums over messages and transfers, in ps."""
    return write_analysis(
        writer,
        analysis,
        placed.network,
        report,
        partial(_definitions, trace, analysis, placed.sockets, faults),
        spill.limit_bytes if spill is not None else None,
        archive.written(),
    )


def _definitions(trace: Trace, analysis: Analysis, sockets: npt.NDArray[np.int32], faults: Faults) -> Tables:
    """The archive's definitions, and sums that were made while it was decoded."""
    frames = definition_frames(trace, analysis, sockets) | profile_frames(trace)
    return frames | {
        "open_calls": faults.table("open_calls", lambda: open_calls(trace)),
        "samples": faults.table("samples", lambda: samples(trace)),
        "file_calls": faults.table("file_calls", lambda: file_calls(trace)),
        "any_source": faults.table("any_source", lambda: any_source(trace)),
    }


def write_threads(writer: RunWriter, trace: Trace, split_tables: Tables, faults: Faults) -> Tables:
    """The tables of threads, streams and levels of detail, which follow from the calls. Returns all smaller tables."""
    calls = scan(writer.path, "calls")
    spans = faults.table("thread_spans", lambda: span_frame(trace))
    frames = {
        "detail_levels": faults.table("detail_levels", lambda: detail_levels(trace, calls)),
        "streams": faults.table("streams", lambda: stream_frame(trace)),
        "thread_spans": spans,
        "threads": faults.table("threads", lambda: thread_frame(spans, calls, split_tables["locations"])),
    }
    return split_tables | {name: writer.write(name, table) for name, table in frames.items()}


def write_machine(writer: RunWriter, chosen: ChosenMachine) -> None:
    """The machine file, whole."""
    writer.write_machine(chosen.text)
