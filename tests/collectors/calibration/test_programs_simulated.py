"""On a simulated platform whose parameters are known the raw samples are what these demand.

The platform: L = 10 µs, G = 1 ns/B, o_s = 5 µs, o_r = 7 µs, a look for a reply costs 0.1 µs. The simulator sends 16
bytes of header with each message, and takes o_r only of messages below the eager limit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .launchers import Simulated, pick

Points = list[dict[str, Any]]
HEADER = 16
L, G, O_S, O_R, POLL = 10e-6, 1e-9, 5e-6, 7e-6, 1e-7


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    return Simulated(tmp_path_factory.mktemp("platform"), hosts=4, L=L, G=G, o_s=O_S, o_r=O_R, poll=POLL)


@pytest.fixture(scope="module")
def signature(cluster: Simulated) -> Points:
    grid = ("--bytes", "8,1000", "--bursts", "1,2,4,64,128", "--deltas-s", "0,1e-4", "--window", "32")
    return cluster.run("signature", *grid, "--longest-delayed", "256", "--peers", "3", "--reply-delay-s", "2e-3")


@pytest.fixture(scope="module")
def overhead(cluster: Simulated) -> Points:
    return cluster.run("overhead", "--bytes", "1,1000,65535,65536,200000")


def test_round_trip(signature: Points) -> None:
    # request: o_s + L + (8 + 16) G + o_r = 5 + 10 + 0.024 + 7; the reply likewise: 44.048 µs. 1000 bytes: + 0.992 µs
    assert pick(signature, "round_trip", bytes=8)["median_s"] == pytest.approx(44.048e-6)
    assert pick(signature, "round_trip", bytes=1000)["median_s"] == pytest.approx(45.04e-6)


@pytest.mark.parametrize(
    ("burst", "cost_us"),
    # M < RTT/o_s = 8.8: no reply is back; from the second request on a look costs 0.1: (5 + 5.1 (M - 1))/M
    [(1, 5.0), (2, 5.05), (4, 5.075)],
)
def test_few_requests_cost_the_send_overhead(signature: Points, burst: int, cost_us: float) -> None:
    found = pick(signature, "signature", bytes=8, burst=burst, delta_s=0)
    assert found["median_s"] == pytest.approx(cost_us * 1e-6)


def test_many_requests_cost_the_gap(signature: Points) -> None:
    # Both processors need o_s + o_r per request, the requester 0.1 µs more for each look in vain: g is 12.1 µs and a
    # few looks, from the slope between two bursts, in which the start has no part.
    short, long = (pick(signature, "signature", bytes=8, burst=m, delta_s=0)["median_s"] * m for m in (64, 128))
    assert 12.05e-6 <= (long - short) / 64 <= 12.4e-6


def test_computation_shows_the_receive_overhead(signature: Points) -> None:
    # Delta = 100 µs > RTT: each reply is back before the next request: g' = o_s + o_r + Delta + a look = 112.1 µs
    short, long = (pick(signature, "signature", bytes=1000, burst=m, delta_s=1e-4)["median_s"] * m for m in (64, 128))
    assert 112.05e-6 <= (long - short) / 64 <= 112.25e-6


def test_waiting_replies_cost_the_receive_overhead(signature: Points) -> None:
    for burst in (1, 8):
        assert pick(signature, "receive_overhead", burst=burst)["median_s"] == pytest.approx(O_R)


def test_a_stream_costs_the_slower_processor(signature: Points) -> None:
    # Each further message keeps its receiver for o_r = 7 us, its sender for o_s = 5 us.
    assert pick(signature, "stream", bytes=8)["median_s"] == pytest.approx(max(O_S, O_R))


def test_one_to_many(signature: Points) -> None:
    # The requester is the bottleneck, whichever rank serves: o_s + o_r + looks again.
    short, long = (pick(signature, "one_to_many", burst=m, peers=3)["median_s"] * m for m in (64, 128))
    assert 12.05e-6 <= (long - short) / 64 <= 12.3e-6


def test_many_to_one(signature: Points) -> None:
    # The server needs o_r + o_s = 12 µs for each of the requests of three: 36 µs per request of one.
    short, long = (pick(signature, "many_to_one", burst=m, peers=3)["median_s"] * m for m in (64, 128))
    assert (long - short) / 64 == pytest.approx(36e-6, rel=0.02)


@pytest.mark.parametrize("size", [1, 1000, 65535])
def test_overheads_of_eager_messages(overhead: Points, size: int) -> None:
    assert pick(overhead, "message_overhead", bytes=size, side="send")["median_s"] == pytest.approx(O_S)
    assert pick(overhead, "message_overhead", bytes=size, side="blocking_send")["median_s"] == pytest.approx(O_S)
    assert pick(overhead, "message_overhead", bytes=size, side="receive")["median_s"] == pytest.approx(O_R)
    transfer = L + (size + HEADER) * G
    assert pick(overhead, "one_way", bytes=size)["median_s"] == pytest.approx(O_S + transfer + O_R)


@pytest.mark.parametrize("size", [65536, 200000])
def test_overheads_of_a_rendezvous(overhead: Points, size: int) -> None:
    transfer = L + (size + HEADER) * G
    assert pick(overhead, "message_overhead", bytes=size, side="send")["median_s"] == pytest.approx(O_S)
    for side in ("blocking_send", "receive"):
        assert pick(overhead, "message_overhead", bytes=size, side=side)["median_s"] == pytest.approx(transfer)
    assert pick(overhead, "one_way", bytes=size)["median_s"] == pytest.approx(transfer)


def test_simulated_samples_are_all_alike(overhead: Points) -> None:
    """Four samples are a batch here; the accuracy is reached with the first."""
    found = pick(overhead, "message_overhead", bytes=1000, side="receive")
    assert (found["samples"], found["batches"], found["reached"]) == (8, 2, True)
    assert found["minimum_s"] == pytest.approx(found["mean_s"], rel=1e-9)


@pytest.mark.parametrize("limit", [1000, 4097])
def test_eager_limit_to_the_byte(tmp_path: Path, limit: int) -> None:
    """The first size that waits for its receive is the platform's limit; one byte less does not."""
    points = Simulated(tmp_path, eager=limit).run("protocol", "--largest", "10000", "--delay-s", "1e-3")
    for family in ("protocol", "silent_receiver"):
        waiting = {p["bytes"] for p in points if p["family"] == family and p["median_s"] > 0.5e-3}
        eager = {p["bytes"] for p in points if p["family"] == family} - waiting
        assert (max(eager), min(waiting)) == (limit - 1, limit)
        # An eager send costs o_s. A rendezvous waits for the delay, which began with the receiver's word: 5 + 10 + 7 µs
        # before the send.
        assert {p["median_s"] for p in points if p["family"] == family and p["bytes"] in eager} == {O_S}
        assert all(p["median_s"] >= 1e-3 - 23e-6 for p in points if p["family"] == family and p["bytes"] in waiting)


def test_everything_eager(tmp_path: Path) -> None:
    points = Simulated(tmp_path, eager=65536).run("protocol", "--largest", "3000")
    assert {p["bytes"] for p in points} == {2**k for k in range(12)} | {3000}
    assert max(p["median_s"] for p in points) == pytest.approx(O_S)


def test_bursts(cluster: Simulated) -> None:
    points = cluster.run("burst", "--bytes", "1000", "--bursts", "1,16", "--depth-bytes", "1000", "--longest", "64")
    for burst in (1, 16):
        assert pick(points, "burst_overhead", burst=burst, side="send")["median_s"] == pytest.approx(O_S)
        assert pick(points, "burst_overhead", burst=burst, side="receive")["median_s"] == 0.0
    # The simulator's queue has no end: no initiation waits.
    assert pick(points, "blocking_depth", bytes=1000)["depth"] == 0


def test_patterns(cluster: Simulated) -> None:
    """Pairs have separate links: four ranks stream like two, in each pattern."""
    points = cluster.run("pattern", "--bytes", "1000,200000", "--peers", "2,4,6")
    assert {(p["peers"], p["pairs"], p["pattern"]) for p in points} == {
        (2, 1, "neighbour"),
        (4, 2, "neighbour"),
        (4, 2, "cross_section"),
    }
    alone = pick(points, "pattern_gap", bytes=200000, peers=2)["median_s"]
    assert 200016 * G <= alone <= 200016 * G + L + 2 * O_S
    for pattern in ("neighbour", "cross_section"):
        found = pick(points, "pattern_gap", bytes=200000, peers=4, pattern=pattern)
        assert found["median_s"] == pytest.approx(alone, rel=0.02)
        assert found["lowest_s"] <= found["median_s"] <= found["highest_s"]
    # Small messages follow each other at the receiver's o_r, the slower of the two processors.
    assert pick(points, "pattern_gap", bytes=1000, peers=2)["median_s"] == pytest.approx(O_R, rel=0.15)


def test_a_shared_link_halves_the_rate(tmp_path: Path) -> None:
    """Two pairs across one shared link: G(4, S) is twice G(2, S)."""
    cluster = Simulated(tmp_path, hosts=4)
    (tmp_path / "platform.xml").write_text(
        """<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
        <zone id="z" routing="Full">
        <host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/><host id="n3" speed="1Gf"/>
        <link id="l" bandwidth="1GBps" latency="10us" sharing_policy="SHARED"/>"""
        + "".join(f'<route src="n{a}" dst="n{b}"><link_ctn id="l"/></route>' for a in range(4) for b in range(a + 1, 4))
        + "</zone></platform>"
    )
    points = cluster.run("pattern", "--bytes", "1000000", "--peers", "2,4")
    alone = pick(points, "pattern_gap", peers=2)["median_s"]
    assert pick(points, "pattern_gap", peers=4, pattern="cross_section")["median_s"] == pytest.approx(
        2 * alone, rel=0.02
    )


def test_layouts(cluster: Simulated) -> None:
    """Strides and copies are free on the testbed: T01 is the one-way time in all forms, T00 the loopback link's."""
    points = cluster.run("layout", "--bytes", "1024,70000", "--strides", "16,64", "--transfers", "remote,self")
    transfer = L + (1024 + HEADER) * G
    for form, stride in (("contiguous", 8), ("datatype", 16), ("packed", 64)):
        found = pick(points, "layout", transfer="remote", bytes=1024, form=form, stride_bytes=stride)
        assert found["median_s"] == pytest.approx(O_S + transfer + O_R)
        assert found["locality"] == "other_node"
        here = pick(points, "layout", transfer="self", bytes=1024, form=form, stride_bytes=stride)
        assert here["locality"] == "self"
        # loopback of twice 1/G: o_s + o_r + 1040 B / 2 GB/s, sent while the receive is posted
        assert here["median_s"] == pytest.approx(O_S + O_R + (1024 + HEADER) * G / 2, rel=1e-3)
    far = pick(points, "layout", transfer="remote", bytes=70000, form="datatype", stride_bytes=16)
    assert far["median_s"] == pytest.approx(L + (70000 + HEADER) * G)
