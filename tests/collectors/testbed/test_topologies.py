"""On every topology an uncontended message takes what the machine file says, and two that share a link twice that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from typing import Any

import pytest

from logpost.machines.schema import Machine
from logpost.machines.topologies import Topology
from logpost.testbed import TestbedRun
from logpost.testbed.machine import next_hops

Run = Callable[..., TestbedRun]
Toy = Callable[..., Machine]

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "mesh": {"kind": "mesh", "dims": [4, 3]},
    "torus": {"kind": "torus", "dims": [5, 4]},
    "partly wrapped torus": {"kind": "torus", "dims": [5, 3], "wrap": [True, False]},
    "k-ary n-cube": {"kind": "k-ary n-cube", "k": 3, "n": 3},
    "one-way k-ary n-cube": {"kind": "k-ary n-cube", "k": 4, "n": 2, "bidirectional": False},
    "ring": {"kind": "ring", "nodes": 7},
    "one-way ring": {"kind": "ring", "nodes": 5, "bidirectional": False},
    "hypercube": {"kind": "hypercube", "n": 4},
    "fat tree": {"kind": "fat tree", "children": [4, 4], "parents": [1, 2]},
    "dragonfly": {"kind": "dragonfly", "groups": 3, "routers": 2, "nodes_per_router": 2},
    "crossbar": {"kind": "crossbar", "nodes": 6},
}
every_topology = pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)

SIZES = (0, 1, 1000, 100_000)


def graph(machine: Machine) -> Topology:
    assert machine.topology is not None
    return machine.topology


def uncontended_ns(topology: Topology, a: int, b: int, size: int) -> float:
    """o_s + L + per_hop (h - mean) + (B - 1) G + o_r = 1 us + 5 us + 0.1 us (h - mean) + 4 ns (B - 1) + 2 us."""
    hops = int(topology.hops(a, b)) - topology.mean_hops(include_self=False)
    return 1000 + 5000 + 100 * hops + 4 * max(size - 1, 0) + 2000


@every_topology
def test_uncontended_message_takes_L_o_and_BG(topology: dict[str, Any], toy: Toy, run: Run) -> None:
    machine = toy(topology)
    g = graph(machine)
    farthest = max(range(1, g.n_nodes), key=lambda node: int(g.hops(0, node)))
    for peer in {1, farthest}:
        done = run(machine, "pingpong", [0, peer, *SIZES], ranks=g.n_nodes)
        for size, text in zip(SIZES, done.output.split(), strict=True):
            expected = (uncontended_ns(g, 0, peer, size) + uncontended_ns(g, peer, 0, size)) / 2
            assert float(text) == pytest.approx(expected, rel=1e-6)


def sharing_pairs(g: Topology) -> tuple[int, int, int, int]:
    """Senders and receivers of two messages that share a link between vertices, with no node in common if possible."""
    pairs = [(a, b) for a, b in permutations(range(g.n_nodes), 2)]
    routes = {pair: set(pairwise(g.route(*pair))) for pair in pairs}
    for common in (0, 1):
        for one in pairs[: 4 * g.n_nodes]:
            for two in pairs:
                if one[0] != two[0] and len({*one} & {*two}) == common and routes[one] & routes[two]:
                    return (*one, *two)
    raise AssertionError("no two routes share a link")


@every_topology
def test_two_flows_over_one_link_double_their_time(topology: dict[str, Any], toy: Toy, run: Run) -> None:
    machine = toy(topology)
    g = graph(machine)
    a, b, c, d = sharing_pairs(g)
    size = 1_000_000  # 4 ms on the link; overheads and latency (8 us) are 0.2 % of that
    alone = arrivals(run(machine, "flows", [size, a, b], ranks=g.n_nodes))
    both = arrivals(run(machine, "flows", [size, a, b, c, d], ranks=g.n_nodes))
    assert alone[0] == pytest.approx(4e6, rel=0.02)
    assert both == pytest.approx([2 * alone[0], 2 * alone[0]], rel=0.02)


@pytest.mark.parametrize(("sharing", "factor"), [("split-duplex", 1), ("shared", 2)])
def test_opposite_directions_share_a_link_only_where_the_machine_says_so(
    sharing: str, factor: int, toy: Toy, run: Run
) -> None:
    machine = toy({"kind": "mesh", "dims": [4]})
    settings = {"sharing": sharing}
    alone = arrivals(run(machine, "flows", [1_000_000, 1, 2], ranks=4, settings=settings))
    both = arrivals(run(machine, "flows", [1_000_000, 1, 2, 2, 1], ranks=4, settings=settings))
    assert both == pytest.approx([factor * alone[0]] * 2, rel=0.02)


def test_flows_share_equally_however_far_they_go(toy: Toy, run: Run) -> None:
    # 0 -> 5 crosses five links, 2 -> 3 one of them: half of 250 MB/s each, so 1 MB lasts 8 ms for both.
    machine = toy({"kind": "mesh", "dims": [6], "per_hop": 50})
    both = arrivals(run(machine, "flows", [1_000_000, 0, 5, 2, 3], ranks=6))
    assert both == pytest.approx([8e6, 8e6], rel=0.03)


def test_a_slower_bisection_slows_what_crosses_it(toy: Toy, run: Run) -> None:
    # 4 x 2 mesh at 100 MHz: 4 directed channels cross the middle; 2 B/cycle over them is 50 MB/s each, so 1 MB needs
    # 20 ms along x and, as before, 4 ms along y.
    machine = toy({"kind": "mesh", "dims": [4, 2]})
    settings = {"bisection": "2"}
    along_x = arrivals(run(machine, "flows", [1_000_000, 1, 2], ranks=8, settings=settings))
    along_y = arrivals(run(machine, "flows", [1_000_000, 1, 5], ranks=8, settings=settings))
    assert along_x == pytest.approx([20e6], rel=0.02)
    assert along_y == pytest.approx([4e6], rel=0.02)


@every_topology
def test_next_hops_are_the_routes_of_the_topology(topology: dict[str, Any], toy: Toy) -> None:
    g = graph(toy(topology))
    table = next_hops(g)
    for a, b in permutations(range(g.n_nodes), 2):
        for here, there in pairwise(g.route(a, b)):
            assert table[here, b] == there


def arrivals(done: TestbedRun) -> Sequence[float]:
    lines = sorted(line.split() for line in done.output.splitlines())
    return [float(words[1]) for words in lines]


def fair_ends_ns(starts: Sequence[tuple[float, int, int]], byte_ns: float, size: int) -> list[float]:
    """When flows (start, sender, receiver) over their NICs alone end at max-min fair rates: at each moment rates rise
    together until a NIC is full, whose flows keep theirs (progressive filling, Bertsekas & Gallager 6.5.2)."""
    left = dict.fromkeys(range(len(starts)), float(size))
    ends = [0.0] * len(starts)
    now = min(start for start, _, _ in starts)
    while left:
        here = [i for i in left if starts[i][0] <= now]
        nics = {i: (("out", starts[i][1]), ("in", starts[i][2])) for i in here}
        room = dict.fromkeys((nic for pair in nics.values() for nic in pair), 1 / byte_ns)
        rates: dict[int, float] = {}
        while len(rates) < len(here):
            waiting = {nic: [i for i in here if i not in rates and nic in nics[i]] for nic in room}
            full = min((nic for nic in room if waiting[nic]), key=lambda nic: room[nic] / len(waiting[nic]))
            level = room[full] / len(waiting[full])
            for i in waiting[full]:
                rates[i] = level
                for nic in nics[i]:
                    room[nic] -= level
        later = [start for i, (start, _, _) in enumerate(starts) if i in left and start > now]
        then = min([now + left[i] / rates[i] for i in here] + later)
        for i in here:
            left[i] -= rates[i] * (then - now)
            if left[i] < 1e-6:
                del left[i]
                ends[i] = then
        now = then
    return ends


def test_a_halo_exchange_has_max_min_fair_rates(toy: Toy, run: Run) -> None:
    # Ranks of a 4 x 2 x 2 torus send to their four neighbours over a crossbar. A rank's first message leaves its
    # processor o_s = 1 us after the rank begins, each later one when the NIC has sent the one before (4 ns x 65,536);
    # receivers get several at once. Rank r begins (2 r mod 5) x 10 us late: SimGrid's lazy updates are off only there.
    # A flow begins L - G after that: the rest of L + (B - 1) G is the B bytes on the NICs.
    size, byte_ns = 65_536, 4.0
    to = [
        [(x - 1) % 4 + 4 * y + 8 * z, (x + 1) % 4 + 4 * y + 8 * z, x + 4 * (1 - y) + 8 * z, x + 4 * y + 8 * (1 - z)]
        for z in range(2)
        for y in range(2)
        for x in range(4)
    ]
    pairs = [(rank, peer) for rank in range(16) for peer in to[rank]]
    machine = toy({"kind": "crossbar", "nodes": 16})
    text = run(machine, "flows", [f"{size}+10", *sum(pairs, ())], ranks=16, settings={"o_r": "0us"}).output
    found = {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines()}
    starts = [
        (sender * 2 % 5 * 10_000 + 1000 + i % 4 * byte_ns * size + 5000 - byte_ns, sender, receiver)
        for i, (sender, receiver) in enumerate(pairs)
    ]
    ends = fair_ends_ns(starts, byte_ns, size)
    for rank in range(16):  # all of a rank's messages are waited for together
        mine = [i for i, (_, receiver) in enumerate(pairs) if receiver == rank]
        assert found[mine[0]] == pytest.approx(max(ends[i] for i in mine), rel=1e-4)
