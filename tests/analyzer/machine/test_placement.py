"""Sockets from the system tree, bindings or the machine's mapping; places of nodes on the machine's network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.machines.builders import DOCUMENT, machine
from tests.said import facts

from logpost.analyzer.machine.placement import Placed, cores_of, place

MESH = {"kind": "mesh", "dims": [4]}


@dataclass
class Placement:
    """The placement that a program received."""

    sockets: list[int]
    place_of_node: list[int]
    hops: list[list[int]]
    notes: list[str]


class Listener:
    """A program that keeps the placement that it receives."""

    def place(self, sockets: Any, place_of_node: Any, hops: Any) -> None:
        side = round(len(hops) ** 0.5)
        self.received = sockets.tolist(), place_of_node.tolist(), np.reshape(hops, (side, side)).tolist()

    def node_pairs(self) -> tuple[Any, Any]:
        return np.empty(0), np.empty(0)


def placement_of(
    nodes: list[int],
    *,
    core: list[str] | None = None,
    socket: list[int] | None = None,
    rank: list[int] | None = None,
    cores: dict[int, int] | None = None,
    **machine_tables: Any,
) -> Placement:
    n = len(nodes)
    locations = pl.DataFrame(
        {"rank": rank or list(range(n)), "node": nodes, "socket": socket or [-1] * n, "core": core or [""] * n},
        schema={"rank": pl.Int32, "node": pl.Int32, "socket": pl.Int32, "core": pl.String},
    )
    listener = Listener()
    placed: Placed = place(listener, machine(**machine_tables), locations, cores or {})  # type: ignore[arg-type]
    assert placed.sockets.tolist() == listener.received[0]
    return Placement(*listener.received, notes=placed.notes)


@pytest.mark.parametrize(
    ("text", "cores"),
    [("0-3,8", [0, 1, 2, 3, 8]), ("7", [7]), ("0-1, 4-5", [0, 1, 4, 5]), ("", []), ("all", []), ("0-", [0])],
)
def test_lists_of_cores_are_read_as_linux_writes_them(text: str, cores: list[int]) -> None:
    assert cores_of(text) == cores


def test_a_binding_within_one_socket_shows_the_socket() -> None:
    # 8 cores on 2 sockets: 0-3 and 4-7.
    found = placement_of([0] * 5, core=["0", "2-3", "4,7", "3-4", ""], node={"sockets": 2, "processors": 8})
    assert found.sockets == [0, 0, 1, -1, -1]
    (note,) = found.notes
    assert note.startswith("sockets are known from the cores ")


def test_a_second_turn_of_numbers_is_the_second_threads_of_the_cores() -> None:
    # The trace sees 16 processors, the machine has 8 cores: 8-15 are the second threads of 0-7.
    found = placement_of([0] * 3, core=["0,8", "4,12", "3,12"], cores={0: 16}, node={"sockets": 2, "processors": 8})
    assert found.sockets == [0, 1, -1]


def test_the_trace_says_how_many_cores_a_node_has_where_the_machine_does_not() -> None:
    # Node 0 has 4 cores, node 1 has 16, and each has two sockets.
    found = placement_of([0, 0, 1, 1], core=["1", "2", "2", "8"], cores={0: 4, 1: 16}, node={"sockets": 2})
    assert found.sockets == [0, 1, 0, 1]
    assert placement_of([0, 0], core=["0", "1"], node={"sockets": 2}).sockets == [-1, -1]


def test_the_only_socket_of_a_node_is_every_ranks() -> None:
    found = placement_of([0, 0, 1], core=["", "0-7", ""], node={"sockets": 1})
    assert (found.sockets, found.notes) == ([0, 0, 0], [])


def test_the_traces_own_sockets_are_kept() -> None:
    found = placement_of([0, 0], core=["0", "0"], socket=[5, 6], node={"sockets": 2, "processors": 8})
    assert (found.sockets, found.notes) == ([5, 6], [])


def test_a_mapping_that_states_sockets_places_ranks_that_the_trace_does_not_bind() -> None:
    # 4 ranks on a node of 2 sockets: the first two on socket 0. Rank 4 is the first of its node. A thread has none.
    found = placement_of(
        [0, 0, 0, 0, 1, 0],
        rank=[0, 1, 2, 3, 4, -1],
        mapping={"kind": "block", "ranks_per_node": 4, "sockets_per_node": 2},
    )
    assert found.sockets == [0, 0, 1, 1, 0, -1]
    (note,) = found.notes
    assert note.startswith("sockets are those of the machine's mapping")
    assert placement_of([0, 0], mapping={"kind": "block", "ranks_per_node": 4}).sockets == [-1, -1]


def test_hops_are_those_of_the_nodes_in_the_order_of_their_first_ranks() -> None:
    # The archive numbers its nodes 7 and 3: rank 0 is on 7, which is the first on the mesh.
    found = placement_of([7, 7, 3], topology=MESH)
    assert found.place_of_node[7] == 0
    assert found.place_of_node[3] == 1
    assert [found.place_of_node[i] for i in (0, 1, 2, 4, 5, 6)] == [-1] * 6
    assert found.hops == [[0, 1], [1, 0]]
    (note,) = found.notes
    assert note.startswith("hops: the machine has no mapping")


def test_hops_are_those_of_the_machines_mapping() -> None:
    found = placement_of([0, 0, 1], topology=MESH, mapping={"kind": "list", "nodes_of_ranks": [3, 3, 1]})
    assert found.hops[found.place_of_node[0]][found.place_of_node[1]] == 2
    assert found.notes == []


@pytest.mark.parametrize(
    ("nodes", "mapping", "words"),
    [
        ([0, 0, 1], {"kind": "block", "ranks_per_node": 1}, "parts ranks that ran on one node"),
        ([0, 1, 2], {"kind": "block", "ranks_per_node": 2}, "puts ranks together that ran on different"),
        ([0, 1, 2], {"kind": "list", "nodes_of_ranks": [0, 1]}, "these ranks: rank 2 has no node"),
    ],
)
def test_a_mapping_that_is_not_the_traces_shows_no_hops(nodes: list[int], mapping: dict[str, Any], words: str) -> None:
    found = placement_of(nodes, topology=MESH, mapping=mapping)
    assert found.hops == []
    assert set(found.place_of_node) == {-1}
    assert words in found.notes[0]


def test_nodes_outside_of_the_network_have_no_hops() -> None:
    found = placement_of([0, 1, 2, 3, 4], topology=MESH, mapping={"kind": "block", "ranks_per_node": 1})
    assert found.hops[0] == [0, 1, 2, 3, -1]
    assert found.hops[4] == [-1] * 5
    (note,) = found.notes
    assert facts(note) == ["1", "4"]
    assert note.startswith("hops: ")


def test_a_machine_without_a_network_has_no_hops() -> None:
    assert "topology" not in DOCUMENT
    found = placement_of([0, 1])
    assert (found.hops, found.place_of_node, found.notes) == ([], [-1, -1], [])
