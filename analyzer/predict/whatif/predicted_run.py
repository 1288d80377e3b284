"""Write a predicted execution as a run: the ordinary analysis of the program with predicted times.

What the program did (calls, messages, transfers, communicators) is the recorded run's; when it did so is the replay's.
Messages are split under the machine that the replay took, and every other table follows from the split, as in
`logpost analyze`. The manifest says that the run is predicted, from which run, and with what error.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

import logpost
from logpost.analyzer.machine.placement import Placed, place
from logpost.analyzer.machine.used import machine_values
from logpost.analyzer.pipeline.resplit import silent
from logpost.analyzer.pipeline.tables.analysis import (
    Report,
    analysis_windows,
    error_shares,
    write_analysis,
    write_findings,
)
from logpost.analyzer.pipeline.tables.extrapolated import extrapolated
from logpost.analyzer.pipeline.tables.ideal_network import ideal_network
from logpost.analyzer.pipeline.tables.threads import thread_frame
from logpost.analyzer.predict.whatif.ask import Prediction
from logpost.analyzer.predict.whatif.plan import Plan
from logpost.analyzer.predict.whatif.predicted_machine import predicted_machine
from logpost.analyzer.predict.whatif.retimed import Retimed
from logpost.analyzer.predict.whatif.seated import seated
from logpost.analyzer.run import manifest as m
from logpost.analyzer.run.directory import Run, RunWriter
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.place import MACHINE
from logpost.analyzer.run.program import unplaced_program
from logpost.errors import InputError, printable
from logpost.machines import ReplayParameters, file_hash, load_machine, replay_parameters
from logpost.machines.schema.load import find_machine_file
from logpost.replay._native import Analysis
from logpost.replay.cost.parameters import native_parameters

DEFINITIONS = (
    "regions",
    "callpaths",
    "communicators",
    "open_calls",
    "profile",
    "region_spans",
    "detail_levels",
    "samples",
    "file_calls",
    "any_source",
    "thread_spans",
    "streams",
)
"""Tables that no split changes; what accelerators do stays as recorded."""
COUNTED_ANEW = ("beyond_measured_sizes", "beyond_measured_strides")


def write_predicted(
    prediction: Prediction, path: str | os.PathLike[str], *, force: bool = False, report: Report = silent
) -> Run:
    """Write what was predicted as a run, whole or not at all.

    Args:
        prediction: of a run, by `Replay.predict` or `predict`.
        path: the directory to write.
        force: replace a run that is there.
        report: receives the progress.

    Raises:
        InputError: the place is taken, or is that of the recorded run.
    """
    plan = prediction.plan
    if Path(path).exists() and Path(path).samefile(plan.run.path):
        raise InputError(f"{path} is the run that is replayed; choose another place with -o")
    with RunWriter(path, force=force) as writer:
        report("replaying calls", 0, 0)
        (engine,) = plan.engine().in_arrival_order([plan.planned])
        times = engine.times(plan.planned)
        retimed = Retimed(plan.run, plan.planned, times, prediction.after)
        text = predicted_machine(plan)
        writer.write_machine(_unchanged_text(plan) if text is None else text)
        manifest = _write_tables(writer, retimed, prediction, report, changed=text is not None)
        report("looking for hotspots", 0, 0)
        run = Run(writer.path, manifest)
        faults = Faults()
        writer.write("ideal_network", faults.table("ideal_network", lambda: ideal_network(run)))
        write_findings(writer, run, {}, faults)
        return writer.finish(manifest.model_copy(update={"faults": faults.found}))


def _unchanged_text(plan: Plan) -> str:
    file = plan.run.machine_file if plan.ask.machine is None else find_machine_file(plan.ask.machine)
    return file.read_text(encoding="utf-8-sig")


def _write_tables(
    writer: RunWriter, retimed: Retimed, prediction: Prediction, report: Report, *, changed: bool
) -> m.Manifest:
    plan = prediction.plan
    machine = load_machine(writer.path / MACHINE)
    parameters = replay_parameters(machine)
    locations = retimed.facts("locations").sort("location").collect()
    if plan.ask.mapping is not None and (seats := plan.seats()) is not None:
        locations = seated(locations, plan, seats)
        retimed.replace("locations", locations)
    same = not changed and plan.ask.machine is None
    report("replaying queues", 0, 0)
    program = unplaced_program(retimed)
    if same and retimed.manifest.machine.origin == "estimated":
        placed = Placed(locations["socket"].to_numpy().astype(np.int32))
    else:
        placed = place(program, machine, locations.select("rank", "node", "socket", "core"), {})
    native = native_parameters(
        parameters,
        asynchronous_progress=plan.planned.asynchronous_progress,
        model=retimed.manifest.machine.model,
    )
    analysis = Analysis(program, native, len(os.sched_getaffinity(0)))
    _, sums = write_analysis(writer, analysis, placed.network, report)
    span = analysis.interest()
    interest = {"begin_ps": pl.Series(span["begin_ps"]), "end_ps": pl.Series(span["end_ps"])}
    writer.write("locations", locations.with_columns(socket=pl.Series(placed.sockets), **interest))
    for name in DEFINITIONS:
        writer.write(name, retimed.facts(name).collect())
    spans = retimed.facts("thread_spans").collect()
    writer.write("threads", thread_frame(spans, retimed.facts("calls"), locations.with_columns(**interest)))
    used = retimed.manifest.machine.model_copy(update=error_shares(sums))
    if not same:
        used = _machine_used(plan, used, parameters, [*parameters.assumptions, *placed.notes], changed=changed)
    return _manifest(prediction, used, analysis, locations)


def _machine_used(
    plan: Plan, recorded: m.MachineUsed, parameters: ReplayParameters, notes: list[str], *, changed: bool
) -> m.MachineUsed:
    """What the manifest says of a machine that is not the recorded one."""
    label = recorded.label if plan.ask.machine is None else plan.runs_on.name
    file = None if changed or plan.ask.machine is None else find_machine_file(plan.ask.machine)
    own = plan.ask.machine is None
    return recorded.model_copy(
        update={
            "name": parameters.machine,
            "origin": "file",
            "label": f"{label}, changed: {', '.join(plan.ask.settings) or 'placement'}" if changed else label,
            "file": None if file is None else printable(str(file)),
            "sha256": None if file is None else file_hash(file),
            "asynchronous_progress": plan.planned.asynchronous_progress,
            "values": machine_values(parameters),
            "undivided": recorded.undivided if own else [],
            "refused": recorded.refused if own else False,
            "notes": notes,
        }
    )


def _manifest(prediction: Prediction, used: m.MachineUsed, analysis: Analysis, locations: pl.DataFrame) -> m.Manifest:
    run, plan = prediction.plan.run, prediction.plan
    recorded = run.manifest
    length = int(locations["last_ps"].max()) - int(locations["first_ps"].min())  # type: ignore[arg-type]
    low, high = prediction.interval_ps
    return recorded.model_copy(
        update={
            "tool_version": logpost.__version__,
            "clock": recorded.clock.model_copy(update={"length_ps": length}),
            "windows": analysis_windows(analysis),
            "hosts": recorded.hosts if plan.ask.mapping is None else _hosts(locations),
            "machine": used,
            "region_of_interest": None,
            "quality": [one for one in recorded.quality if one.name not in COUNTED_ANEW] + extrapolated(analysis),
            "predicted": m.Predicted(
                run=printable(str(run.path)),
                machine=recorded.machine.label,
                settings=prediction.settings,
                measured_ps=prediction.measured_ps,
                predicted_ps=prediction.predicted_ps,
                low_ps=low,
                high_ps=high,
            ),
            "notes": list(dict.fromkeys([*recorded.notes, *prediction.notes, *_limits(recorded)])),
        }
    )


def _limits(recorded: m.Manifest) -> list[str]:
    """What a predicted run cannot contain."""
    notes = ["predicted times of user regions follow the factors of computation; their single events are not replayed"]
    if recorded.region_of_interest is not None:
        notes.append("the recorded run's region of interest is not carried over: the figures are about all of it")
    return notes


def _hosts(locations: pl.DataFrame) -> m.Hosts:
    """Where the ranks would be; how many cores a node has is the recorded nodes' own affair."""
    nodes = Counter(locations.filter(pl.col("rank") >= 0, pl.col("node") >= 0)["node"].to_list())
    per_node = [nodes[node] for node in sorted(nodes)]
    return m.Hosts(nodes=len(nodes), ranks_per_node=per_node, cores_per_node=[0] * len(nodes), oversubscribed=None)
