"""`calibrate --contention` on simulated networks whose links are known, and what does not show a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from logpost.collectors.calibration.gathered import Gathered
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.contention import contention, plan
from logpost.machines.calibration.samples import Samples
from logpost.machines.site.wiring import SiteTopology
from logpost.machines.topologies import Switched

from .launchers import Simulated

pytestmark = pytest.mark.testbed

PER_HOP_S, LINK_B_S = 2e-6, 1e9
LEAVES = Switched(
    kind="switched",
    source="TOPOLOGY",
    hosts=["n0", "n1", "n2", "n3"],
    cables={"a": ["n0", "n1", "b"], "b": ["n2", "n3"]},
)
"""Two hosts on each of two switches: two cables within a switch, three across."""


def measured(folder: Path, *, trunk_b_s: float = LINK_B_S, hop_s: float = PER_HOP_S) -> Samples:
    """The samples of a platform with these cables: each has the latency of a hop."""
    cluster = Simulated(folder, hosts=4)
    cable = '<link id="{}" bandwidth="{!r}Bps" latency="{!r}s" sharing_policy="SPLITDUPLEX"/>'
    links = [cable.format(f"c{n}", LINK_B_S, PER_HOP_S) for n in range(4)] + [cable.format("t", trunk_b_s, hop_s)]
    ctn = '<link_ctn id="{}" direction="{}"/>'
    routes = [
        f'<route src="n{a}" dst="n{b}" symmetrical="NO">{ctn.format(f"c{a}", "UP")}'
        + (ctn.format("t", "UP" if a < b else "DOWN") if a // 2 != b // 2 else "")
        + f"{ctn.format(f'c{b}', 'DOWN')}</route>"
        for a in range(4)
        for b in range(4)
        if a != b
    ]
    (folder / "platform.xml").write_text(
        '<?xml version=\'1.0\'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        '<zone id="z" routing="Full">'
        + "".join(f'<host id="n{n}" speed="1Gf"/>' for n in range(4))
        + "".join([*links, *routes])
        + "</zone></platform>"
    )
    ranks = plan(LEAVES, LEAVES.hosts)
    lists = {"--partners": ranks.partners, "--from": ranks.senders, "--to": ranks.receivers}
    options = [word for name, some in lists.items() for word in (name, ",".join(map(str, some)))]
    cluster.run("contention", *options, "--bytes", "1000000")
    gathered = Gathered()
    for launch in range(3):
        gathered.take(folder / "contention.jsonl", launch)
    return gathered.result("smpirun", "smpicc")


def test_the_halves_are_the_sides_of_the_middle() -> None:
    found = plan(LEAVES, ["n2.site", "n0.site", "n0.site", "n3.site", "n1.site"])
    # Rank 0 is on n2: it and rank 3 (n3) send to n0 and n1, on which the second rank is left out.
    assert found.senders == (0, 3)
    assert set(found.receivers) == {1, 4}
    assert found.partners == (1, 3, 4)


def test_latency_per_hop_and_bandwidth_of_the_shared_cable(tmp_path: Path) -> None:
    found = contention(measured(tmp_path), LEAVES)
    assert found.lacking == []
    assert found.per_hop is not None
    assert found.per_hop.value == pytest.approx(PER_HOP_S, rel=0.02)
    assert found.link_bandwidth is not None
    assert found.link_bandwidth.value == pytest.approx(LINK_B_S, rel=0.05)
    assert found.sharing == 2.0


def test_a_link_that_two_pairs_do_not_fill_has_a_least_bandwidth_alone(tmp_path: Path) -> None:
    found = contention(measured(tmp_path, trunk_b_s=8 * LINK_B_S), LEAVES)
    assert found.link_bandwidth is None
    (why,) = found.lacking
    assert why.startswith("link bandwidth: 2 pairs ")
    assert "a link has at least 1.9" in why


def test_a_hop_that_costs_nothing_is_no_value(tmp_path: Path) -> None:
    found = contention(measured(tmp_path, hop_s=0.0), LEAVES)
    assert found.per_hop is None
    assert found.lacking[0].startswith("per_hop: between ")


def test_hosts_at_one_distance_show_no_hop() -> None:
    star = Switched(kind="switched", hosts=["n0", "n1"], cables={"s": ["n0", "n1"]})
    assert plan(star, ["n0", "n1"]).partners == (1,)
    assert plan(star, ["n0", "n0"]).partners == ()
    assert plan(star, ["elsewhere", "n1", "n0"]).partners == ()


def test_the_machine_file_has_the_network_with_both_values(tmp_path: Path) -> None:
    samples = measured(tmp_path)
    made = calibration(samples, name="leaves", site=SiteTopology(LEAVES, "fabric.txt")).machine
    assert made.topology is not None
    assert made.topology.per_hop is not None
    assert made.topology.per_hop.base() == pytest.approx(2e6, rel=0.02)
    assert made.topology.link_bandwidth is not None
    assert made.topology.link_bandwidth.base() == pytest.approx(1e9, rel=0.05)
    assert made.sources["CONTENTION"].method is not None
    assert "network: network of 4 hosts on 2 switches, from fabric.txt." in made.notes
    assert made.mapping is None
