"""Slurm's texts: host lists, `scontrol show topology`, topology.conf, and the address of each host."""

from __future__ import annotations

import pytest
from tests.said import facts

from logpost.errors import InputError
from logpost.machines.site import slurm
from logpost.machines.site.wiring import SiteTopology
from logpost.machines.topologies import Switched

# The form of Slurm's documentation of topologies: eight hosts below two switches below one.
SHOWN = """\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-7]
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-7] Switches=s[0-1]
"""
CONF = """\
# topology.conf
SwitchName=s0 Nodes=tux[0-3]
switchname=s1 nodes=tux[4-7]  # the second one
SwitchName=s2 \\
  Switches=s[0-1]
"""


def switched(found: SiteTopology | None) -> Switched:
    assert found is not None
    assert isinstance(found.topology, Switched)
    return found.topology


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("tux[0-2,12],login", ["tux0", "tux1", "tux2", "tux12", "login"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("r[1-2]n[0-1]x", ["r1n0x", "r1n1x", "r2n0x", "r2n1x"]),
        ("(null)", []),
        ("", []),
    ],
)
def test_host_lists(text: str, names: list[str]) -> None:
    assert slurm.expanded(text, "here") == names


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[1-x]", "n[0-99999999]", "n[]"])
def test_host_lists_that_are_none_are_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="here has the host list"):
        slurm.expanded(text, "here")


@pytest.mark.parametrize("text", [SHOWN, CONF])
def test_a_tree_of_switches(text: str) -> None:
    assert slurm.is_topology(text)
    found = switched(slurm.topology(text, "here", ()))
    assert found.hosts == [f"tux{i}" for i in range(8)]
    assert found.switches == ["s0", "s1", "s2"]
    # Below one switch two cables; over s2 four.
    assert found.hops(0, [0, 3, 4]).tolist() == [0, 2, 4]


def test_of_two_networks_the_job_s_one_is_taken_and_the_other_is_counted() -> None:
    text = SHOWN + "SwitchName=isle Level=0 LinkSpeed=1 Nodes=old[1-2]\n"
    found = slurm.topology(text, "here", ["old1.site.org", "old2.site.org"])
    assert switched(found).hosts == ["old1", "old2"]
    assert facts(found.notes[-1]) == ["8", "10", "2"]
    assert switched(slurm.topology(text, "here", ())).n_nodes == 8


def test_blocks_are_no_switches() -> None:
    text = "BlockName=b1 BlockIndex=0 Nodes=node[01-04] BlockSize=4\n"
    assert slurm.is_topology(text)
    with pytest.raises(InputError, match=r"here states blocks .* no switches; .* ibnetdiscover's"):
        slurm.topology(text, "here", ())


def test_a_tree_without_hosts_is_refused() -> None:
    with pytest.raises(InputError, match="here lists no host"):
        slurm.topology("SwitchName=s0 Level=0 LinkSpeed=1 Nodes=(null)\n", "here", ())


def test_addresses_are_the_same_tree() -> None:
    pattern = "switch.switch.node"
    addresses = {f"tux{i}": (f"s2.s{i // 4}.tux{i}", pattern) for i in range(8)}
    found = switched(slurm.from_addresses(addresses))
    assert found.hops(0, [0, 3, 4]).tolist() == [0, 2, 4]
    assert found.hosts == [f"tux{i}" for i in range(8)]


def test_an_address_of_several_switches_of_a_level_joins_each() -> None:
    # Both spines are above each leaf; the level above them has no name.
    addresses = {name: (f".spine[1-2].{leaf}.{name}", "switch.switch.switch.node") for name, leaf in ("a1", "b2")}
    found = switched(slurm.from_addresses(addresses))
    assert found.switches == ["spine1", "spine2", "1", "2"]
    assert found.hops(0, 1) == 4


def test_a_flat_address_states_no_network() -> None:
    assert slurm.from_addresses({"c4-n10.cluster": ("c4-n10.cluster", "node")}) is None


def test_an_address_that_does_not_fit_its_pattern_is_refused() -> None:
    with pytest.raises(InputError, match=r"SLURM_TOPOLOGY_ADDR=tux0 does not fit its pattern switch\.node"):
        slurm.from_addresses({"tux0": ("tux0", "switch.node")})
