"""ibnetdiscover's text, in the form that its manual shows: hosts by description, cables once, rates."""

from __future__ import annotations

import pytest

from logpost.errors import InputError
from logpost.machines.site import ibnetdiscover
from logpost.machines.site.wiring import SiteTopology
from logpost.machines.topologies import Switched

# Two leaves of two hosts each, joined by two cables; the second host of the second leaf has an adapter on each leaf.
FABRIC = """\
#
# Topology file: generated on Tue Jan  6 12:00:00 2026
#
# Initiated from node 0000000000000011 port 0000000000000012

vendid=0x2c9
devid=0xd2f0
switchguid=0x1(1)
Switch\t40 "S-0000000000000001"\t\t# "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0000000000000011"[1](12) \t\t# "node01 mlx5_0" lid 4 4xHDR
[2]\t"H-0000000000000021"[1](22) \t\t# "node02 mlx5_0" lid 5 4xHDR
[3][ext 3]\t"S-0000000000000002"[3]\t\t# "MF0;leaf2:MQM8700/U1" lid 2 4xHDR
[4][ext 4]\t"S-0000000000000002"[4]\t\t# "MF0;leaf2:MQM8700/U1" lid 2 4xHDR
[5]\t"H-0000000000000042"[1](43) \t\t# "node04 mlx5_1" lid 9 4xHDR

switchguid=0x2(2)
Switch\t40 "S-0000000000000002"\t\t# "MF0;leaf2:MQM8700/U1" enhanced port 0 lid 2 lmc 0
[1]\t"H-0000000000000031"[1](32) \t\t# "node03 mlx5_0" lid 6 4xHDR
[2]\t"H-0000000000000041"[1](42) \t\t# "node04 mlx5_0" lid 7 4xHDR
[3]\t"S-0000000000000001"[3]\t\t# "MF0;leaf1:MQM8700/U1" lid 1 4xHDR
[4]\t"S-0000000000000001"[4]\t\t# "MF0;leaf1:MQM8700/U1" lid 1 4xHDR

caguid=0x11
Ca\t1 "H-0000000000000011"\t\t# "node01 mlx5_0"
[1](12) \t"S-0000000000000001"[1]\t\t# lid 4 lmc 0 "MF0;leaf1:MQM8700/U1" lid 1 4xHDR

caguid=0x21
Ca\t1 "H-0000000000000021"\t\t# "node02 mlx5_0"
[1](22) \t"S-0000000000000001"[2]\t\t# lid 5 lmc 0 "MF0;leaf1:MQM8700/U1" lid 1 4xHDR

caguid=0x31
Ca\t1 "H-0000000000000031"\t\t# "node03 mlx5_0"
[1](32) \t"S-0000000000000002"[1]\t\t# lid 6 lmc 0 "MF0;leaf2:MQM8700/U1" lid 2 4xHDR

caguid=0x41
Ca\t1 "H-0000000000000041"\t\t# "node04 mlx5_0"
[1](42) \t"S-0000000000000002"[2]\t\t# lid 7 lmc 0 "MF0;leaf2:MQM8700/U1" lid 2 4xHDR

caguid=0x42
Ca\t1 "H-0000000000000042"\t\t# "node04 mlx5_1"
[1](43) \t"S-0000000000000001"[5]\t\t# lid 9 lmc 0 "MF0;leaf1:MQM8700/U1" lid 1 4xHDR
"""


def read(text: str) -> tuple[SiteTopology, Switched]:
    assert ibnetdiscover.is_topology(text)
    found = ibnetdiscover.topology(text, "here", ())
    assert isinstance(found.topology, Switched)
    return found, found.topology


def test_hosts_switches_and_cables() -> None:
    found, network = read(FABRIC)
    assert network.hosts == ["node01", "node02", "node03", "node04"]
    assert len(network.switches) == 2
    one, two = 4, 5
    assert network.cables_of([(one, two), (two, one), (0, one)]).tolist() == [2, 2, 1]
    # node04 is on both leaves: two cables from node01 and from node03.
    assert network.hops(0, [1, 2, 3]).tolist() == [2, 3, 2]
    assert found.notes == []


def test_the_data_rate_of_equal_cables_is_the_link_bandwidth() -> None:
    # HDR: 50 Gbit/s a lane, four lanes.
    _, network = read(FABRIC)
    assert network.link_bandwidth is not None
    assert (network.link_bandwidth.number(), network.link_bandwidth.unit) == (200, "Gbit/s")
    _, old = read(FABRIC.replace("4xHDR", "4xFDR"))
    assert old.link_bandwidth is not None
    assert old.link_bandwidth.number() == pytest.approx(54.54, abs=0.02)


def test_different_cables_state_no_bandwidth_and_are_listed() -> None:
    found, network = read(FABRIC.replace('"node02 mlx5_0" lid 5 4xHDR', '"node02 mlx5_0" lid 5 4xEDR'))
    assert network.link_bandwidth is None
    (note,) = found.notes
    assert note.startswith("no link bandwidth is taken: cables differ")
    assert note.endswith("(6 of 4xHDR, 1 of 4xEDR)")


def test_adapters_that_share_a_description_are_no_hosts_by_that_name() -> None:
    text = FABRIC
    for name in ("node01 mlx5_0", "node02 mlx5_0", "node03 mlx5_0"):
        text = text.replace(name, "MT23108 InfiniHost")
    _, network = read(text)
    assert network.hosts == ["H-0000000000000011", "H-0000000000000021", "H-0000000000000031", "node04"]


def test_a_fabric_without_adapters_is_refused() -> None:
    text = 'Switch\t40 "S-1"\t\t# "leaf1" enhanced port 0 lid 1 lmc 0\n'
    with pytest.raises(InputError, match="here lists no host"):
        ibnetdiscover.topology(text, "here", ())


def test_another_text_is_not_taken() -> None:
    assert not ibnetdiscover.is_topology("ibwarn: [42] mad_rpc: _do_madrpc failed\n")
