"""The stage that states in the manifest what was analyzed, on which machine, and how well that explains it."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import logpost
from logpost.analyzer.archive._native import Trace
from logpost.analyzer.machine.choose import ChosenMachine
from logpost.analyzer.machine.placement import Placed
from logpost.analyzer.machine.used import estimated_values, machine_values
from logpost.analyzer.pipeline.library import library_used
from logpost.analyzer.pipeline.memory_limit import peak_bytes
from logpost.analyzer.pipeline.recording.call_paths import call_path_counts
from logpost.analyzer.pipeline.recording.open_calls import ended_early
from logpost.analyzer.pipeline.recording.overwritten import number_of, overwritten, overwritten_counts
from logpost.analyzer.pipeline.recording.switched_off import switched_off, switched_off_counts
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.stages.limits import limits, model_notes, progress_notes
from logpost.analyzer.pipeline.stages.tables import Tables
from logpost.analyzer.pipeline.tables.analysis import analysis_windows, error_shares
from logpost.analyzer.pipeline.tables.archive import hosts, paradigms
from logpost.analyzer.pipeline.tables.extrapolated import extrapolated
from logpost.analyzer.run import manifest as m
from logpost.analyzer.run.faults import Faults
from logpost.errors import printable
from logpost.machines.site.recorded import adapters, read_hosts
from logpost.replay._native import Analysis, Spill

OWN_PROPERTY = "LOGPOST::CLOCK"
"""A property of every archive that logpost's assembler has written."""


def describe(
    request: Request,
    anchor: Path,
    size: Future[int],
    trace: Trace,
    analysis: Analysis,
    chosen: ChosenMachine,
    placed: Placed,
    tables: Tables,
    sums: Counter[str],
    spill: Spill | None,
    faults: Faults,
) -> m.Manifest:
    """The manifest of the whole program."""
    parameters = chosen.parameters
    properties = dict(trace.properties())
    early: list[str] = faults.guard("calls that never ended", lambda: ended_early(trace, tables), [])
    locations = tables["locations"]
    library = library_used(chosen.machine, properties)
    one_sided = trace.one_sided()
    layouts = trace.layouts()
    used = m.MachineUsed(
        name=parameters.machine,
        origin=chosen.origin,
        label=chosen.label,
        file=printable(chosen.file) if chosen.file else None,
        sha256=chosen.sha256,
        asynchronous_progress=analysis.asynchronous_progress,
        library=library,
        model=request.model,
        values=estimated_values(parameters, chosen.estimate)
        if chosen.estimate is not None and chosen.estimate.classes
        else machine_values(parameters),
        **error_shares(sums),
        not_measured=chosen.not_measured,
        notes=chosen.notes + placed.notes + progress_notes(request, analysis, library),
    )
    return m.Manifest(
        tool_version=logpost.__version__,
        source=m.Source(anchor=printable(str(anchor)), bytes=size.result(), properties=properties),
        clock=_clock(request, trace),
        ranks=int((locations["rank"] >= 0).sum()),
        locations=len(locations),
        events=int(locations["events"].sum()),
        communication_events=int(locations["communication_events"].sum()),
        messages=analysis.messages,
        paradigms=paradigms(trace),
        hosts=hosts(trace),
        windows=analysis_windows(analysis),
        machine=with_undivided(used, chosen),
        quality=counted(trace)
        + overwritten_counts(properties)
        + switched_off_counts(properties)
        + call_path_counts(properties)
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
        adapters=faults.guard("counters of network adapters", lambda: adapters_read(anchor.parent), []),
        sample_ps=trace.sample_ps,
        recording_ps=1000 * number_of(properties, "RECORDING_NS"),
        call_recording_ps=number_of(properties, "CALL_RECORDING_PS"),
        pack=request.pack,
        ended_early=early,
        overwritten=overwritten(properties) + switched_off(properties, trace.quality()),
        memory=m.MemoryUsed(
            limit_bytes=spill.limit_bytes if spill is not None else None,
            peak_bytes=peak_bytes(),
            spilled_bytes=spill.spilled_bytes if spill is not None else 0,
        ),
        notes=model_notes(request.model) + limits(trace, analysis, parameters),
    )


def adapters_read(archive: Path) -> list[m.AdapterCounters]:
    """What the recorder read of the hosts' adapters. Raises InputError where its file is damaged."""
    return [
        m.AdapterCounters(
            host=printable(one.host),
            name=printable(one.name),
            rate=printable(one.rate),
            processors=printable(one.processors),
            seconds=one.seconds,
            sent_bytes=one.octets("sent"),
            received_bytes=one.octets("received"),
            counted={printable(name): count for name, count in one.counted.items()},
        )
        for one in adapters(read_hosts(archive))
    ]


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


def counted(trace: Trace) -> list[m.QualityCount]:
    """What the reader counted. In an archive of logpost's own, contradictory records are the recording's fault."""
    own = OWN_PROPERTY in dict(trace.properties())
    counts = [m.QualityCount(**row) for row in trace.quality()]
    return [
        one.model_copy(update={"blame": "recording"})
        if own and (one.severity, one.blame) == ("error", "trace")
        else one
        for one in counts
    ]


def with_undivided(used: m.MachineUsed, chosen: ChosenMachine) -> m.MachineUsed:
    """The same with the categories that an estimate does not divide, and whether it contradicts the trace."""
    if chosen.identified is None:
        return used
    refused = chosen.identified.refused or used.deficit > m.MUCH_DEFICIT
    return used.model_copy(update={"undivided": list(chosen.identified.shown(refused=refused)), "refused": refused})
