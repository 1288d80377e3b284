"""`--topology`: which network is meant, a machine on it, and its ranks by the names of their hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.machines.builders import machine
from tests.machines.site.test_ibnetdiscover import FABRIC
from tests.machines.site.test_slurm import SHOWN

from logpost.errors import InputError
from logpost.machines.schema.load import check_machine_file
from logpost.machines.schema.write import to_toml
from logpost.machines.site.topology import placed_by_name, read_topology, with_topology
from logpost.machines.topologies import FatTree, Mesh, Switched


@pytest.mark.parametrize(("text", "hosts"), [(SHOWN, 8), (FABRIC, 4)])
def test_a_tool_s_output_is_recognised(tmp_path: Path, text: str, hosts: int) -> None:
    file = tmp_path / "fabric.txt"
    file.write_text(text)
    found = read_topology(str(file))
    assert isinstance(found.topology, Switched)
    assert found.topology.n_nodes == hosts
    assert found.origin == str(file)


def test_a_table_and_a_kind_with_numbers(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[topology]\nkind = "mesh"\ndims = [4, 2]\n')
    assert isinstance(read_topology(str(file)).topology, Mesh)
    assert isinstance(read_topology("fat-tree:4x4").topology, FatTree)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.txt", None, "no such file; .*`scontrol show topology` .*ibnetdiscover"),
        ("other.txt", "hello\n", "states no network that logpost reads"),
        ("none.toml", "format = 1\n", r"has no \[topology\]"),
        ("bad.toml", '[topology]\nkind = "mesh"\ndims = [0]\n', r"\[topology\]"),
        ("cut.txt", SHOWN.replace("tux[4-7]", "tux[4-7", 1), "whose brackets do not match"),
    ],
)
def test_what_is_no_network_is_refused_in_a_line(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_topology(str(file))
    assert "\n" not in str(caught.value)


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="topology = star:4 is not known"):
        read_topology("star:4")


def test_a_machine_on_a_network_places_ranks_by_name_and_can_be_read_back(tmp_path: Path) -> None:
    file = tmp_path / "shown.txt"
    file.write_text(SHOWN)
    # Host names of a trace may have the domain, and ranks any order.
    ranks = ["tux5.site.org", "tux5.site.org", "tux0.site.org"]
    made, notes = with_topology(machine(), read_topology(str(file)), ranks)
    assert made.mapping is not None
    assert made.mapping.nodes_of_ranks == [5, 5, 0]
    assert notes[0] == f"network: network of 8 hosts on 3 switches, from {file}"
    whole = tmp_path / "machine.toml"
    whole.write_text(to_toml(made))
    again, problems = check_machine_file(whole)
    assert problems == []
    assert again is not None
    assert again.topology == made.topology


def test_a_host_that_the_network_lacks_leaves_distances_unknown(tmp_path: Path) -> None:
    file = tmp_path / "shown.txt"
    file.write_text(SHOWN)
    made, notes = with_topology(machine(), read_topology(str(file)), ["tux0", "elsewhere"])
    assert made.topology is None
    assert notes[-1].startswith("network: the host elsewhere is not one ")


def test_networks_without_names_keep_the_order_of_ranks() -> None:
    mesh = machine(topology={"kind": "mesh", "dims": [4]})
    assert placed_by_name(mesh, ["a", "b"]) == (mesh, [])
