"""Rank -> node -> coordinate, and how far ranks are apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.errors import InputError
from logpost.machines.topologies import Mesh
from logpost.machines.topologies.mapping import Mapping, parse_mapping

MESH = Mesh(kind="mesh", dims=[8, 4])


def test_block_fills_a_node_before_the_next() -> None:
    block = Mapping(kind="block", ranks_per_node=4, sockets_per_node=2)
    assert block.node_of(range(9)).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert block.socket_of(range(8)).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    # From rank 1: rank 1 itself, 0 in its socket, 2 in its node, 5 elsewhere.
    assert block.locality(1, [1, 0, 2, 5]).tolist() == [0, 1, 2, 3]


def test_cyclic_deals_ranks_out() -> None:
    cyclic = Mapping(kind="cyclic", nodes=3, ranks_per_node=2, sockets_per_node=2)
    assert cyclic.node_of(range(6)).tolist() == [0, 1, 2, 0, 1, 2]
    assert cyclic.slot_of(range(6)).tolist() == [0, 0, 0, 1, 1, 1]
    assert cyclic.locality(0, [3, 1]).tolist() == [2, 3]


def test_list_places_as_stated() -> None:
    mapping = Mapping(kind="list", nodes_of_ranks=[5, 0, 5, 9], ranks_per_node=2)
    assert mapping.node_of([0, 1, 2, 3]).tolist() == [5, 0, 5, 9]
    assert mapping.slot_of([0, 1, 2, 3]).tolist() == [0, 0, 1, 0]
    assert mapping.locality(0, [2, 1]).tolist() == [1, 3]
    # Node 5 is (5, 0), node 9 is (1, 1): 4 + 1 hops.
    assert mapping.hops(0, 3, MESH) == 5
    assert mapping.coordinates([0, 3], MESH).tolist() == [[5, 0], [1, 1]]


def test_random_is_a_permutation_of_the_nodes_and_repeats() -> None:
    drawn = Mapping(kind="random", nodes=32, seed=7)
    nodes = drawn.node_of(np.arange(32))
    assert sorted(nodes.tolist()) == list(range(32))
    assert nodes.tolist() != list(range(32))
    assert nodes.tolist() == Mapping(kind="random", nodes=32, seed=7).node_of(np.arange(32)).tolist()
    assert nodes.tolist() != Mapping(kind="random", nodes=32, seed=8).node_of(np.arange(32)).tolist()


def test_ranks_without_a_place_are_refused() -> None:
    with pytest.raises(InputError, match=r"rank -1 does not exist; ranks start at 0"):
        Mapping().node_of(-1)
    with pytest.raises(InputError, match="rank 2 has no node: nodes_of_ranks lists 2 ranks; "):
        Mapping(kind="list", nodes_of_ranks=[0, 1]).node_of(2)
    with pytest.raises(InputError, match=r"rank 8 needs node 4 of 4; raise nodes or ranks_per_node"):
        Mapping(kind="random", nodes=4, seed=0, ranks_per_node=2).node_of(8)
    with pytest.raises(InputError, match=r"node 32 is not on this mesh"):
        Mapping().hops(0, 32, MESH)


def test_mappings_from_the_command_line(tmp_path: Path) -> None:
    assert parse_mapping("block:4") == Mapping(kind="block", ranks_per_node=4)
    assert parse_mapping("cyclic:8") == Mapping(kind="cyclic", nodes=8)
    assert parse_mapping("random:8:3") == Mapping(kind="random", nodes=8, seed=3)
    assert parse_mapping("random:8:3:2") == Mapping(kind="random", nodes=8, seed=3, ranks_per_node=2)
    path = tmp_path / "nodes.txt"
    path.write_text("3\n0\n3\n")
    mapping = parse_mapping(f"file:{path}")
    assert mapping.node_of([0, 1, 2]).tolist() == [3, 0, 3]
    assert mapping.ranks_per_node == 2


@pytest.mark.parametrize("text", ["block", "heap:4", "random:4", "cyclic:1:2", ""])
def test_unknown_mappings_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is not known; use block:RANKS_PER_NODE, cyclic:NODES, random:NODES:SEED"):
        parse_mapping(text)


def test_bad_numbers_and_files_are_refused(tmp_path: Path) -> None:
    for text in ("block:x", "block:0", "cyclic:-1", f"block:{2**31}"):
        with pytest.raises(InputError, match=r"needs whole numbers, and at least 1"):
            parse_mapping(text)
    with pytest.raises(InputError, match=r"nodes.txt cannot be read; give a text file"):
        parse_mapping(f"file:{tmp_path / 'nodes.txt'}")
    path = tmp_path / "bad.txt"
    path.write_text("0\nnode1\n")
    with pytest.raises(InputError, match=r"bad.txt holds 'node1'; write one node number per line"):
        parse_mapping(f"file:{path}")
    path.write_text("")
    with pytest.raises(InputError, match=r"bad.txt holds 'nothing'"):
        parse_mapping(f"file:{path}")
    path.write_text(f"0\n{2**31}\n{'9' * 5000}\n")
    with pytest.raises(InputError, match=r"bad.txt holds '2147483648'"):
        parse_mapping(f"file:{path}")


@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 63), st.integers(0, 63))
def test_locality_is_symmetric_and_ordered(per_node: int, sockets: int, a: int, b: int) -> None:
    block = Mapping(kind="block", ranks_per_node=per_node, sockets_per_node=sockets)
    kind = int(block.locality(a, b))
    assert kind == int(block.locality(b, a))
    assert (kind == 0) == (a == b)
    assert (kind == 3) == (a // per_node != b // per_node)
    assert 0 <= int(block.socket_of(a)) < sockets
