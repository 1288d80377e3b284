"""Analyze an archive into a finished run, in this process. `supervise` runs it in a child that may crash."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

import logpost
from logpost.analyzer.archive._native import Trace, release_memory
from logpost.analyzer.machine.estimate import Estimate, estimate
from logpost.analyzer.machine.estimate.identify import MOST_DEFICIT, Identified, identify, replayer
from logpost.analyzer.machine.estimate.machine_file import estimated_machine
from logpost.analyzer.machine.estimate.transfers import of_transfers
from logpost.analyzer.machine.placement import Placed, place
from logpost.analyzer.machine.used import estimated_values, machine_values
from logpost.analyzer.pipeline.library import library_used
from logpost.analyzer.pipeline.memory_limit import peak_bytes
from logpost.analyzer.pipeline.pack_pattern import check
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.recording.open_calls import ended_early, open_calls
from logpost.analyzer.pipeline.recording.overwritten import overwritten, overwritten_counts
from logpost.analyzer.pipeline.recording.switched_off import switched_off, switched_off_counts
from logpost.analyzer.pipeline.request import Request, archive_name
from logpost.analyzer.pipeline.tables.analysis import (
    Report,
    analysis_windows,
    error_shares,
    write_analysis,
    write_findings,
)
from logpost.analyzer.pipeline.tables.archive import (
    any_source,
    cores_of_nodes,
    definition_frames,
    detail_levels,
    hosts,
    paradigms,
    places_of_locations,
    profile_frames,
    user_regions,
)
from logpost.analyzer.pipeline.tables.extrapolated import extrapolated
from logpost.analyzer.pipeline.tables.threads import span_frame, stream_frame, thread_frame
from logpost.analyzer.run import manifest as m
from logpost.analyzer.run.directory import Run, RunWriter, scan
from logpost.analyzer.run.faults import Faults
from logpost.errors import InputError, printable
from logpost.machines import Machine, ReplayParameters, file_hash, replay_parameters
from logpost.machines.calibration.while_recording import NAME as MEASURED
from logpost.machines.calibration.while_recording import read_outcome
from logpost.machines.parameters import ESTIMATED
from logpost.machines.schema.load import RECORDED, find_machine_file, load_machine_file
from logpost.replay._native import Analysis, Causes
from logpost.replay.cost.message_models import MessageModel
from logpost.replay.cost.parameters import native_parameters

OWN_PROPERTY = "LOGPOST::CLOCK"
"""A property of every archive that logpost's assembler has written."""
SAMPLES = 25_000
ESTIMATE = "estimate"
"""As the name of a machine: estimate it from the trace, whatever was recorded with it."""


@dataclass(frozen=True)
class ChosenMachine:
    """Parameters for the replay, and what the manifest says of them."""

    parameters: ReplayParameters
    origin: Literal["file", "recorded", "estimated"]
    label: str
    file: str | None
    sha256: str | None
    notes: list[str]
    text: str
    """the machine file, whole"""
    machine: Machine | None
    """the machine; None: an estimate, which knows neither sockets nor a network"""
    estimate: Estimate | None = None
    identified: Identified | None = None
    """of an estimate: what it divides"""


def choose_machine(request: Request, trace: Trace, anchor: Path, threads: int = 1) -> ChosenMachine:
    """The machine the user named, else the one recorded with the trace, else an estimate; never a silent default.

    Raises:
        InputError: the machine's file is faulty or lacks what the replay needs.
    """
    recorded = anchor.parent / RECORDED
    if request.machine not in (None, ESTIMATE):
        return _from_file(find_machine_file(request.machine), "file")
    if request.machine is None and recorded.is_file():
        try:
            chosen = _from_file(recorded, "recorded")
        except InputError as error:
            raise InputError(
                f"{error}; this machine was recorded with the trace: pass another one, or --machine {ESTIMATE}"
            ) from error
        notes = _measured_notes(anchor, wanted=True) if chosen.parameters.machine == MEASURED else []
        return replace(chosen, notes=notes + chosen.notes)
    tick_ps = 1e12 / trace.ticks_per_second
    guess = estimate(archive_name(anchor), trace.program.samples(SAMPLES), tick_ps)
    if not guess.classes and _has_transfers(trace):
        stated = request.asynchronous_progress
        guess = of_transfers(archive_name(anchor), trace.program, guess, asynchronous=stated, tick_ps=tick_ps)
    replay = replayer(trace.program, asynchronous_progress=request.asynchronous_progress)
    strided = len(trace.layouts()["blocks"]) > 0
    found = identify(guess, replay, strided=strided, one_sided=_has_transfers(trace), threads=threads)
    notes = [*_measured_notes(anchor, wanted=False), *guess.notes, *found.notes]
    text = estimated_machine(found.parameters, guess, notes, datetime.date.today())
    return ChosenMachine(
        found.parameters, "estimated", ESTIMATED, None, None, notes, text, None, estimate=guess, identified=found
    )


def _measured_notes(anchor: Path, wanted: bool) -> list[str]:
    """What the recording says of measuring its machine: that it did (wanted), or why it did not."""
    measured = read_outcome(anchor.parent)
    return [measured.sentence()] if measured is not None and bool(measured.reason) != wanted else []


def _from_file(file: Path, origin: Literal["file", "recorded"]) -> ChosenMachine:
    machine = load_machine_file(file)
    parameters = replay_parameters(machine)
    label = machine.name if origin == "file" else f"{machine.name}, recorded with this trace"
    if origin == "recorded" and machine.name == MEASURED:
        label = "measured while recording"
    text = file.read_text(encoding="utf-8-sig")
    return ChosenMachine(
        parameters, origin, label, str(file), file_hash(file), list(parameters.assumptions), text, machine
    )


def build_run(request: Request, source: ReadAhead, report: Report, started: Callable[[Path], None]) -> Path:
    """Analyze one archive and write the run. `started` is told the directory that holds the unfinished run, and in the
    end perhaps the one that was replaced: whoever was told removes it.

    Raises:
        InputError: the archive cannot be read, the run exists, the machine does not fit.
    """
    faults = Faults()
    with RunWriter(request.run, force=request.force, leave_replaced=True) as writer:
        started(writer.path)
        manifest, written = _write_tables(writer, request, source, report, faults)
        with ThreadPoolExecutor(max_workers=1) as pool:
            released = pool.submit(release_memory)
            report("looking for hotspots", 0, 0)
            run, manifest = _of_interest(writer, manifest, request, written, faults)
            released.result()  # before more is needed
            write_findings(writer, run, written if request.roi.everything else {}, faults)
        writer.finish(manifest.model_copy(update={"memory": _used(manifest.memory), "faults": faults.found}))
    return writer.final


def _used(before: m.MemoryUsed | None) -> m.MemoryUsed | None:
    """The memory that this process has used by now."""
    return before and before.model_copy(update={"peak_bytes": peak_bytes()})


def _of_interest(
    writer: RunWriter, manifest: m.Manifest, request: Request, written: Mapping[str, pl.DataFrame], faults: Faults
) -> tuple[Run, m.Manifest]:
    """The unfinished run, of which these tables are known. The aggregates are replaced by those of the region of
    interest, where one is named."""
    # `tables.analysis.NEEDED_NEXT`
    from logpost.analyzer.pipeline.rescope import rescope
    from logpost.analyzer.pipeline.tables.ideal_network import ideal_network

    run = Run(writer.path, manifest)
    if request.roi.everything:
        ideal = faults.table("ideal_network", lambda: ideal_network(run, written["locations"]))
        writer.write("ideal_network", ideal)
        return run, manifest
    writer.settle()
    rescoped = rescope(run, request.roi, faults)
    for name, table in rescoped.frames.items():
        writer.write(name, table)
    return Run(writer.path, rescoped.manifest), rescoped.manifest


def _write_tables(
    writer: RunWriter, request: Request, source: ReadAhead, report: Report, faults: Faults
) -> tuple[m.Manifest, dict[str, pl.DataFrame]]:
    """Write every table that needs the trace in memory; the trace is freed on return, and what of it lies in a file.
    Also returns the smaller ones."""
    report("reading", 0, 0)
    anchor, trace = source.wait()
    spill, source.spill = source.spill, None
    limit = spill.limit_bytes if spill is not None else None
    if request.pack is not None:
        check(request.pack, user_regions(trace))
    report("choosing the machine", 0, 0)
    # Who waited for whom depends on no machine: it is found beside all that leaves cores idle, until a table needs it.
    causes = Causes(trace.program, source.threads)
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(_find, causes)
        size = pool.submit(_archive_bytes, anchor)
        chosen = choose_machine(request, trace, anchor, source.threads)
        placed = place_trace(trace, chosen.machine)
        release_memory()  # an estimate's replays leave as much behind as the trace takes
        report("replaying queues", 0, 0)
        parameters = native_parameters(
            chosen.parameters, asynchronous_progress=request.asynchronous_progress, model=request.model
        )
        parameters.deficit_tells_progress = chosen.origin != "estimated"
        analysis = Analysis(trace.program, parameters, source.threads, causes=causes)
        written, sums = write_analysis(
            writer,
            analysis,
            placed.network,
            report,
            partial(_definitions, trace, analysis, placed.sockets, faults),
            limit,
        )
    calls = scan(writer.path, "calls")
    spans = faults.table("thread_spans", lambda: span_frame(trace))
    frames = {
        "detail_levels": faults.table("detail_levels", lambda: detail_levels(trace, calls)),
        "streams": faults.table("streams", lambda: stream_frame(trace)),
        "thread_spans": spans,
        "threads": faults.table("threads", lambda: thread_frame(spans, calls, written["locations"])),
    }
    written |= {name: writer.write(name, table) for name, table in frames.items()}
    writer.write_machine(chosen.text)
    archive = m.Source(anchor=printable(str(anchor)), bytes=size.result(), properties=dict(trace.properties()))
    early: list[str] = faults.guard("calls that never ended", lambda: ended_early(trace, written), [])
    manifest = _manifest(request, archive, trace, analysis, chosen, placed.notes, written, sums, early)
    memory = m.MemoryUsed(
        limit_bytes=limit,
        peak_bytes=peak_bytes(),
        spilled_bytes=spill.spilled_bytes if spill is not None else 0,
    )
    return manifest.model_copy(update={"memory": memory}), written


def _definitions(
    trace: Trace, analysis: Analysis, sockets: npt.NDArray[np.int32], faults: Faults
) -> dict[str, pl.DataFrame]:
    """What the archive says of itself, and sums that were made while it was decoded."""
    frames = definition_frames(trace, analysis, sockets) | profile_frames(trace)
    return frames | {
        "open_calls": faults.table("open_calls", lambda: open_calls(trace)),
        "any_source": faults.table("any_source", lambda: any_source(trace)),
    }


def _find(causes: Causes) -> None:
    """Find what made whom wait, and give back the memory that it took."""
    causes.find()
    release_memory()


def _manifest(
    request: Request,
    source: m.Source,
    trace: Trace,
    analysis: Analysis,
    chosen: ChosenMachine,
    placement_notes: list[str],
    frames: Mapping[str, pl.DataFrame],
    sums: Mapping[str, int],
    early: list[str],
) -> m.Manifest:
    parameters = chosen.parameters
    undivided, refused = _undivided(chosen, sums)
    locations = frames["locations"]
    one_sided = trace.one_sided()
    layouts = trace.layouts()
    return m.Manifest(
        tool_version=logpost.__version__,
        source=source,
        clock=_clock(request, trace),
        ranks=int((locations["rank"] >= 0).sum()),
        locations=len(locations),
        events=int(locations["events"].sum()),
        communication_events=int(locations["communication_events"].sum()),
        messages=analysis.messages,
        paradigms=paradigms(trace),
        hosts=hosts(trace),
        windows=analysis_windows(analysis),
        machine=m.MachineUsed(
            name=parameters.machine,
            origin=chosen.origin,
            label=chosen.label,
            file=printable(chosen.file) if chosen.file else None,
            sha256=chosen.sha256,
            asynchronous_progress=analysis.asynchronous_progress,
            library=library_used(chosen.machine, source.properties),
            model=request.model,
            values=estimated_values(parameters, chosen.estimate)
            if chosen.estimate is not None and chosen.estimate.classes
            else machine_values(parameters),
            **error_shares(sums),
            undivided=undivided,
            refused=refused,
            notes=chosen.notes + placement_notes + _progress_notes(request, analysis),
        ),
        quality=_counted(trace)
        + overwritten_counts(dict(trace.properties()))
        + switched_off_counts(dict(trace.properties()))
        + extrapolated(analysis),
        layouts=[
            m.Layout(blocks=int(b), block_bytes=int(n), stride_bytes=int(s), extent_bytes=int(e))
            for b, n, s, e in zip(
                layouts["blocks"],
                layouts["block_bytes"],
                layouts["stride_bytes"],
                layouts["extent_bytes"],
                strict=True,
            )
        ],
        one_sided_bytes={
            kind: int(one_sided[f"{kind}_bytes"]) for kind in ("put", "get", "atomic") if one_sided[f"{kind}s"]
        },
        pack=request.pack,
        ended_early=early,
        overwritten=overwritten(dict(trace.properties())) + switched_off(dict(trace.properties()), trace.quality()),
        notes=_model_notes(request.model) + _limits(trace, analysis, parameters),
    )


def _clock(request: Request, trace: Trace) -> m.Clock:
    found = trace.clocks()
    transit = {"same node": found["transit_same_node_ps"], "other node": found["transit_other_node_ps"]}
    return m.Clock(
        ticks_per_second=trace.ticks_per_second,
        length_ps=trace.length_ps,
        correction=request.clock,
        recorded=m.ClockViolations(messages=found["messages_recorded"], collectives=found["collectives_recorded"]),
        left=m.ClockViolations(messages=found["messages_left"], collectives=found["collectives_left"]),
        largest_ps=found["largest_ps"],
        processes=found["processes"],
        transit_ps=transit if found["processes"] else {},
    )


def _counted(trace: Trace) -> list[m.QualityCount]:
    """What the reader counted. In an archive of logpost's own, contradictory records are the recording's fault."""
    own = OWN_PROPERTY in dict(trace.properties())
    counts = [m.QualityCount(**row) for row in trace.quality()]
    return [
        one.model_copy(update={"blame": "recording"})
        if own and (one.severity, one.blame) == ("error", "trace")
        else one
        for one in counts
    ]


def _undivided(chosen: ChosenMachine, sums: Mapping[str, int]) -> tuple[list[str], bool]:
    """The categories that an estimate does not divide, and whether it contradicts the trace."""
    if chosen.identified is None:
        return [], False
    errors = error_shares(sums)
    beyond = max(errors["deficit_share"], errors["transfer_deficit_share"] or 0.0)
    refused = chosen.identified.refused or beyond > MOST_DEFICIT
    return list(chosen.identified.shown(refused=refused)), refused


def _progress_notes(request: Request, analysis: Analysis) -> list[str]:
    """Who answers the handshakes of rendezvous and one-sided transfers, unless processors inside of MPI."""
    known = "as stated (--async-progress)" if request.asynchronous_progress else "as transfers of this trace prove"
    notes = []
    if analysis.asynchronous_progress:
        notes.append(f"rendezvous go on while their processors compute (asynchronous progress), {known}")
    elif analysis.asynchronous_transfers:
        notes.append(f"one-sided transfers are served while their targets compute (remote memory access), {known}")
    return notes


def _model_notes(model: MessageModel) -> list[str]:
    """What a model other than the whole leaves unexplained."""
    if model is MessageModel.full:
        return []
    return [
        f"messages are split under {model.label} alone ({model.terms}): what it has no term for is residual; "
        "report --models compares the models"
    ]


def place_trace(trace: Trace, machine: Machine | None) -> Placed:
    """Tell the trace's program where it ran, as far as trace and machine say so."""
    locations = places_of_locations(trace)
    if machine is None:
        return Placed(locations["socket"].to_numpy().astype(np.int32), _no_network(trace))
    return place(trace.program, machine, locations, cores_of_nodes(trace))


def _has_transfers(trace: Trace) -> bool:
    """Whether there are one-sided transfers."""
    return any(trace.one_sided()[kind] for kind in ("puts", "gets", "atomics"))


def _no_network(trace: Trace) -> list[str]:
    """That an estimated machine has no network, where messages took one."""
    if not len(trace.program.node_pairs()[0]):
        return []
    return [
        "network contention (C_n) is 0 and its time is in residual: an estimated machine has no topology; "
        "--machine FILE states one"
    ]


def _limits(trace: Trace, analysis: Analysis, parameters: ReplayParameters) -> list[str]:
    """The limits of this analysis, one sentence each."""
    notes = []
    if analysis.messages:
        if not len(trace.layouts()["blocks"]):
            notes.append("the archive has no datatype layouts: middleware latency is 0 for strided data")
        elif parameters.log3p is None:
            notes.append("the machine has no log3P table: middleware latency is 0 although some messages are strided")
        notes.append("the archive has no arrival stamps: the arrival of a message at a late receiver is modelled")
    if analysis.clock_violations:
        notes.append(
            f"{analysis.clock_violations} messages were received before they were sent: their envelopes are clamped, "
            "and no model is fitted to them"
        )
    if _has_transfers(trace):
        notes.append(
            "one-sided transfers queue at their origin only, apart from messages; what a target's network interface "
            "takes is in residual"
        )
    return notes


def _archive_bytes(anchor: Path) -> int:
    """The size of all files of an archive, of which there may be thousands."""
    size = sum(file.stat().st_size for file in (anchor, anchor.with_suffix(".def")) if file.is_file())
    folder = anchor.parent / anchor.stem
    if not folder.is_dir():
        return size
    with os.scandir(folder) as files:
        return size + sum(file.stat().st_size for file in files if file.is_file())
