"""EM3D's graph and its orders of communication, called directly: the C files as a shared library."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import pytest

from logpost.collectors.workloads.catalogue import FOLDER


class Options(ctypes.Structure):
    """struct graph_options of em3d/graph.h."""

    _fields_ = [
        ("nodes", ctypes.c_int64),
        ("degree", ctypes.c_int64),
        ("nonlocal_share", ctypes.c_double),
        ("span", ctypes.c_int64),
        ("parts", ctypes.c_int64),
        ("seed", ctypes.c_int64),
    ]


class Half(ctypes.Structure):
    """struct half_graph of em3d/graph.h."""

    _fields_ = [
        ("n_targets", ctypes.c_int64),
        ("first_target", ctypes.c_int64),
        ("n_sources", ctypes.c_int64),
        ("first_source", ctypes.c_int64),
        ("n_ghosts", ctypes.c_int64),
        ("in_start", ctypes.POINTER(ctypes.c_int64)),
        ("in_source", ctypes.POINTER(ctypes.c_int32)),
        ("in_weight", ctypes.POINTER(ctypes.c_double)),
        ("send_start", ctypes.POINTER(ctypes.c_int64)),
        ("send_source", ctypes.POINTER(ctypes.c_int32)),
        ("recv_start", ctypes.POINTER(ctypes.c_int64)),
        ("recv_source", ctypes.POINTER(ctypes.c_int32)),
    ]


class Block(ctypes.Structure):
    """struct block of em3d/schedule.h."""

    _fields_ = [
        ("peer", ctypes.c_int32),
        ("tag", ctypes.c_int32),
        ("first", ctypes.c_int64),
        ("count", ctypes.c_int32),
    ]


class Schedule(ctypes.Structure):
    """struct schedule of em3d/schedule.h."""

    _fields_ = [("blocks", ctypes.POINTER(Block)), ("n", ctypes.c_int64)]

    def rows(self) -> list[tuple[int, int, int, int]]:
        return [(b.peer, b.tag, b.first, b.count) for b in self.blocks[: self.n]]


@pytest.fixture(scope="module")
def em3d(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """graph.c and schedule.c as a library."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    library = tmp_path_factory.mktemp("em3d") / "em3d.so"
    sources = [str(FOLDER / "em3d" / name) for name in ("graph.c", "schedule.c")]
    subprocess.run([compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", str(library), *sources], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.schedule_build.restype = Schedule
    loaded.schedule_build.argtypes = [ctypes.POINTER(ctypes.c_int64), ctypes.c_int, ctypes.c_int64]
    loaded.schedule_order.argtypes = [
        ctypes.POINTER(Schedule),
        *([ctypes.c_int] * 4),
        ctypes.c_uint64,
    ]
    return loaded


def half_graph(em3d: ctypes.CDLL, options: Options, rank: int, ranks: int) -> Half:
    half = Half()
    em3d.graph_build(ctypes.byref(half), ctypes.byref(options), 0, rank, ranks)
    return half


def outgoing(half: Half, ranks: int) -> list[int]:
    """Values that go to each rank."""
    return [half.send_start[r + 1] - half.send_start[r] for r in range(ranks)]


def schedule(em3d: ctypes.CDLL, half: Half, rank: int, ranks: int, order: int, spread: int) -> Schedule:
    built: Schedule = em3d.schedule_build(half.send_start, ranks, 10)
    em3d.schedule_order(ctypes.byref(built), order, spread, rank, ranks, 1)
    return built


# LoGPC's set: 3,200 nodes, degree 32, all edges non-local, 32 processors.
LOGPC = {"nodes": 3200, "degree": 32, "nonlocal_share": 1.0, "parts": 32, "seed": 1}


@pytest.mark.parametrize("span", [1, 3, 15])
def test_edges_end_within_the_span(em3d: ctypes.CDLL, span: int) -> None:
    options = Options(span=span, **LOGPC)
    for rank in (0, 7, 31):
        half = half_graph(em3d, options, rank, 32)
        sent = outgoing(half, 32)
        # 50 nodes of a field x 32 edges, none of them local.
        assert sum(sent) == 1600
        reached = {r for r in range(32) if sent[r] > 0}
        assert reached == {(rank + step) % 32 for step in range(-span, span + 1)} - {rank}


def test_the_share_of_non_local_edges(em3d: ctypes.CDLL) -> None:
    # SENS' set: 5,000 nodes of a field x 10 edges, 20 % non-local = 10,000 with a standard deviation of 89.
    options = Options(nodes=10000, degree=10, nonlocal_share=0.2, span=3, parts=32, seed=1)
    halves = [half_graph(em3d, options, rank, 32) for rank in range(32)]
    assert sum(half.in_start[half.n_targets] for half in halves) == 50000
    assert abs(sum(sum(outgoing(half, 32)) for half in halves) - 10000) < 4 * 89
    # Irregular: the edges into a node are not all ten.
    degrees = {halves[0].in_start[i + 1] - halves[0].in_start[i] for i in range(halves[0].n_targets)}
    assert len(degrees) > 5


def test_what_is_sent_is_what_is_received(em3d: ctypes.CDLL) -> None:
    options = Options(span=15, **LOGPC)
    halves = [half_graph(em3d, options, rank, 4) for rank in range(4)]
    for sender in range(4):
        for receiver in range(4):
            got = halves[receiver].recv_start[sender + 1] - halves[receiver].recv_start[sender]
            assert outgoing(halves[sender], 4)[receiver] == got
    assert all(half.n_ghosts == half.recv_start[4] for half in halves)


def test_the_original_order_starts_at_the_same_rank_everywhere(em3d: ctypes.CDLL) -> None:
    options = Options(span=15, **LOGPC)
    for rank in range(32):
        half = half_graph(em3d, options, rank, 32)
        peers = [row[0] for row in schedule(em3d, half, rank, 32, 0, 0).rows()]
        assert peers == sorted(peers)
        # With span 15 everyone but the opposite processor is reached.
        assert peers[0] == (0 if rank not in (0, 16) else 1)


def test_the_improved_orders_spread_the_same_blocks(em3d: ctypes.CDLL) -> None:
    options = Options(span=15, **LOGPC)
    first_peers = []
    for rank in range(32):
        half = half_graph(em3d, options, rank, 32)
        original = schedule(em3d, half, rank, 32, 0, 0).rows()
        random = schedule(em3d, half, rank, 32, 1, 0).rows()
        staggered = schedule(em3d, half, rank, 32, 1, 1).rows()
        assert sorted(random) == sorted(staggered) == sorted(original)
        assert random != original
        first_peers.append(random[0][0])
        # Staggered: the distance from the own rank never decreases.
        distances = [(row[0] - rank) % 32 for row in staggered]
        assert distances == sorted(distances)
        assert distances[0] == 1
    # 32 ranks that pick their first receiver at random hit about 32 (1 - (1 - 1/32)^32) = 20 different ones.
    assert len(set(first_peers)) > 14


def test_blocks_cover_every_value_once(em3d: ctypes.CDLL) -> None:
    half = half_graph(em3d, Options(span=15, **LOGPC), 5, 32)
    rows = schedule(em3d, half, 5, 32, 1, 0).rows()
    covered = sorted(value for _, _, first, count in rows for value in range(first, first + count))
    assert covered == list(range(1600))
    assert max(count for *_, count in rows) == 10
