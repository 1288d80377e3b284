"""Stages that replay: what each rank waits for, the machine, the placement, and the split of every message."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from logpost.analyzer.archive._native import Trace, release_memory
from logpost.analyzer.machine.choose import ChosenMachine, choose_machine
from logpost.analyzer.machine.placement import Placed, place
from logpost.analyzer.pipeline.library import library_used
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request, archive_name
from logpost.analyzer.pipeline.tables.analysis import Report
from logpost.analyzer.pipeline.tables.archive import cores_of_nodes, places_of_locations
from logpost.replay._native import Analysis, Causes, Parameters
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.graph.library import codes_of


def find_causes(trace: Trace, archive: ReadAhead, background: ThreadPoolExecutor) -> Causes:
    """What each rank waits for. It depends on no machine: cores that later stages leave idle find it, where no task
    has."""
    causes = archive.causes(trace) or Causes(trace.program, archive.threads)
    background.submit(_find, causes)
    return causes


def _find(causes: Causes) -> None:
    """Find the causes of waits, and give back the memory that the search needed."""
    causes.find()
    release_memory()


def choose(request: Request, archive: ReadAhead, anchor: Path, trace: Trace, report: Report) -> ChosenMachine:
    """The machine; of an archive whose blocks others have read, the one with which they replayed them."""
    report("choosing the machine", 0, 0)
    return archive.chosen() or choose_anew(request, archive.threads, anchor, trace)


def choose_anew(request: Request, threads: int, anchor: Path, trace: Trace) -> ChosenMachine:
    """The machine that a request names, or an estimate."""
    used = library_used(None, dict(trace.properties()))
    stated = {} if used is None else used.values
    return choose_machine(
        request.machine,
        trace,
        anchor,
        archive_name(anchor),
        asynchronous_progress=request.asynchronous_progress or stated.get("progress") == "asynchronous",
        matched=stated.get("synchronous_sends") == "match",
        topology=request.topology,
        threads=threads,
    )


def place_program(trace: Trace, chosen: ChosenMachine) -> Placed:
    """Sockets, nodes and network of the trace's program, as far as trace and machine state them."""
    locations = places_of_locations(trace)
    if chosen.machine is None:
        return Placed(locations["socket"].to_numpy().astype(np.int32), _no_network(trace))
    return place(trace.program, chosen.machine, locations, cores_of_nodes(trace))


def _no_network(trace: Trace) -> list[str]:
    """That an estimated machine has no network, where messages need one."""
    if not len(trace.program.node_pairs()[0]):
        return []
    return [
        "network contention (C_n) is 0 and its time is in residual: an estimated machine has no topology; "
        "--topology or --machine FILE states one"
    ]


def parameters_of(request: Request, trace: Trace, chosen: ChosenMachine) -> Parameters:
    """What the machine, and the library's profile, say of messages."""
    used = library_used(chosen.machine, dict(trace.properties()))
    stated = {} if used is None else used.values
    parameters = native_parameters(
        chosen.parameters,
        asynchronous_progress=request.asynchronous_progress or stated.get("progress") == "asynchronous",
        model=request.model,
    )
    parameters.library = codes_of(stated)
    return parameters


def split(
    request: Request,
    archive: ReadAhead,
    trace: Trace,
    chosen: ChosenMachine,
    causes: Causes,
    report: Report,
) -> Analysis:
    """The replay of the placed program, whose rows later stages write."""
    release_memory()  # an estimate's replays leave as much behind as the trace needs
    report("replaying queues", 0, 0)
    parameters = parameters_of(request, trace, chosen)
    replayed = archive.replayed(trace)
    return Analysis(trace.program, parameters, archive.threads, causes=causes, replayed=replayed)
