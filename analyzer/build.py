"""From an archive to a finished run, in this process. `supervise` runs it in one that may crash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

import logpost
from logpost.analyzer import manifest as m
from logpost.analyzer import schema
from logpost.analyzer._native import Analysis, Trace, release_memory
from logpost.analyzer.archive_tables import definition_frames, hosts, paradigms
from logpost.analyzer.estimate import estimate
from logpost.analyzer.findings import find_all
from logpost.analyzer.parquet import Columns, TableStream, frame
from logpost.analyzer.read_ahead import ReadAhead
from logpost.analyzer.request import Request, archive_name
from logpost.analyzer.run import RunWriter, scan
from logpost.errors import InputError
from logpost.machines import LOCALITIES, ReplayParameters, file_hash, replay_parameters
from logpost.machines.load import RECORDED, find_machine_file, load_machine_file
from logpost.machines.parameters import ESTIMATED, PARAMETERS, UNLIMITED
from logpost.replay.parameters import native_parameters

MESSAGES_PER_BATCH = 1 << 16
CALLS_PER_BATCH = 1 << 16
SAMPLES = 100_000
ESTIMATE = "estimate"
"""As the name of a machine: estimate it from the trace, whatever was recorded with it."""

Report = Callable[[str, int, int], None]
"""progress(phase, done, total); total 0: not known."""


@dataclass(frozen=True)
class ChosenMachine:
    """Parameters for the replay, and what the manifest says of them."""

    parameters: ReplayParameters
    origin: Literal["file", "recorded", "estimated"]
    label: str
    file: str | None
    sha256: str | None
    notes: list[str]


def choose_machine(request: Request, trace: Trace, anchor: Path) -> ChosenMachine:
    """The machine the user named, else the one recorded with the trace, else an estimate; never a silent default.

    Raises:
        InputError: the machine's file is faulty or lacks what the replay needs.
    """
    recorded = anchor.parent / RECORDED
    if request.machine not in (None, ESTIMATE):
        return _from_file(find_machine_file(request.machine), "file")
    if request.machine is None and recorded.is_file():
        try:
            return _from_file(recorded, "recorded")
        except InputError as error:
            raise InputError(
                f"{error}; it was recorded with this trace: give another one, or --machine {ESTIMATE}"
            ) from error
    parameters, notes = estimate(archive_name(anchor), trace.samples(SAMPLES))
    return ChosenMachine(parameters, "estimated", ESTIMATED, None, None, notes)


def _from_file(file: Path, origin: Literal["file", "recorded"]) -> ChosenMachine:
    machine = load_machine_file(file)
    parameters = replay_parameters(machine)
    label = machine.name if origin == "file" else f"{machine.name}, recorded with this trace"
    return ChosenMachine(parameters, origin, label, str(file), file_hash(file), list(parameters.assumptions))


def build_run(request: Request, source: ReadAhead, report: Report, started: Callable[[Path], None]) -> Path:
    """Analyze one archive and write the run. `started` is told the directory that holds the unfinished run.

    Raises:
        InputError: the archive cannot be read, the run exists, the machine does not fit.
    """
    with RunWriter(request.run, force=request.force) as writer:
        started(writer.path)
        manifest = _write_tables(writer, request, source, report)
        release_memory()
        report("looking for hotspots", 0, 0)
        tables = {name: scan(writer.path, name) for name in schema.TABLES if name != "findings"}
        writer.write("findings", find_all(tables, manifest))
        writer.finish(manifest)
    return writer.final


def _write_tables(writer: RunWriter, request: Request, source: ReadAhead, report: Report) -> m.Manifest:
    """Everything that needs the trace in memory; it is gone when this returns."""
    report("reading", 0, 0)
    anchor, trace = source.wait()
    report("choosing the machine", 0, 0)
    chosen = choose_machine(request, trace, anchor)
    report("replaying queues", 0, 0)
    parameters = native_parameters(chosen.parameters, asynchronous_progress=request.asynchronous_progress)
    analysis = Analysis(trace, parameters, source.threads)
    # Messages and calls side by side: each alone leaves a core idle while its last batches are written. The first batch
    # of calls replays the processors, which both need.
    calls = analysis.next_calls(CALLS_PER_BATCH)
    with ThreadPoolExecutor(max_workers=1) as pool:
        accounted = pool.submit(_write_calls, writer, analysis, calls)
        sums = _write_messages(writer, analysis, report)
        report("accounting calls", 0, 0)
        accounted.result()
    report("writing tables", 0, 0)
    frames = definition_frames(trace, set(analysis.accounted()))
    frames |= {
        table.name: frame(table, columns)
        for table, columns in (
            (schema.PROFILE, trace.profile()),
            (schema.ACCOUNTING, analysis.accounting()),
            (schema.EXPOSURE, analysis.exposure()),
            (schema.WAIT_STATE_TOTALS, analysis.wait_states()),
            (schema.PAIRS, analysis.pairs()),
            (schema.LOAD, analysis.load()),
        )
    }
    frames["collectives"] = _collectives(analysis)
    for name, table in frames.items():
        writer.write(name, table)
    return _manifest(anchor, trace, analysis, chosen, frames, sums)


def _write_messages(writer: RunWriter, analysis: Analysis, report: Report) -> Mapping[str, int]:
    """Stream the table `messages`; sums of envelope, residual and deficit in ps."""
    sums = dict.fromkeys(("envelope_ps", "residual_ps", "deficit_ps"), 0)
    done = 0
    with TableStream(schema.MESSAGES, writer.table_path("messages")) as stream:
        while (batch := analysis.next_messages(MESSAGES_PER_BATCH)) is not None:
            stream.put(batch)
            for name in sums:
                sums[name] += int(batch[name].sum())
            done += len(batch["tag"])
            report("splitting messages", done, analysis.messages)
    return sums


def _write_calls(writer: RunWriter, analysis: Analysis, batch: Columns | None) -> None:
    """Stream the table `calls`, starting with a batch that is there already."""
    with TableStream(schema.CALLS, writer.table_path("calls")) as stream:
        while batch is not None:
            stream.put(batch)
            batch = analysis.next_calls(CALLS_PER_BATCH)


COLLECTIVE_NAMES = (
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Reduce_scatter_block",
    "create handle",
    "destroy handle",
    "allocate",
    "deallocate",
    "create handle and allocate",
    "destroy handle and deallocate",
)
"""Names by OTF2_CollectiveOp."""


def _collectives(analysis: Analysis) -> pl.DataFrame:
    columns: dict[str, Any] = dict(analysis.collectives())
    names = pl.Series([*COLLECTIVE_NAMES, "unknown"])
    codes = np.minimum(columns["operation"], len(COLLECTIVE_NAMES)).astype(np.uint32)
    columns["operation"] = names.gather(pl.Series(codes))
    return frame(schema.COLLECTIVES, columns)


def _machine_values(parameters: ReplayParameters) -> list[m.MachineValue]:
    """Every parameter of the classes that are the machine's own (not those that borrow another's)."""
    values = []
    for row, c in enumerate(parameters.class_id):
        if int(parameters.class_origin[c]) != int(c):
            continue
        upper = int(parameters.max_bytes[row])
        for name, column in PARAMETERS.items():
            value = float(getattr(parameters, column)[row])
            error = float(parameters.errors[column][row])
            values.append(
                m.MachineValue(
                    locality=LOCALITIES[int(c)],
                    parameter=name,
                    up_to_bytes=None if upper == UNLIMITED else upper,
                    value=value,
                    unit="ps/B" if column.endswith("per_byte") else "ps",
                    uncertainty=None if np.isnan(error) else error,
                    source=parameters.source,
                )
            )
    for c, name in enumerate(LOCALITIES):
        limit = parameters.eager_limit(name)
        if limit is not None and int(parameters.class_origin[c]) == c:
            values.append(
                m.MachineValue(locality=name, parameter="eager_limit", value=limit, unit="B", source=parameters.source)
            )
    return values


def _manifest(
    anchor: Path,
    trace: Trace,
    analysis: Analysis,
    chosen: ChosenMachine,
    frames: Mapping[str, pl.DataFrame],
    sums: Mapping[str, int],
) -> m.Manifest:
    envelope = max(1, sums["envelope_ps"])
    parameters = chosen.parameters
    fits = [
        f"{name}: fitted to {fit.n} observations, root mean square left over {fit.residual_ps / 1e6:.3g} µs"
        for name, fit in parameters.quality.items()
    ]
    locations = frames["locations"]
    one_sided = trace.one_sided()
    return m.Manifest(
        tool_version=logpost.__version__,
        source=m.Source(
            anchor=str(anchor),
            bytes=_archive_bytes(anchor),
            properties=dict(trace.properties()),
        ),
        clock=m.Clock(ticks_per_second=trace.ticks_per_second, length_ps=trace.length_ps),
        ranks=int((locations["rank"] >= 0).sum()),
        locations=len(locations),
        events=int(locations["events"].sum()),
        communication_events=int(locations["communication_events"].sum()),
        messages=analysis.messages,
        paradigms=paradigms(trace),
        hosts=hosts(trace),
        windows=m.Windows(count=analysis.window_count, width_ps=analysis.window_width_ps),
        machine=m.MachineUsed(
            name=parameters.machine,
            origin=chosen.origin,
            label=chosen.label,
            file=chosen.file,
            sha256=chosen.sha256,
            values=_machine_values(parameters),
            residual_share=sums["residual_ps"] / envelope,
            deficit_share=sums["deficit_ps"] / envelope,
            notes=fits + chosen.notes,
        ),
        quality=[m.QualityCount(**row) for row in trace.quality()],
        layouts=[
            m.Layout(blocks=b, block_bytes=n, stride_bytes=s, extent_bytes=e)
            for b, n, s, e in zip(*(map(int, column) for column in trace.layouts().values()), strict=True)
        ],
        one_sided_bytes={
            kind: int(one_sided[f"{kind}_bytes"]) for kind in ("put", "get", "atomic") if one_sided[f"{kind}s"]
        },
        notes=_limits(trace, analysis, parameters, frames),
    )


def _limits(
    trace: Trace, analysis: Analysis, parameters: ReplayParameters, frames: Mapping[str, pl.DataFrame]
) -> list[str]:
    """What this analysis cannot tell, said plainly."""
    notes = []
    if analysis.messages:
        notes.append("network contention (C_n) is not modelled yet: its part is 0, and what it took lies in residual")
        if not len(trace.layouts()["blocks"]):
            notes.append("the archive states no datatype layouts: middleware latency is 0 where data was strided")
        elif parameters.log3p is None:
            notes.append("the machine has no log3P table: middleware latency is 0 although some messages are strided")
        notes.append("the archive has no arrival stamps: when a message reached a receiver that was late is modelled")
    if analysis.clock_violations:
        notes.append(
            f"{analysis.clock_violations} messages were received before they were sent, even with the archive's clock "
            "offsets: their envelopes are clamped and no model was fitted to them"
        )
    kinds = frames["regions"].filter(pl.col("kind") == "one_sided")["region"]
    paths = frames["callpaths"].filter(pl.col("region").is_in(kinds.implode()))["callpath"]
    one_sided = int(frames["exposure"].filter(pl.col("callpath").is_in(paths.implode()))["exposed_ps"].sum())
    if one_sided:
        notes.append(f"one-sided calls took {one_sided * 1e-12:.6g} s (summed over ranks); they count as mpi_other")
    return notes


def _archive_bytes(anchor: Path) -> int:
    files = [anchor, anchor.with_suffix(".def"), *(anchor.parent / anchor.stem).glob("*")]
    return sum(file.stat().st_size for file in files if file.is_file())
