"""Where a run ran, and where it would run: its ranks' seats, the network, and the routes of its messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.machine.known_network import KnownNetwork
from logpost.analyzer.machine.network import UNKNOWN, set_network
from logpost.analyzer.machine.placement import places_on_network
from logpost.analyzer.predict.whatif.mapping import Seats
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import owners
from logpost.errors import InputError
from logpost.machines import Machine, hops_matrix
from logpost.replay._native import Program, Surroundings


@dataclass(frozen=True)
class Site:
    """A program somewhere. `network` is the known network there."""

    surroundings: Surroundings
    network: KnownNetwork
    seats: Seats


@dataclass(frozen=True)
class Ranks:
    """The run's locations, and which rank each of them belongs to (-1: to none)."""

    locations: pl.DataFrame
    rank: npt.NDArray[np.int64]

    @classmethod
    def of(cls, run: Run) -> Ranks:
        """Those of a run: threads belong to the rank of their process."""
        columns = ("rank", "process", "node", "socket", "core")
        locations = run.facts("locations").sort("location").select(columns).collect()
        return cls(locations, owners(locations).fill_null(UNKNOWN).to_numpy().astype(np.int64))

    @property
    def count(self) -> int:
        """How many ranks there are; the largest is one less."""
        return int(self.rank.max(initial=-1)) + 1

    def seats(self, machine: Machine) -> Seats:
        """Where they sat. Nodes that the machine's network does not hold are numbered as the trace has them.

        Raises:
            InputError: two locations are the same rank, or a rank has no node.
        """
        known = self.locations.with_row_index("row").filter(pl.col("rank") >= 0).sort("rank")
        if known["rank"].to_list() != list(range(self.count)) or (known["node"] < 0).any():
            raise InputError("another placement needs a trace that states the node of every rank, and no rank twice")
        places, _ = places_on_network(machine, self.locations)
        nodes = known["node"].to_numpy().astype(np.int64)
        if (places[nodes] >= 0).all():
            nodes = places[nodes]
        return Seats(nodes, known["socket"].to_numpy().astype(np.int64))


def recorded_seats(ranks: Ranks, machine: Machine) -> Seats | None:
    """Where the ranks sat; None where they or nodes are not known."""
    try:
        return ranks.seats(machine)
    except InputError:
        return None


def recorded_site(program: Program, ranks: Ranks, machine: Machine, seats: Seats) -> Site:
    """Where the program ran."""
    surroundings = Surroundings(program)
    places, _ = places_on_network(machine, ranks.locations)
    return Site(surroundings, set_network(surroundings, machine, places), seats)


def site(program: Program, ranks: Ranks, machine: Machine, seats: Seats) -> Site:
    """The program with its ranks on these seats of a machine's network.

    Raises:
        InputError: the network has no such node.
    """
    topology = machine.topology
    if topology is not None and int(seats.nodes.max()) >= topology.n_nodes:
        raise InputError(
            f"a rank is on node {int(seats.nodes.max())}, and the network is a {topology.describe()} of "
            f"{topology.n_nodes} nodes (0 to {topology.n_nodes - 1}); set a larger topology"
        )
    used, dense = np.unique(seats.nodes, return_inverse=True)
    nodes = np.full(len(ranks.rank), UNKNOWN, dtype=np.int32)
    sockets = nodes.copy()
    mine = ranks.rank >= 0
    nodes[mine] = dense.astype(np.int32)[ranks.rank[mine]]
    sockets[mine] = seats.sockets.astype(np.int32)[ranks.rank[mine]]
    surroundings = Surroundings(program)
    surroundings.set_nodes(nodes)
    surroundings.place(
        sockets, np.arange(len(used), dtype=np.int32), np.ascontiguousarray(hops_matrix(machine, used)).ravel()
    )
    return Site(surroundings, set_network(surroundings, machine, used.astype(np.int64)), seats)
