"""Hop counts, routes and means of every topology against brute force and against printed numbers."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from logpost.errors import InputError
from logpost.machines.topologies import AnyTopology, Cartesian, Dragonfly, Topology


def make(**fields: Any) -> Any:
    return TypeAdapter(AnyTopology).validate_python(fields)


SAMPLES: list[dict[str, Any]] = [
    {"kind": "mesh", "dims": [8, 4]},
    {"kind": "mesh", "dims": [5]},
    {"kind": "mesh", "dims": [3, 1, 2]},
    {"kind": "torus", "dims": [4, 4, 2]},
    {"kind": "torus", "dims": [5, 3]},
    {"kind": "torus", "dims": [2, 3, 2], "wrap": [False, True, False]},
    {"kind": "torus", "dims": [4, 3], "bidirectional": False},
    {"kind": "k-ary n-cube", "k": 4, "n": 2},
    {"kind": "k-ary n-cube", "k": 3, "n": 3, "bidirectional": False},
    {"kind": "ring", "nodes": 9},
    {"kind": "ring", "nodes": 8, "bidirectional": False},
    {"kind": "ring", "nodes": 1},
    {"kind": "ring", "nodes": 2},
    {"kind": "hypercube", "n": 4},
    {"kind": "hypercube", "n": 0},
    {"kind": "crossbar", "nodes": 8},
    {"kind": "crossbar", "nodes": 1},
    {"kind": "fat tree", "children": [4, 4], "parents": [1, 4]},
    {"kind": "fat tree", "children": [2, 3, 2], "parents": [1, 2, 2]},
    {"kind": "fat tree", "children": [4, 4, 2]},
    {"kind": "fat tree", "children": [3, 1, 2], "parents": [2, 1, 1]},
    {"kind": "dragonfly", "groups": 5, "routers": 2, "nodes_per_router": 2, "global_links": 2},
    {"kind": "dragonfly", "groups": 6, "routers": 4, "nodes_per_router": 2},
    {"kind": "dragonfly", "groups": 1, "routers": 3, "nodes_per_router": 2, "global_links": 0},
    {"kind": "dragonfly", "groups": 4, "routers": 3, "nodes_per_router": 1, "global_links": 5},
    {"kind": "switched", "hosts": ["a"], "cables": {"s": ["a"]}},
    {"kind": "switched", "hosts": ["a", "b", "c", "d"], "cables": {"s": ["a", "b", "x"], "t": ["c", "d", "x", "x"]}},
    {"kind": "switched", "hosts": ["a", "b", "c"], "cables": {"s": ["a", "b", "t"], "t": ["b", "c", "u"], "u": ["s"]}},
]


@pytest.fixture(params=SAMPLES, ids=lambda s: " ".join(str(v) for v in s.values()))
def topology(request: pytest.FixtureRequest) -> Topology:
    made: Topology = make(**request.param)
    return made


def distances(topology: Topology) -> np.ndarray:
    """Shortest paths between nodes by breadth-first search over `links()`: knows nothing of coordinates.

    Minimal dragonfly routes take one global link at most (two could be shorter in small groups), so the search carries
    the number of global links used.
    """
    after: dict[int, list[tuple[int, int]]] = {}
    for u, v in topology.links():
        after.setdefault(u, []).append((v, int(is_global(topology, u, v))))
    found = np.full((topology.n_nodes, topology.n_nodes), -1)
    for start in range(topology.n_nodes):
        seen = {(start, 0): 0}
        queue = deque([(start, 0)])
        while queue:
            here, used = queue.popleft()
            for there, crossing in after.get(here, []):
                state = (there, used + crossing)
                if state[1] <= 1 and state not in seen:
                    seen[state] = seen[here, used] + 1
                    queue.append(state)
        for node in range(topology.n_nodes):
            found[start, node] = min(seen.get((node, used), 10**6) for used in (0, 1))
    return found


def is_global(topology: Topology, u: int, v: int) -> bool:
    """Whether a dragonfly's link joins two groups."""
    if not isinstance(topology, Dragonfly) or min(u, v) < topology.n_nodes:
        return False
    return (u - topology.n_nodes) // topology.routers != (v - topology.n_nodes) // topology.routers


def test_hops_are_shortest_paths_over_the_links(topology: Topology) -> None:
    nodes = np.arange(topology.n_nodes)
    np.testing.assert_array_equal(topology.hops(nodes[:, None], nodes[None, :]), distances(topology))


def test_routes_follow_links_and_have_as_many_as_hops_says(topology: Topology) -> None:
    links = set(topology.links())
    for a, b in itertools.product(range(topology.n_nodes), repeat=2):
        route = topology.route(a, b)
        assert (route[0], route[-1]) == (a, b)
        assert len(route) - 1 == topology.hops(a, b)
        assert all(step in links for step in itertools.pairwise(route))


def test_links_connect_vertices_once(topology: Topology) -> None:
    links = topology.links()
    assert len(set(links)) == len(links)
    assert all(0 <= v < topology.n_vertices and u != v for u, v in links)


def test_link_loads_add_up_to_bytes_times_hops(topology: Topology) -> None:
    nodes = np.arange(topology.n_nodes)
    a, b = np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))
    weight = 1.0 + (a * 7 + b) % 5
    links, loads = topology.link_loads(a, b, weight)
    assert loads.sum() == pytest.approx((weight * topology.hops(a, b)).sum())
    assert {tuple(link) for link in links.tolist()} <= set(topology.links())


def test_link_loads_of_two_messages_over_one_link() -> None:
    # On the 8 x 4 mesh 0 -> 2 and 1 -> 2 share the link 1 -> 2: 100 + 10 bytes.
    links, loads = make(kind="mesh", dims=[8, 4]).link_loads([0, 1, 5], [2, 2, 5], [100, 10, 7])
    assert links.tolist() == [[0, 1], [1, 2]]
    assert loads.tolist() == [100, 110]


def test_closed_forms_equal_the_mean_over_all_pairs(topology: Topology) -> None:
    nodes = np.arange(topology.n_nodes)
    per_dimension = topology.hops_per_dimension(nodes[:, None], nodes[None, :])
    total = per_dimension.reshape(-1, per_dimension.shape[-1]).sum(axis=0)
    pairs = topology.n_nodes**2
    assert topology.k_d() == pytest.approx(tuple(total / pairs))
    others = max(pairs - topology.n_nodes, 1)
    assert topology.k_d(include_self=False) == pytest.approx(tuple(total / others))
    assert topology.mean_hops() == pytest.approx(distances(topology).mean())
    assert topology.diameter() == distances(topology).max()
    assert len(topology.dimension_names) == per_dimension.shape[-1] == len(topology.k_d())


def test_coordinates_and_back(topology: Topology) -> None:
    if isinstance(topology, Cartesian):
        nodes = np.arange(topology.n_nodes)
        np.testing.assert_array_equal(topology.node(topology.coordinates(nodes)), nodes)


def test_alewife_mesh_has_the_printed_means() -> None:
    mesh = make(kind="mesh", dims=[8, 4])
    # (8 - 1/8)/3 = 2.625 and (4 - 1/4)/3 = 1.25: LOGPC prints 2 k_d = 3.875, i.e. k_d = 1.9375.
    assert mesh.k_d() == (2.625, 1.25)
    assert mesh.mean_hops() == 3.875
    assert mesh.mean_hops() / 2 == 1.9375
    # Over distinct pairs exactly (8 + 4)/3 = 4, so k_d = 2 (what the printed bound 2.22 B needs).
    assert mesh.mean_hops(include_self=False) == pytest.approx(4.0)
    # First dimension fastest: node 31 is (7, 3), node 9 is (1, 1).
    assert mesh.coordinates([31, 9]).tolist() == [[7, 3], [1, 1]]
    # x first: 0 -> 10 passes 1 and 2, then up.
    assert mesh.route(0, 10) == [0, 1, 2, 10]
    # 4 rows, one link each, two channels: 8 channels x 40 MB/s = 320 MB/s (SENS prints 360).
    assert mesh.bisection_channels() == 8


def test_neighbour_locality_of_logpc_eq_12() -> None:
    mesh = make(kind="mesh", dims=[8, 4])
    p = np.arange(32)
    reduced = (mesh.hops(p, (p - 1) % 32) + mesh.hops(p, (p + 1) % 32)) / 2
    # Within a row of 8 a step is 1 hop; from (7, y) to (0, y+1) it is 7 + 1 = 8; from 31 = (7, 3) to 0 = (0, 0) it is
    # 7 + 3 = 10. Steps: 28 of 1, 3 of 8, 1 of 10: (28 + 24 + 10)/32 = 1.9375, not the printed 1.875.
    assert reduced.mean() == 1.9375
    # The printed 1.875 takes the neighbours -1 = (7, -1) and 32 = (0, 4), 8 hops each: (28 + 4 * 8)/32 = 1.875.
    steps = [*mesh.hops(p[:-1], p[1:]).tolist(), 8]
    assert sum(steps) / 32 == 1.875


@pytest.mark.parametrize(
    ("fields", "k_d"),
    [
        ({"kind": "k-ary n-cube", "k": 8, "n": 2, "bidirectional": False}, 3.5),  # (k - 1)/2
        ({"kind": "k-ary n-cube", "k": 8, "n": 2}, 2.0),  # k/4
        ({"kind": "k-ary n-cube", "k": 5, "n": 2}, 1.2),  # (5 - 1/5)/4
        ({"kind": "hypercube", "n": 5}, 0.5),
    ],
)
def test_agarwals_means(fields: dict[str, Any], k_d: float) -> None:
    assert make(**fields).k_d() == pytest.approx((k_d,) * len(make(**fields).k_d()))


def test_bisections() -> None:
    assert make(kind="torus", dims=[4, 4, 2]).bisection_channels() == 8 * 2 * 2  # 8 rows, 2 cuts, 2 directions
    assert make(kind="hypercube", n=3).bisection_channels() == 4 * 2
    assert make(kind="ring", nodes=32, bidirectional=False).bisection_channels() == 2


def test_fat_tree_spreads_destinations_over_the_roots() -> None:
    tree = make(kind="fat tree", children=[4, 4], parents=[1, 4])
    # 16 nodes, 4 leaf switches, 4 roots: all 12 remote destinations of node 0 use all four roots equally.
    roots = [tree.route(0, b)[2] for b in range(4, 16)]
    assert sorted(roots.count(root) for root in set(roots)) == [3, 3, 3, 3]
    assert tree.n_vertices == 16 + 4 + 4
    assert tree.diameter() == 4


def test_dragonfly_needs_at_most_three_router_hops() -> None:
    lumi = make(kind="dragonfly", groups=6, routers=16, nodes_per_router=16)
    assert lumi.n_nodes == 1536
    hops = lumi.hops_per_dimension(0, np.arange(1536))
    # LUMI's guide: at most 3 switch hops; plus the two links between node and switch.
    assert hops[:, 1:].sum(axis=1).max() == 3
    assert lumi.per_router() == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.hops(0, 32), "node 32 is not .* mesh of 32 nodes; .* 0 to 31"),
        (lambda m: m.coordinates(-1), r"node -1 is not on this mesh"),
        (lambda m: m.node([8, 0]), r"coordinates \[8, 0\] lie outside the mesh 8 x 4"),
        (lambda m: m.node([1, 1, 1]), r"coordinates need 2 numbers on this mesh"),
    ],
)
def test_places_off_the_machine_are_refused(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call(make(kind="mesh", dims=[8, 4]))


def test_descriptions() -> None:
    assert [make(**s).describe() for s in (SAMPLES[0], SAMPLES[7], SAMPLES[13], SAMPLES[17], SAMPLES[18])] == [
        "mesh 8 x 4", "4-ary 2-cube", "hypercube of 16", "4-ary fat tree, 2 levels", "fat tree 2 x 3 x 2",
    ]  # fmt: skip


def test_a_fat_tree_as_switches_and_cables_has_the_same_routes() -> None:
    """Every link of the tree once, as a site would state it: routes, and so the links' loads, are those of D-mod-k."""
    tree = make(kind="fat tree", children=[3, 2, 2], parents=[1, 3, 2])
    names = [f"v{vertex:03d}" for vertex in range(tree.n_vertices)]
    cables: dict[str, list[str]] = {name: [] for name in names[tree.n_nodes :]}
    for low, high in tree.links():
        if low < high:
            cables[names[high]].append(names[low])
    made = make(kind="switched", hosts=names[: tree.n_nodes], cables=cables)
    for a, b in itertools.product(range(tree.n_nodes), repeat=2):
        assert made.route(a, b) == tree.route(a, b)


def test_cables_side_by_side_are_one_link_and_share_destinations() -> None:
    # s to x: 2 cables, s to y: 1. Destination 2 (c) takes cable 2 mod 3, destination 3 (d) cable 3 mod 3.
    made = make(
        kind="switched", hosts=["a", "b", "c", "d"], cables={"s": ["a", "b", "x", "x", "y"], "t": ["c", "d", "x", "y"]}
    )
    s, t, x, y = (4 + made.switches.index(name) for name in "stxy")
    assert made.route(0, 2) == [0, s, y, t, 2]
    assert made.route(0, 3) == [0, s, x, t, 3]
    assert made.cables_of([(s, x), (x, s), (s, y), (0, s)]).tolist() == [2, 2, 1, 1]
    assert made.describe() == "network of 4 hosts on 4 switches"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"hosts": ["a", "b"], "cables": {"s": ["a"], "t": ["b"]}}, "has no path from 'a' to 'b'"),
        ({"hosts": ["a", "a"], "cables": {"s": ["a"]}}, "lists the host 'a' twice"),
        ({"hosts": ["a", "b"], "cables": {"a": ["b"]}}, "has 'a' as a host and as a switch"),
        ({"hosts": ["a"], "cables": {"s": ["a", "s"]}}, "has a cable from 's' to itself"),
        # Hosts forward nothing: b joins s and t, and is no way from a to c.
        ({"hosts": ["a", "b", "c"], "cables": {"s": ["a", "b"], "t": ["b", "c"]}}, "has no path from 'a' to 'c'"),
    ],
)
def test_switches_and_cables_that_are_no_network_are_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make(kind="switched", **fields)
