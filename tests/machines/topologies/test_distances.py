"""Hops between the nodes of a machine file, as the replay looks them up."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from pydantic import TypeAdapter

from logpost.machines import Machine, hops_between, hops_matrix, load_machine
from logpost.machines.topologies import AnyTopology, Topology

KINDS = [
    {"kind": "mesh", "dims": [3, 2]},
    {"kind": "torus", "dims": [4, 3]},
    {"kind": "torus", "dims": [4, 3], "bidirectional": False},
    {"kind": "k-ary n-cube", "k": 3, "n": 2},
    {"kind": "ring", "nodes": 7},
    {"kind": "hypercube", "n": 3},
    {"kind": "fat tree", "children": [2, 3, 2], "parents": [1, 2, 2]},
    {"kind": "dragonfly", "groups": 4, "routers": 3, "nodes_per_router": 2, "global_links": 5},
    {"kind": "crossbar", "nodes": 5},
]


def with_topology(fields: dict[str, object] | None) -> Machine:
    topology: Topology | None = TypeAdapter(AnyTopology).validate_python(fields) if fields else None
    return load_machine("alewife").model_copy(update={"topology": topology})


@pytest.mark.parametrize("fields", KINDS, ids=lambda f: " ".join(map(str, f.values())))
def test_every_entry_is_the_length_of_the_route(fields: dict[str, object]) -> None:
    machine = with_topology(fields)
    assert machine.topology is not None
    count = machine.topology.n_nodes
    matrix = hops_matrix(machine, np.arange(count))
    assert matrix.dtype == np.int32
    assert matrix.shape == (count, count)
    for a, b in itertools.product(range(count), repeat=2):
        assert matrix[a, b] == len(machine.topology.route(a, b)) - 1


def test_nodes_may_be_in_any_order_and_twice() -> None:
    # Alewife's 8 x 4 mesh: 31 is (7, 3), 0 is (0, 0), 9 is (1, 1).
    assert hops_matrix(load_machine("alewife"), [31, 0, 9, 0]).tolist() == [
        [0, 10, 8, 10],
        [10, 0, 2, 0],
        [8, 2, 0, 2],
        [10, 0, 2, 0],
    ]


def test_one_way_links_count_their_own_way() -> None:
    one_way = with_topology({"kind": "ring", "nodes": 5, "bidirectional": False})
    assert hops_matrix(one_way, [0, 1]).tolist() == [[0, 1], [4, 0]]


def test_pairs_broadcast() -> None:
    machine = load_machine("alewife")
    assert hops_between(machine, 0, [0, 1, 8, 31]).tolist() == [0, 1, 1, 10]
    assert hops_between(machine, [[0], [1]], [0, 31]).tolist() == [[0, 10], [1, 9]]
    assert hops_matrix(machine, []).shape == (0, 0)


def test_unknown_nodes_have_unknown_hops() -> None:
    machine = load_machine("alewife")
    assert hops_matrix(machine, [0, 32, -1, 1]).tolist() == [
        [0, -1, -1, 1],
        [-1, -1, -1, -1],
        [-1, -1, -1, -1],
        [1, -1, -1, 0],
    ]
    assert hops_matrix(with_topology(None), [0, 1]).tolist() == [[-1, -1], [-1, -1]]
