"""A machine from one-sided transfers alone: puts and gets of known cost, written in code, and simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.analyzer.in_process import analyze
from tests.truth.programs import SIMULATE, simulate

from logpost.analyzer.machine.estimate import Estimate
from logpost.analyzer.machine.estimate.transfers import UNSERVED, of_transfers
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.run.directory import Run
from logpost.replay._native import Program, call_kinds, transfer_kinds
from logpost.replay.columns import Column, Piece

OWN, L, G, O_R = 300_000, 2_000_000, 500, 700_000
"""o_s, L, G, o_r"""
IDLE = 50_000_000
NOTHING = Estimate("none", {}, ())


def piece(*columns: Mapping[str, Column]) -> Piece:
    return {name: column for some in columns for name, column in some.items()}


def program(transfers: Sequence[tuple[str, int]], *, slowed: int = 0, immediate: bool = True) -> Program:
    """Rank 0 starts a transfer, flushes and rests, again and again; rank 1 computes. Some last 10 us more."""
    calls: list[tuple[int, int, int, int]] = []
    rows = []
    now = 0
    for number, (kind, size) in enumerate(transfers):
        wait = 0 if slowed == 0 or number % slowed else 10_000_000
        begun = now + OWN
        done = begun + 2 * L + (size - 1) * G + (O_R if kind == "get" else 0) + wait
        calls.append((0, 0, now, begun))
        calls.append((0, 0, begun if immediate else begun + IDLE, done if immediate else done + IDLE))
        rows.append((len(calls) - 2, len(calls) - 1, kind, size))
        now = done + IDLE
    calls += [(1, 0, 0, 1), (1, 0, now, now + 1)]  # rank 1 is away in between
    table = np.array(calls, dtype=np.int64)
    first, second = (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 1))
    none32, none64 = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    zeros = np.zeros(len(rows), dtype=np.int32)
    ends = ("location", "number", "call", "complete_call", "peer", "comm", "tag")
    messages = (
        *("send_location", "recv_location", "comm", "tag", "layout", "send_call", "send_complete_call"),
        *("recv_post_call", "recv_call", "send_number", "recv_number"),
    )
    collectives = (
        *("instance", "location", "comm", "root", "call", "complete_call", "rma_window"),
        *("layout", "received_layout"),
    )
    epochs = ("location", "peer", "rma_window", "begin_call", "end_call", "match")
    none8, unsigned = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.uint64)
    return Program(
        ticks_per_second=10**12,
        length_ps=now + 1,
        callers=np.array([-1], dtype=np.int32),
        kinds=[call_kinds().index("one_sided")],
        layouts=[],
        members=[[0, 1]],
        locations={
            **{name: np.array([0, 1], dtype=np.int32) for name in ("process", "node", "rank")},
            "socket": np.array([-1, -1], dtype=np.int32),
            "accounted": np.array([1, 1], dtype=np.uint8),
            "first_ps": np.zeros(2, dtype=np.int64),
            "last_ps": np.array([now + 1, now + 1], dtype=np.int64),
        },
        calls={
            "location": table[:, 0].astype(np.int32),
            "region": table[:, 1].astype(np.int32),
            "callpath": table[:, 1].astype(np.int32),
            "enter_ps": table[:, 2].copy(),
            "leave_ps": table[:, 3].copy(),
        },
        messages=piece(dict.fromkeys(messages, none32), {"bytes": unsigned, "recv_bytes": unsigned}),
        unmatched=piece(dict.fromkeys(ends, none32), {"direction": none8, "bytes": unsigned}),
        collectives=piece(
            dict.fromkeys(collectives, none32),
            {"operation": none8},
            dict.fromkeys(("enter_ps", "leave_ps"), none64),
            dict.fromkeys(("bytes_sent", "bytes_received"), unsigned),
        ),
        transfers=piece(
            {
                "location": zeros,
                "target": zeros + 1,
                "rma_window": zeros,
                "call": first,
                "complete_call": second,
                "remote_call": second,
                "layout": zeros - 1,
                "target_layout": zeros - 1,
                "kind": np.array([transfer_kinds().index(kind) for *_, kind, _ in rows], dtype=np.uint8),
                "bytes": np.array([size for *_, size in rows], dtype=np.uint64),
            }
        ),
        epochs=piece(dict.fromkeys(epochs, none32), {"kind": none8, "lock": unsigned, "acquired_ps": none64}),
    )


def estimated(transfers: Sequence[tuple[str, int]], **more: object) -> Estimate:
    return of_transfers("trace", program(transfers, **more), NOTHING, asynchronous=True, tick_ps=1.0)  # type: ignore[arg-type]


def test_puts_of_two_sizes_identify_all() -> None:
    known = estimated([("put", 1001)] * 10 + [("put", 8001)] * 10).classes["other_node"].stated
    for name, true in (("o_s", OWN), ("L", L), ("G", G)):
        assert not known[name].bound_only
        assert known[name].low <= true <= known[name].high
        assert known[name].value == pytest.approx(true, rel=1e-3)
    assert known["o_r"].value == 0


def test_gets_with_puts_identify_the_receiver() -> None:
    sizes = [1001] * 10 + [8001] * 10
    known = estimated([(kind, size) for kind in ("put", "get") for size in sizes]).classes["other_node"].stated
    assert known["o_r"].value == pytest.approx(O_R, rel=1e-3)
    assert known["L"].value == pytest.approx(L, rel=1e-3)


@pytest.mark.parametrize("transfers", [[("put", 4096)] * 20, [("get", 4096)] * 10 + [("get", 64)] * 10])
def test_one_size_or_gets_alone_only_bound_the_latency(transfers: Sequence[tuple[str, int]]) -> None:
    known = estimated(transfers).classes["other_node"].stated
    assert known["L"].bound_only
    assert known["L"].low <= L <= known["L"].high
    assert known["L"].value > L
    assert known["G"].low <= G <= known["G"].high


def test_a_few_transfers_that_meet_others_change_nothing() -> None:
    known = estimated([("put", 1001)] * 16 + [("put", 8001)] * 16, slowed=4).classes["other_node"].stated
    assert known["L"].value == pytest.approx(L, rel=1e-3)
    assert known["L"].low <= L <= known["L"].high


def test_what_is_completed_later_shows_nothing() -> None:
    found = estimated([("put", 1001)] * 10 + [("put", 8001)] * 10, immediate=False)
    assert found.classes == {}
    (note,) = found.notes
    assert note.startswith("transfers identify no machine: ")


@pytest.mark.slow
@pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")
def test_what_if_of_transfers_changes_with_the_latency(tmp_path: Path) -> None:
    """80 gets of 4 KiB with L = 5 us, G = 1 ns/B: o_s + 2 L + 4.095 us + o_r; L is known up to 7.5 us."""
    names = ("rma_remote_access", "rma_put_unattended")
    simulate(tmp_path / "cases", cases=names)
    run, served = (
        Run.open(
            analyze(Request(str(tmp_path / "cases" / name / "traces.otf2"), str(tmp_path / name), machine="estimate"))
        )
        for name in names
    )
    found = predict(run, Ask(settings=("L=x4",)))
    assert found.predicted_ps > 1.2 * found.measured_ps
    assert found.interval_ps[0] <= 5_678_045_000 <= found.interval_ps[1]  # the simulator's, with 4 L
    assert "latency" in run.manifest.machine.undivided
    # Targets that serve with their processors show nothing, and that is said.
    assert UNSERVED in served.manifest.machine.notes
    unchanged = predict(served, Ask(settings=("L=x4",)))
    assert unchanged.predicted_ps == unchanged.measured_ps
    assert any("taken with L = o = g = G = 0: factors of these change nothing" in one for one in unchanged.notes)
