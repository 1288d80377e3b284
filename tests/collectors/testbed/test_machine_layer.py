"""Overheads, eager limit, finite capacity, gaps and placement: what a simulated message costs its two processors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logpost.machines.schema import Machine
from logpost.machines.topologies.mapping import Mapping
from logpost.testbed import TestbedRun

Run = Callable[..., TestbedRun]
Toy = Callable[..., Machine]

LINE = {"kind": "mesh", "dims": [8]}


@pytest.mark.parametrize("settings", [{}, {"eager-limit": "0"}, {"eager-limit": "100"}], ids=["eager", "0", "100"])
def test_calls_cost_their_overheads_whatever_the_protocol(settings: dict[str, str], toy: Toy, run: Run) -> None:
    # o_s = 1 us, o_r = 2 us per message; a test itself costs 0.1 us (poll). With an eager limit of 0 a send lasts
    # until its message has been transferred, L + 99 G - 100 G_link + 100 G_link = 5 us + 0.1 us (1 - 3) + 396 ns: the
    # mean distance on a line of 8 nodes is (8 + 1) / 3 = 3 hops.
    done = run(toy(LINE), "calls", ranks=2, settings=settings)
    took = {name: float(value) for name, value in (line.split() for line in done.output.splitlines())}
    transfer = 5000 - 200 + 396 if settings.get("eager-limit") == "0" else 0
    assert took["send"] == pytest.approx(1000 + transfer, abs=0.01)
    assert took["isend"] == pytest.approx(1000, abs=0.01)
    assert took["wait_send"] == pytest.approx(transfer, abs=0.01)
    assert took["wait"] == pytest.approx(2000, abs=0.01)
    assert took["test"] == pytest.approx(2100, abs=0.01)
    assert took["waitany"] == pytest.approx(2000, abs=0.01)
    assert took["waitall"] == pytest.approx(4 * 2000, abs=0.01)


@pytest.mark.parametrize(
    "settings",
    [{}, {"eager-limit": "100"}, {"capacity": "300"}, {"eager-limit": "1000", "capacity": "3000"}],
    ids=["eager", "limit", "capacity", "both"],
)
def test_messages_do_not_overtake_each_other(settings: dict[str, str], toy: Toy, run: Run) -> None:
    assert "wrong 0" in run(toy(LINE), "order", ranks=2, settings=settings).output


def test_rendezvous_begins_when_the_receive_is_posted(toy: Toy, run: Run) -> None:
    # The second message has 4 bytes. Eager, it is there already: o_r = 2 us. Above the limit its transfer begins now,
    # over one of three mean hops: 5 - 0.2 us + 3 * 4 ns more.
    eager = run(toy(LINE), "order", ranks=2).output
    waiting = run(toy(LINE), "order", ranks=2, settings={"eager-limit": "0"}).output
    assert float(eager.split()[1]) == pytest.approx(2000, abs=0.01)
    assert float(waiting.split()[1]) == pytest.approx(2000 + 4800 + 12, abs=0.01)


MESSAGES, BYTES = 20, 80


@pytest.mark.parametrize(
    ("settings", "stalls"),
    [({}, False), ({"eager-limit": "0"}, True), ({"capacity": "256"}, True)],
    ids=["unlimited", "eager limit 0", "capacity 256 B"],
)
def test_a_hot_receiver_stalls_its_senders(settings: dict[str, str], stalls: bool, toy: Toy, run: Run) -> None:
    # 7 senders of 20 messages. The receiver needs 140 o_r = 280 us. A sender whose messages are buffered without limit
    # needs 20 o_s = 20 us; one that waits for its receiver as long as the receiver works, but for the last few.
    done = run(toy(LINE), "hot", [MESSAGES, BYTES], ranks=8, settings=settings)
    sender, receiver = (float(word) for word in done.output.split())
    if stalls:
        assert receiver >= 280_000
        assert sender > 0.85 * receiver
    else:
        assert sender == pytest.approx(20_000, rel=0.1)
        assert receiver == pytest.approx(280_000, rel=0.1)


def test_a_finite_queue_costs_the_receiver_nothing(toy: Toy, run: Run) -> None:
    # Room for three messages, each in flight for o_s + L = 6 us and received for o_r = 20 us: the receiver always finds
    # one, so it is never idle but before the first. 140 o_r = 2.8 ms.
    done = run(toy(LINE), "hot", [MESSAGES, BYTES], ranks=8, settings={"capacity": "256", "o_r": "20us"})
    assert float(done.output.split()[1]) == pytest.approx(2_800_000, rel=0.01)


def test_gap_spaces_messages_out(toy: Toy, run: Run) -> None:
    # g = 10 us: one sender's 20 messages leave within 19 g, and 7 senders' 140 arrive at the receiver within 139 g.
    done = run(toy(LINE), "hot", [MESSAGES, BYTES], ranks=8, settings={"g": "10us"})
    sender, receiver = (float(word) for word in done.output.split())
    assert sender == pytest.approx(19 * 10_000 + 1000, rel=0.02)
    assert receiver == pytest.approx(139 * 10_000, rel=0.02)


@pytest.mark.parametrize("g", [1, 10, 20])
def test_the_gap_holds_for_messages_whose_senders_wait(g: int, toy: Toy, run: Run) -> None:
    # Three synchronous messages arrive at once, as all nodes are equally far. The NIC hands one over every g, and each
    # costs o_r = 2 us: the last is there 2 max(g, o_r) + o_r after the first arrives. One alone shows when that is.
    crossbar = {"kind": "crossbar", "nodes": 4}
    settings = {"g": f"{g}us"}
    alone, together = (float(run(toy(crossbar), "together", [8], ranks=n, settings=settings).output) for n in (2, 4))
    assert together - alone == pytest.approx(2 * max(g, 2) * 1000, abs=300)


def test_mapping_decides_the_distance(tmp_path: Path, toy: Toy, run: Run) -> None:
    # Nodes 0 and 5 are five hops apart: 8 us + 0.1 us (5 - 3).
    places = tmp_path / "places"
    places.write_text("0\n5\n")
    done = run(toy(LINE), "pingpong", [0, 1, 1], ranks=2, mapping=str(places))
    assert float(done.output) == pytest.approx(8200, abs=0.01)
    assert (done.archive / "hostfile").read_text() == "n0\nn5\n"


def test_random_mapping_is_that_of_the_models(toy: Toy, run: Run) -> None:
    machine = toy(LINE)
    done = run(machine, "pingpong", [0, 1, 1], ranks=8, mapping="random:7")
    placed = Mapping(kind="random", nodes=8, seed=7)
    assert machine.topology is not None
    hops = int(placed.hops(0, 1, machine.topology))
    assert float(done.output) == pytest.approx(8000 + 100 * (hops - 3), abs=0.01)
    assert done.machine.mapping == placed


def test_ranks_of_one_node_use_its_own_values(toy: Toy, run: Run) -> None:
    # same_node: o_s + L + 999 G + o_r = 0.1 + 0.5 + 0.999 + 0.2 us
    loggp = {
        "other_node": {"L": 5, "o_s": 1, "o_r": 2, "G": 4},
        "same_node": {"L": 0.5, "o_s": 0.1, "o_r": 0.2, "G": 1},
    }
    done = run(toy(LINE, loggp=loggp), "pingpong", [0, 1, 1000], ranks=4, mapping="block:2")
    assert float(done.output) == pytest.approx(1799, abs=0.01)
    assert (done.archive / "hostfile").read_text() == "n0\nn0\nn1\nn1\n"


def test_the_alewife_takes_what_its_paper_prints(run: Run) -> None:
    # LOGPC Tables 1 and 2, in cycles of 50 ns: 0 B 9 + 21 + 117, 8 B 15 + 21 + 122, 80 B 25 + 8 + 79/2 + 129; over the
    # mean distance of 4 hops (rank 4 of the 8 x 4 mesh).
    done = run("alewife", "pingpong", [0, 4, 0, 8, 80], ranks=32)
    cycles = [float(word) / 50 for word in done.output.split()]
    assert cycles == pytest.approx([147, 158, 201.5], abs=0.001)
