"""GOAL schedules played in simulated time: a round trip, times by hand, and schedules that cannot be played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.analyzer.goal_replay import Op, parse
from tests.analyzer.in_process import analyze

from logpost.analyzer.export.goal import export_goal
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines.schema import Machine
from logpost.testbed import play

Toy = Callable[..., Machine]
HALO = """// a ring, by hand; times in ns
num_ranks 4
{ranks}"""
RANK = """rank {i} {{
/* posts both, sends both,
   computes, waits */
r1: recv 100b from {left} tag 1
r2: recv 200b from {right} tag 2
r2 irequires r1
s1: send 100b to {right} tag 1
s1 irequires r2
s2: send 200b to {left} tag 2 cpu 0 nic 0
s2 irequires s1
c: calc {work}
c irequires s2
w: calc 0
w requires c
w requires r1
w requires r2
w requires s1
w requires s2
b: send 64b to {right} tag 3
b requires w
e: recv 64b from {left} tag 3
e requires b
}}
"""


def messages(ranks: list[list[Op]]) -> list[list[tuple[str, int, int]]]:
    return [[(op.kind, op.amount, op.peer) for op in rank if op.kind != "calc"] for rank in ranks]


def computed(ranks: list[list[Op]], least: int) -> list[list[int]]:
    return [[op.amount for op in rank if op.kind == "calc" and op.amount >= least] for rank in ranks]


def round_trip(schedule: Path, machine: Machine, folder: Path) -> tuple[Run, str]:
    """Played, analyzed and exported again, in ps."""
    done = play(schedule, machine, output=folder, timeout_s=60)
    run = Run.open(analyze(Request(str(done.archive / "traces.otf2"), str(folder / "a.run"))))
    export_goal(run, folder / "again.goal", folder / "again.map.csv", unit="ps")
    return run, (folder / "again.goal").read_text()


def test_a_schedule_comes_back_with_its_messages_computation_and_waits(toy: Toy, tmp_path: Path) -> None:
    ranks = [RANK.format(i=i, left=(i - 1) % 4, right=(i + 1) % 4, work=1_000_000 + 1000 * i) for i in range(4)]
    (tmp_path / "halo.goal").write_text(HALO.format(ranks="".join(ranks)))
    run, text = round_trip(tmp_path / "halo.goal", toy({"kind": "crossbar", "nodes": 4}), tmp_path)
    again = parse(text)
    for i, rank in enumerate(messages(again)):
        left, right = (i - 1) % 4, (i + 1) % 4
        assert rank == [
            *(("recv", 100, left), ("recv", 200, right), ("send", 100, right), ("send", 200, left)),
            *(("send", 64, right), ("recv", 64, left)),
        ]
    assert computed(again, 10**6) == [[1_000_000_000 + 1_000_000 * i] for i in range(4)]
    # One Waitall took the four; the last two are blocking calls.
    names = [name for (name,) in run.facts("regions").select("name").collect().iter_rows()]
    assert {"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Send", "MPI_Recv"} <= set(names)
    # A second trip changes nothing any more.
    (tmp_path / "second").mkdir()
    _, second = round_trip(tmp_path / "again.goal", toy({"kind": "crossbar", "nodes": 4}), tmp_path / "second")
    assert messages(parse(second)) == messages(again)
    assert computed(parse(second), 10**6) == computed(again, 10**6)


def test_a_message_takes_what_the_machine_says(toy: Toy, tmp_path: Path) -> None:
    """10 us, o_s 1 us, L 5 us, 99 bytes at 4 ns, o_r 2 us: 18.396 us."""
    (tmp_path / "one.goal").write_text(
        "num_ranks 2\nrank 0 {\na: calc 10000\nb: send 100b to 1 tag 0\nb requires a\n}\n"
        "rank 1 {\nrecv 100b from -1 tag -1\n}\n"
    )
    done = play(tmp_path / "one.goal", toy({"kind": "crossbar", "nodes": 2}), output=tmp_path, timeout_s=60)
    run = Run.open(analyze(Request(str(done.archive / "traces.otf2"), str(tmp_path / "a.run"))))
    (leave,) = run.facts("messages").select("recv_leave_ps").collect()["recv_leave_ps"]
    (enter,) = run.facts("messages").select("send_enter_ps").collect()["send_enter_ps"]
    assert leave - enter == pytest.approx(8.396e6, rel=0.01)


def test_any_order_that_the_schedule_allows_is_played(toy: Toy, tmp_path: Path) -> None:
    """Two branches on rank 0, each a receive and an answer: the second's request arrives first; neither may block."""
    (tmp_path / "branches.goal").write_text(
        "num_ranks 2\n"
        "rank 0 {\na: recv 8b from 1 tag 1\nb: send 8b to 1 tag 2\nb requires a\n"
        "c: recv 8b from 1 tag 3\nd: send 8b to 1 tag 4\nd requires c\n}\n"
        "rank 1 {\ns: send 8b to 0 tag 3\nr: recv 8b from 0 tag 4\nr requires s\n"
        "t: send 8b to 0 tag 1\nt requires r\nu: recv 8b from 0 tag 2\nu requires t\n}\n"
    )
    done = play(tmp_path / "branches.goal", toy({"kind": "crossbar", "nodes": 2}), output=tmp_path, timeout_s=60)
    run = Run.open(analyze(Request(str(done.archive / "traces.otf2"), str(tmp_path / "a.run"))))
    assert run.manifest.messages == 4


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("a: calc 1\nb: calc 1\na requires b\nb requires a", "2 operations wait for each other in a circle"),
        ("a: jump 1", "line 3: expected calc, send or recv: jump 1"),
        ("a: send 8b to 1 tag 0", "line 3: there is no such rank"),
        ("a: send 8b to 0 tag 5000000000", "line 3: the tag is beyond those of MPI"),
        ("a: calc 5 minutes", "the line is not known:  minutes"),
        ("a requires b", "no such label before this line: a"),
        ("a: calc 1\na: calc 2", "line 4: the label is there already: a"),
    ],
)
def test_what_cannot_be_played_is_said(
    toy: Toy, tmp_path: Path, capfd: pytest.CaptureFixture[str], lines: str, says: str
) -> None:
    (tmp_path / "odd.goal").write_text(f"num_ranks 1\nrank 0 {{\n{lines}\n}}\n")
    with pytest.raises(InputError, match="0 of 1 ranks reached MPI_Finalize"):
        play(tmp_path / "odd.goal", toy({"kind": "crossbar", "nodes": 2}), output=tmp_path, timeout_s=60)
    assert says in capfd.readouterr().err


def test_a_schedule_without_ranks_is_refused(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "odd.goal").write_text("rank 0 {\n}\n")
    with pytest.raises(InputError, match="it has no num_ranks before its first rank"):
        play(tmp_path / "odd.goal", toy({"kind": "crossbar", "nodes": 2}), output=tmp_path)


def test_a_file_that_is_not_there_or_no_text_is_refused(toy: Toy, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No such file or directory; .* GOAL schedule"):
        play(tmp_path / "none.goal", toy({"kind": "crossbar", "nodes": 2}), output=tmp_path)
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="is no text; txt2bin's form cannot be read"):
        play(tmp_path / "a.bin", toy({"kind": "crossbar", "nodes": 2}), output=tmp_path)
