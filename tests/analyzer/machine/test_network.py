"""The network that a replay knows, and C_n of a run's traffic next to the closed form of the models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.machines.builders import machine
from tests.said import facts

from logpost.analyzer.machine.network import MOST_PAIRS, set_network
from logpost.analyzer.run.program import COLLECTIVES, EPOCHS, MESSAGES, TRANSFERS, UNMATCHED
from logpost.replay._native import Analysis, Parameters, Program, call_kinds
from logpost.replay.columns import Column
from logpost.replay.cost.tables import NO_LINE, NO_SURFACE
from logpost.replay.models.network_contention import Network, open_contention

MESH = {"kind": "mesh", "dims": [4, 2], "link_bandwidth": {"value": 1, "unit": "GB/s"}}
BYTE_PS = 1000.0


class Listener:
    """A program whose nodes exchange messages in these pairs, and which keeps the network that it receives."""

    def __init__(self, *pairs: tuple[int, int]) -> None:
        self.pairs = pairs
        self.network: dict[str, Any] = {}

    def node_pairs(self) -> tuple[Any, Any]:
        ends = np.asarray(self.pairs, dtype=np.int32).reshape(-1, 2)
        return ends[:, 0].copy(), ends[:, 1].copy()

    def set_network(self, **network: Any) -> None:
        self.network = network


def network_of(*pairs: tuple[int, int], nodes: int = 8, **tables: Any) -> tuple[dict[str, Any], list[str], Any]:
    program = Listener(*pairs)
    found = set_network(program, machine(**tables), np.arange(nodes))  # type: ignore[arg-type]
    return program.network, found.notes, found


def test_routes_are_dimension_order_and_links_are_shared() -> None:
    # 4 x 2: 0 -> 6 passes 0 1 2 6; 0 -> 2 takes the first two of these links.
    seen, _, network = network_of((0, 2), (0, 6), topology=MESH)
    assert seen["hops"].tolist() == [2, 0, 2, 1]
    assert seen["route_begin"].tolist() == [0, 2, 5]
    assert seen["route"].tolist() == [0, 1, 0, 1, 2]
    assert network.links.tolist() == [[0, 1], [1, 2], [2, 6]]
    assert seen["byte_ps"] == BYTE_PS
    assert not len(seen["narrow_byte_ps"])
    assert seen["channels"] == 2.0


def test_a_narrow_bisection_slows_the_links_of_the_longest_dimension() -> None:
    # Two channels each way across the middle of 4 x 2 share 2 GB/s: 500 MB/s each.
    seen, notes, _ = network_of((0, 6), topology=MESH, network={"bisection": {"value": 2, "unit": "GB/s"}})
    assert seen["narrow_byte_ps"].tolist() == [2000, 2000, 1000]
    assert seen["dimension_byte_ps"].tolist() == [2000, 1000]
    assert "the machine's bisection leaves a byte 2 ns " in notes[1]


def test_a_wide_bisection_changes_nothing() -> None:
    seen, notes, _ = network_of((0, 6), topology=MESH, network={"bisection": {"value": 8, "unit": "GB/s"}})
    assert not len(seen["narrow_byte_ps"])
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("pairs", "tables", "note"),
    [
        ([], {"topology": MESH}, None),
        ([(0, 1)], {}, "C_n) is 0: machine {name} has no topology"),
        (
            [(8, 9)],
            {"topology": MESH},
            "C_n) is 0: no message's route through the machine's",
        ),
    ],
)
def test_where_no_network_is_known_the_reason_is_stated(
    pairs: list[tuple[int, int]], tables: dict[str, Any], note: str | None
) -> None:
    seen, notes, network = network_of(*pairs, nodes=10, **tables)
    assert seen == {}
    assert not len(network.links)
    assert len(notes) == (note is not None)
    assert all(note is not None and note.format(name=machine(**tables).name) in found for found in notes)


def test_too_many_pairs_are_refused_with_the_number() -> None:
    side = int(MOST_PAIRS**0.5) + 1
    pairs = [(a, b) for a in range(side) for b in range(side) if a != b]
    mesh = {"kind": "mesh", "dims": [side, 1]}
    seen, notes, _ = network_of(*pairs, nodes=side, topology=mesh)
    assert seen == {}
    (note,) = notes
    assert facts(note) == ["network contention", "0", f"{len(pairs):,}", "200,000"]


def none(names: tuple[str, ...]) -> dict[str, Column]:
    """Columns without rows, in the types that the program takes."""
    types: dict[str, Any] = {"bytes": np.uint64, "bytes_sent": np.uint64, "bytes_received": np.uint64}
    types |= {"direction": np.uint8, "operation": np.uint8, "enter_ps": np.int64, "leave_ps": np.int64}
    types |= {"kind": np.uint8, "lock": np.uint64, "acquired_ps": np.int64}
    return {name: np.empty(0, dtype=types.get(name, np.int32)) for name in names}


def test_c_n_of_the_traffic_is_that_of_the_closed_form() -> None:
    """Messages of 100 and 300 B alternately from every node of a 4 x 4 mesh to the one two columns and two rows on."""
    kinds = call_kinds()
    rounds, nodes, every = 40, 16, 1_000_000
    calls: list[tuple[int, int, int, int]] = []
    messages: list[tuple[int, ...]] = []
    for here in range(nodes):
        first = here * (1 + rounds)
        calls += [(here, kinds.index("send"), k * every, k * every) for k in range(rounds)]
        calls.append((here, kinds.index("wait_multi"), rounds * every, rounds * every + 1000))
        there = (here % 4 + 2) % 4 + 4 * ((here // 4 + 2) % 4)
        received = there * (1 + rounds) + rounds
        messages += [
            (here, there, 0, 0, -1, first + k, first + k, received, received, k, k, 100 + 200 * (k % 2))
            for k in range(rounds)
        ]
    call = np.asarray(calls, dtype=np.int64)
    message = np.asarray(messages, dtype=np.int64)
    names = [name for name in MESSAGES if not name.endswith("bytes")]
    ranks = np.arange(nodes, dtype=np.int32)
    length = rounds * every + 1000
    ends: dict[str, Column] = {name: message[:, i].astype(np.int32) for i, name in enumerate(names)}
    ends |= {name: message[:, -1].astype(np.uint64) for name in ("bytes", "recv_bytes")}
    program = Program(
        ticks_per_second=10**12,
        length_ps=length,
        callers=np.full(1, -1, dtype=np.int32),
        kinds=list(range(len(kinds))),
        layouts=[],
        members=[ranks.tolist()],
        locations={
            "process": ranks,
            "socket": np.full(nodes, -1, dtype=np.int32),
            "node": ranks,
            "rank": ranks,
            "accounted": np.ones(nodes, dtype=np.uint8),
            "first_ps": np.zeros(nodes, dtype=np.int64),
            "last_ps": np.full(nodes, length, dtype=np.int64),
        },
        calls={
            "location": call[:, 0].astype(np.int32),
            "region": call[:, 1].astype(np.int32),
            "callpath": np.zeros(len(call), dtype=np.int32),
            "enter_ps": call[:, 2].copy(),
            "leave_ps": call[:, 3].copy(),
        },
        messages=ends,
        unmatched=none(UNMATCHED),
        collectives=none(COLLECTIVES),
        transfers=none(TRANSFERS),
        epochs=none(EPOCHS),
    )
    of = machine(topology={"kind": "mesh", "dims": [4, 4], "link_bandwidth": {"value": 1, "unit": "GB/s"}})
    set_network(program, of, np.arange(nodes))
    found = Analysis(program, plain_machine(), 1).network()
    # Every hop counts 2 in each dimension; a node's messages leave every 10^6 ps.
    assert found["messages"].tolist() == [nodes * rounds]
    between = length / rounds
    network = Network((2.0, 2.0), channel_time=BYTE_PS)
    expected = open_contention(200.0, between, network, B2=(100.0**2 + 300.0**2) / 2)
    assert found["contention_ps"][0] == pytest.approx(float(np.asarray(expected.C_n)), rel=1e-9)
    assert found["utilisation"][0] == pytest.approx(float(np.asarray(expected.rho)), rel=1e-9)
    assert found["link_bytes"].sum() == 4 * int(message[:, -1].sum())


def plain_machine() -> Parameters:
    """L = 1 µs and G = 1 ns/B at any distance, nothing else."""
    zero = np.zeros(4)
    return Parameters(
        class_start=np.arange(5, dtype=np.int64),
        max_bytes=np.full(4, 2**62, dtype=np.int64),
        L=np.full(4, 1e6),
        o_s=zero,
        o_s_per_byte=zero,
        o_r=zero,
        o_r_per_byte=zero,
        g=zero,
        G=np.full(4, BYTE_PS),
        eager_limit=np.full(4, -1, dtype=np.int64),
        across_network=np.asarray([0, 0, 0, 1], dtype=np.uint8),
        nics_per_node=1,
        l_mw=[],
        block_bytes=np.empty(0),
        l_mw_alone=np.empty(0),
        l_mw_self=[],
        block_bytes_self=np.empty(0),
        l_mw_alone_self=np.empty(0),
        o_mw=NO_LINE,
        o_net=NO_LINE,
        T_mem=NO_LINE,
        o_burst=NO_SURFACE,
        G_m=None,
        header_bytes=0.0,
        per_hop=0.0,
        mean_hops=None,
        asynchronous_progress=False,
        model="full",
    )
