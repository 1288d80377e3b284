"""Mutations make programs that end, and change nothing but what they state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

from .expected import NOTHING, Expected, Span
from .mutations.draw import REAL_ONLY, clean, drawn
from .mutations.judge import compared, on_testbed, simulated
from .mutations.kernels import KERNELS
from .mutations.machine import machine
from .mutations.mutate import MUTATIONS
from .mutations.recorded import program
from .mutations.script import Op, Program, Region, unmatched

SEEDS = range(40)


def two(first: tuple[Op, ...], second: tuple[Op, ...]) -> Program:
    return Program("two", 1, (Region("only", (first, second)),), seed=1)


def test_programs_that_do_not_end_are_seen() -> None:
    send, receive = Op("SEND", peer=1, size=8), Op("RECV", peer=0, size=8)
    assert unmatched(two((send,), (receive,))) == []
    assert unmatched(two((send,), ())) == ["iteration 0: (0, 1, 0, 8)"]
    assert unmatched(two((send,), (replace(receive, size=16),))) != []
    assert unmatched(two((Op("BARRIER"),), ())) == ["iteration 0: collective operations differ"]
    # Eager sends let both ranks reach their receives; synchronous ones do not.
    back, from_1 = Op("SEND", peer=0, size=8), Op("RECV", peer=1, size=8)
    assert unmatched(two((send, from_1), (back, receive))) == []
    stuck = two((replace(send, kind="SSEND"), from_1), (replace(back, kind="SSEND"), receive))
    assert unmatched(stuck) == [f"iteration 0: rank {rank} never ends SSEND" for rank in (0, 1)]
    # The receive that is posted before lets a synchronous send end, behind it nothing does.
    posted = (Op("IRECV", peer=0, size=8), Op("BARRIER"), Op("WAITALL"))
    assert unmatched(two((replace(send, kind="SSEND"), Op("BARRIER")), posted)) == []
    assert unmatched(two((replace(send, kind="SSEND"), Op("BARRIER")), (Op("BARRIER"), receive))) != []
    assert unmatched(two((send,), (Op("IRECV", peer=0, size=8),))) == ["iteration 0: rank 1 leaves a request behind"]
    assert unmatched(two((Op("LOCK"), Op("BARRIER"), Op("UNLOCK")), (Op("LOCK"), Op("BARRIER"), Op("UNLOCK")))) != []


def test_large_messages_need_their_receive() -> None:
    # 8 bytes are sent at once; 8 KiB, beyond the eager limit of some machines, wait for the receive.
    def crossing(size: int) -> Program:
        send, back = Op("SEND", peer=1, size=size), Op("SEND", peer=0, size=size)
        return two((send, Op("RECV", peer=1, size=size)), (back, Op("RECV", peer=0, size=size)))

    assert unmatched(crossing(8)) == []
    assert unmatched(crossing(8192)) == [f"iteration 0: rank {rank} never ends SEND" for rank in (0, 1)]


GOAL = """num_ranks 2
rank 0 {
l0: calc 1500
l1: send 64b to 1 tag 3
l1 requires l0
l2: recv 8b from 1 tag 4
l2 irequires l1
l3: calc 2000
l3 irequires l2
l4: calc 10
l4 requires l2
}
rank 1 {
l0: recv 64b from 0 tag 3
l1: send 8b to 0 tag 4
l1 requires l0
}
"""


def test_a_schedule_as_a_list_of_operations() -> None:
    # The receive is only begun when rank 0 computes for 2 us, and has ended when it computes for 10 ns.
    one = program("pair", GOAL)
    assert one.regions[0].ops == (
        (
            Op("COMPUTE", us=1.5),
            Op("ISEND", peer=1, size=64, tag=3),
            Op("IRECV", peer=1, size=8, tag=4),
            Op("COMPUTE", us=2.0, key=3),
            Op("WAIT_RECEIVE", peer=1, tag=4),
            Op("COMPUTE", us=0.01, key=5),
            Op("WAITALL"),
        ),
        (
            Op("IRECV", peer=0, size=64, tag=3),
            Op("WAIT_RECEIVE", peer=0, tag=3),
            Op("ISEND", peer=0, size=8, tag=4),
            Op("WAITALL"),
        ),
    )
    assert unmatched(one) == []


WAITANY = """num_ranks 2

rank 0 {
l0: recv 8b from 1 tag 1
l1: recv 8b from 1 tag 2
l2: send 8b to 1 tag 3
l2 requires l0
l3: calc 10
l3 requires l1
}
rank 1 {
l0: send 8b to 0 tag 1
l1: recv 8b from 0 tag 3
l1 requires l0
l2: send 8b to 0 tag 2
l2 requires l1
}
"""


@pytest.mark.testbed
def test_a_send_behind_one_of_several_receives_waits_for_no_other(tmp_path: Path) -> None:
    # Rank 0 replies to the first message, and the second is sent behind that reply: MPI_Waitany.
    one = program("waitany", WAITANY)
    assert [op.kind for op in one.regions[0].ops[0]] == [
        *("IRECV", "IRECV", "WAIT_RECEIVE", "ISEND", "WAIT_RECEIVE", "COMPUTE", "WAITALL")
    ]
    assert unmatched(one) == []
    seconds, _ = simulated(one, machine(1, tmp_path), tmp_path / "played")
    assert seconds > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_end(kernel: str) -> None:
    for seed in SEEDS:
        assert unmatched(KERNELS[kernel](Random(seed))) == []


def test_drawn_programs_end_and_depend_on_their_seed_alone() -> None:
    names = set()
    for seed in SEEDS:
        for losses in (1, 2):
            one = drawn(seed, losses, real=True)
            assert unmatched(one.program) == []
            assert one == drawn(seed, losses, real=True)
            assert len(one.losses) == len(one.without) == losses
            names |= {loss.name for loss in one.losses}
            assert all(one.program != without for without in one.without)
    assert names == set(MUTATIONS)


def test_the_testbed_gets_no_loss_that_costs_nothing_there() -> None:
    assert all(loss.name not in REAL_ONLY for seed in SEEDS for loss in drawn(seed, 2).losses)


@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_a_mutation_keeps_ranks_iterations_and_names(name: str) -> None:
    for seed in SEEDS:
        base = clean(seed)
        found = MUTATIONS[name](base, Random(seed))
        if found is None:
            continue
        changed, loss = found
        assert changed.ranks == base.ranks
        assert (changed.iterations, changed.seed) == (base.iterations, base.seed)
        assert [one.name for one in changed.regions] == [one.name for one in base.regions]
        assert loss.region in loss.expected.place
        assert changed != base


def test_silence_is_right_only_about_losses_that_cost_nothing() -> None:
    expected = Expected(cause=("barrier",), place=("step",), cures=("drop barrier",))
    small, large = Span(0.001, 0.001, 0.001), Span(0.3, 0.3, 0.3)
    assert compared("a", 2, small, NOTHING, expected, nothing_to_find=True).right
    assert not compared("a", 2, large, NOTHING, expected, nothing_to_find=False).right
    # Of two losses, one of which costs nothing, the other is still to be found.
    assert not compared("a", 2, small, NOTHING, expected, nothing_to_find=False).right


@pytest.mark.testbed
def test_a_delay_costs_what_it_says_on_the_testbed(tmp_path: Path) -> None:
    # Rank 0 computes 1 ms longer in each of 10 iterations, without noise: 10 ms. The barriers before and behind let the
    # ranks go within 2 (o_s + L + o_r), 32 us on the slowest machine that is drawn.
    work = Op("COMPUTE", us=2000)
    base = Program("delayed", 10, (Region("step", ((work,), (work,))),), seed=1, noise=0.0)
    late = base.with_region(0, ((work, Op("COMPUTE", us=1000)), (work,)))
    place = machine(1, tmp_path)
    times = [simulated(one, place, tmp_path / str(number))[0] for number, one in enumerate((base, late, base))]
    assert times[1] - times[0] == pytest.approx(0.010, abs=2 * 32e-6)
    assert times[2] == times[0]


@pytest.mark.testbed
@pytest.mark.parametrize(("seed", "losses"), [(1, 1), (2, 1), (1, 2)])
def test_a_program_from_the_seed_to_the_verdict(seed: int, losses: int, tmp_path: Path) -> None:
    one = drawn(seed, losses)
    judged = on_testbed(one, machine(seed, tmp_path), tmp_path / "work")
    assert (judged.name, judged.ranks) == (one.name, one.program.ranks)
    assert 0 < judged.true.middle < 1
    assert judged.first.ranks <= set(range(one.program.ranks))


@pytest.mark.testbed
def test_the_window_of_a_lock_is_made_outside_of_the_program(tmp_path: Path) -> None:
    locked = (Op("COMPUTE", us=100), Op("LOCK"), Op("COMPUTE", us=10), Op("UNLOCK", size=8))
    one = Program("locks", 10, (Region("step", (locked, locked)),), seed=1)
    place = machine(1, tmp_path)
    _, archive = simulated(one, place, tmp_path / "played")
    run = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"), str(place))))
    program = run.table("locations").filter("accounted").select("location", "begin_ps", "end_ps")
    calls = (
        run.table("calls")
        .join(program, on="location")
        .filter(pl.col("enter_ps") < pl.col("end_ps"), pl.col("leave_ps") > pl.col("begin_ps"))
    )
    names = dict(run.table("regions").select("region", "name").collect().iter_rows())
    called = {names[region] for region in calls.select("region").collect()["region"]}
    assert {"MPI_Win_lock", "MPI_Win_unlock"} <= called
    assert not called & {"MPI_Win_create", "MPI_Win_free"}
    assert run.table("epochs").collect()["kind"].to_list() == ["lock_exclusive"] * 20
