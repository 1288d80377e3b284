"""A program at another size, replayed: its schedule on the machine, and each category's time of each rank."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.machine.network import set_network
from logpost.analyzer.predict.scale.ideal_schedule import ideal_schedule
from logpost.analyzer.predict.scale.synthesis import Synthetic
from logpost.analyzer.predict.scale.template import Column
from logpost.analyzer.run.parquet import frame
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import ACCOUNTING
from logpost.machines import Machine, ReplayParameters, hops_matrix, load_machine, replay_parameters
from logpost.machines.topologies.crossbar import Crossbar
from logpost.replay._native import Analysis, Program, Surroundings
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.graph import Engine, Scenario, changed


@dataclass(frozen=True)
class Replayed:
    """The times of a synthesized program."""

    ranks: int
    length_ps: int
    """of the program, on the rank where it is longest"""
    times: pl.DataFrame
    """columns location, category, exposed_ps: of the program"""


def replay_at(synthetic: Synthetic) -> Replayed:
    """Replay a synthesized program on its template's machine, and split it.

    Raises:
        NoReplayError: its calls wait for each other.
        InputError: its messages do.
    """
    manifest = synthetic.template.run.manifest
    nodes = int(synthetic.nodes.max()) + 1
    machine = machine_of(load_machine(synthetic.template.run.machine_file), nodes)
    values = replay_parameters(machine)
    planned = Scenario(values, manifest.machine.asynchronous_progress, library=manifest.machine.stated_of_library)
    needs_reply = _rendezvous(synthetic, values)
    enter, leave = ideal_schedule(synthetic, needs_reply, asynchronous=planned.asynchronous_progress)
    callpaths = synthetic.template.run.facts("callpaths").select(pl.len()).collect().item()
    recorded = synthetic.program(enter, leave)
    ideal = changed(planned, ["network=ideal"])
    engine = Engine(recorded, ideal, locations=synthetic.ranks, callpaths=callpaths, network=Surroundings(recorded))
    there = Surroundings(recorded)
    _on_network(there, machine, synthetic)
    enters, leaves = engine.times(Scenario(planned.machine, planned.asynchronous_progress, elsewhere=there))
    found = synthetic.program(enters, leaves)
    _on_network(found, machine, synthetic)
    analysis = Analysis(
        found,
        native_parameters(values, asynchronous_progress=planned.asynchronous_progress, model=manifest.machine.model),
        len(os.sched_getaffinity(0)),
    )
    analysis.split_only()
    rows = program(frame(ACCOUNTING, analysis.accounting()).lazy())
    times = rows.group_by("location", "category").agg(pl.col("exposed_ps").sum()).collect()
    lengths = times.group_by("location").agg(pl.col("exposed_ps").sum())["exposed_ps"]
    return Replayed(synthetic.ranks, int(lengths.to_numpy().max(initial=0)), times)


def machine_of(machine: Machine, nodes: int) -> Machine:
    """The template's machine with a crossbar of so many nodes: what the network of another size would be, and how far
    its nodes lie apart, no trace says. A crossbar's links keep their bandwidth; those of others carry a byte in G."""
    known = machine.topology
    bandwidth = known.link_bandwidth if isinstance(known, Crossbar) else None
    made = Crossbar(kind="crossbar", nodes=nodes, link_bandwidth=bandwidth)
    return machine.model_copy(update={"topology": made, "mapping": None})


def _on_network(program: Program | Surroundings, machine: Machine, synthetic: Synthetic) -> None:
    """Place node n of the program on node n of the machine's network."""
    places = np.unique(synthetic.nodes).astype(np.int32)
    sockets = np.full(synthetic.ranks, -1, dtype=np.int32)
    program.place(sockets, places, np.ascontiguousarray(hops_matrix(machine, places)).ravel())
    set_network(program, machine, places.astype(np.int64))


def _rendezvous(synthetic: Synthetic, values: ReplayParameters) -> Column:
    """By message: it is larger than the eager limit of its distance."""
    rows, nodes = synthetic.messages, synthetic.nodes
    far = nodes[rows["send_location"]] != nodes[rows["recv_location"]]
    limits = [values.eager_limit(name) for name in ("same_node", "other_node")]
    near, between = (np.iinfo(np.int64).max if limit is None else limit for limit in limits)
    return np.asarray(rows["bytes"].astype(np.float64) > np.where(far, between, near))
