"""Choose the machine of an analysis: the named one, the recorded one, or an estimate."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.machine.estimate import Estimate, estimate
from logpost.analyzer.machine.estimate.identify import Identified, identify, replayer
from logpost.analyzer.machine.estimate.machine_file import estimated_machine
from logpost.analyzer.machine.estimate.transfers import of_transfers
from logpost.errors import InputError
from logpost.machines import Machine, ReplayParameters, file_hash, replay_parameters
from logpost.machines.calibration.while_recording import NAME as MEASURED
from logpost.machines.calibration.while_recording import read_outcome
from logpost.machines.parameters import ESTIMATED
from logpost.machines.schema.load import RECORDED, check_machine, find_machine_file, load_machine_file
from logpost.machines.schema.write import to_toml
from logpost.machines.site.recorded import recorded_topology
from logpost.machines.site.topology import placed_by_name, read_topology, with_topology
from logpost.machines.values.toml import tomllib

SAMPLES = 25_000
"""Observations of each kind of which an estimate is made: the share of them below the 5 % quantile has a standard error
of 0.14 %, sqrt(0.05 * 0.95 / 25,000)."""
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
    not_measured: str = ""
    """why the recording measured none"""


def choose_machine(
    named: str | None,
    trace: Trace,
    anchor: Path,
    label: str,
    *,
    asynchronous_progress: bool,
    matched: bool = False,
    topology: str | None = None,
    threads: int = 1,
) -> ChosenMachine:
    """The machine the user named, else the one recorded with the trace, else an estimate; never a silent default.

    Its network is the one that the user named, else its own, else the one recorded with the trace.

    Args:
        named: name or file of a machine, or `ESTIMATE`; None: none is named.
        trace: to estimate from.
        topology: file or kind of a network; None: none is named.
        anchor: the archive's anchor file; a recorded machine is in the same folder.
        label: name of the archive, for an estimate's.
        asynchronous_progress: as the user states it.
        matched: the archive's library profile states that the network matches both ends of a message.
        threads: for an estimate's replays.

    Raises:
        InputError: the machine's file is faulty or lacks what the replay needs; the network's file is faulty.
    """
    chosen = _without_site(
        named, trace, anchor, label, asynchronous_progress=asynchronous_progress, matched=matched, threads=threads
    )
    return _on_site(chosen, topology, anchor.parent, _hosts_of_ranks(trace))


def _on_site(chosen: ChosenMachine, topology: str | None, archive: Path, hosts: list[str]) -> ChosenMachine:
    """The machine on its site's network, where one is stated."""
    machine = chosen.machine
    notes: list[str] = []
    if topology is not None:
        site = read_topology(topology, hosts)
    elif machine is not None and machine.topology is not None:
        site = None
    else:
        site, notes = recorded_topology(archive, hosts)
    if site is not None:
        whole = machine or check_machine(tomllib.loads(chosen.text), chosen.label)[0]
        assert whole is not None
        machine, more = with_topology(whole, site, hosts)
    elif machine is not None:
        machine, more = placed_by_name(machine, hosts)
    else:
        more = []
    if machine is chosen.machine:
        return replace(chosen, notes=chosen.notes + notes)
    assert machine is not None
    return replace(chosen, machine=machine, text=to_toml(machine), notes=chosen.notes + notes + more)


def _hosts_of_ranks(trace: Trace) -> list[str]:
    """The host of each rank, by rank; empty where the trace does not state them all."""
    locations, names = trace.locations(), trace.nodes()["name"]
    found = {
        int(rank): names[node]
        for rank, node in zip(locations["rank"], locations["node"], strict=True)
        if rank >= 0 and 0 <= node < len(names)
    }
    return [found[rank] for rank in range(len(found))] if len(found) == 1 + max(found, default=-1) else []


def _without_site(
    named: str | None,
    trace: Trace,
    anchor: Path,
    label: str,
    *,
    asynchronous_progress: bool,
    matched: bool,
    threads: int,
) -> ChosenMachine:
    recorded = anchor.parent / RECORDED
    if named not in (None, ESTIMATE):
        return _from_file(find_machine_file(named), "file")
    if named is None and recorded.is_file():
        try:
            chosen = _from_file(recorded, "recorded")
        except InputError as error:
            raise InputError(
                f"{error}; this machine was recorded with the trace: pass another one, or --machine {ESTIMATE}"
            ) from error
        notes = _measured_notes(anchor, wanted=True) if chosen.parameters.machine == MEASURED else []
        return replace(chosen, notes=notes + chosen.notes)
    tick_ps = 1e12 / trace.ticks_per_second
    guess = estimate(label, trace.program.samples(SAMPLES), tick_ps, matched=matched)
    if not guess.classes and has_transfers(trace):
        guess = of_transfers(label, trace.program, guess, asynchronous=asynchronous_progress, tick_ps=tick_ps)
    replay = replayer(trace.program, asynchronous_progress=asynchronous_progress, matched=matched)
    strided = len(trace.layouts()["blocks"]) > 0
    found = identify(guess, replay, strided=strided, one_sided=has_transfers(trace), threads=threads)
    why = _measured_notes(anchor, wanted=False)
    notes = [*why, *guess.notes, *found.notes]
    text = estimated_machine(found.parameters, guess, notes, datetime.date.today())
    return ChosenMachine(
        found.parameters, "estimated", ESTIMATED, None, None, notes, text, None, guess, found, "".join(why)
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


def has_transfers(trace: Trace) -> bool:
    """Whether a trace has one-sided transfers."""
    return any(trace.one_sided()[kind] for kind in ("puts", "gets", "atomics"))
