"""Analyze an archive into a finished run, in this process. `supervise` runs it in a child that may crash."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.stage import Stage, carry_out
from logpost.analyzer.pipeline.stages import describe, findings, replays, source, tables
from logpost.analyzer.pipeline.tables.analysis import Report
from logpost.analyzer.run.directory import RunWriter
from logpost.analyzer.run.faults import Faults

GIVEN = ("request", "archive", "writer", "report", "faults", "background")
"""Facts that the first stage finds. `background` is a thread that carries out its tasks one after another."""

STAGES = (
    Stage(source.read, "request archive report", "anchor trace spill"),
    Stage(replays.find_causes, "trace archive background", "causes"),
    Stage(source.measure, "anchor background", "size"),
    Stage(replays.choose, "request archive anchor trace report", "chosen"),
    Stage(replays.place_program, "trace chosen", "placed"),
    Stage(replays.split, "request archive trace chosen causes report", "analysis"),
    Stage(tables.write_split, "writer archive trace analysis placed spill faults report", "split_tables sums"),
    Stage(tables.write_threads, "writer trace split_tables faults", "tables"),
    Stage(tables.write_machine, "writer chosen"),
    Stage(
        describe.describe,
        "request anchor size trace analysis chosen placed tables sums spill faults",
        "manifest",
    ),
    Stage(findings.release, "background", "released"),
    Stage(findings.restrict, "request writer manifest tables faults report", "run"),
    Stage(findings.look_for_findings, "request writer run tables released faults"),
    Stage(findings.finish, "writer run faults"),
)
"""Each with the facts that it reads and those that it writes. After `describe`, no stage reads the trace."""


def build_run(request: Request, archive: ReadAhead, report: Report, started: Callable[[Path], None]) -> Path:
    """Analyze one archive and write the run. `started` receives the directory that holds the unfinished run, and in the
    end perhaps the one that was replaced; its caller removes them.

    Raises:
        InputError: the archive cannot be read, the run exists, the machine does not fit.
    """
    with (
        RunWriter(request.run, force=request.force, leave_replaced=True) as writer,
        ThreadPoolExecutor(max_workers=1) as background,
    ):
        started(writer.path)
        given = (request, archive, writer, report, Faults(), background)
        carry_out(STAGES, dict(zip(GIVEN, given, strict=True)))
    return writer.final
