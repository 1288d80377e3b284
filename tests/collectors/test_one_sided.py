"""One-sided communication: windows, accesses with bytes and targets, what completes them, and the waits."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import polars as pl
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.collectors.priced_gaps import split_with_prices

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.resplit import Resplit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TRANSFER_PARTS

RANKS = 3
DONE, WRITTEN = "RMA_OP_COMPLETE_NON_BLOCKING", "RMA_OP_COMPLETE_REMOTE"
ACCESSES = ("RMA_PUT", "RMA_GET", "RMA_ATOMIC")


def _recorded(mpi: str, folder: Path, kind: str, **more: str) -> recording.Result:
    program = recording.build("one_sided.c", mpi, folder)
    command = (recording.LAUNCHERS[mpi], "-n", str(RANKS), str(program), kind)
    result = recording.record(folder, *command, env=recording.environment(**more))
    assert result.status == 0, result.err
    return result


def _run(result: recording.Result) -> Run:
    run = Run.open(analyze(Request(str(result.archive), str(result.folder / "run"))))
    assert list(run.manifest.quality) == []  # nothing that the analysis could not use
    return run


def _accesses(trace: recording.Trace, rank: int) -> list[tuple[str, int, int]]:
    """Kind, target and bytes; of atomics those sent."""
    found = []
    for e in trace.on(rank, *ACCESSES):
        found.append((e.kind, e.number("Remote"), e.number("Sent" if e.kind == "RMA_ATOMIC" else "Bytes")))
    return found


def _ids(events: list[recording.Event]) -> list[int]:
    return [e.number("Matching") for e in events]


def _each_is_completed_once(trace: recording.Trace, rank: int) -> None:
    started = _ids(trace.on(rank, *ACCESSES))
    assert len(started) == len(set(started))
    assert sorted(_ids(trace.on(rank, DONE))) == sorted(started)


def _calls(run: Run, location: int, function: str) -> list[tuple[int, int]]:
    """Enter and leave of each call of a function."""
    named = run.table("regions").filter(name=function).select("region")
    calls = run.table("calls").filter(location=location).join(named, on="region").sort("enter_ps")
    return [(int(enter), int(leave)) for enter, leave in calls.select("enter_ps", "leave_ps").collect().iter_rows()]


def _waited(calls: list[tuple[int, int]], until: int) -> int:
    """The wait in the first call that lasts until then, however long others of the machine made it."""
    enter = next((enter for enter, leave in calls if leave >= until), until)
    return max(0, until - enter)


def test_fence(mpi: str, tmp_path: Path) -> None:
    result = _recorded(mpi, tmp_path, "fence")
    trace = result.read()
    for rank in range(RANKS):
        put = ("RMA_PUT", (rank + 1) % RANKS, 256)
        assert _accesses(trace, rank) == ([put, ("RMA_GET", 0, 80)] if rank == 2 else [put])
        _each_is_completed_once(trace, rank)
        fences = trace.within(rank, "MPI_Win_fence", DONE, "RMA_COLLECTIVE_END")
        assert [[e.kind for e in inside] for inside in fences] == [
            ["RMA_COLLECTIVE_END"],
            [DONE, "RMA_COLLECTIVE_END"],
            [DONE, "RMA_COLLECTIVE_END"] if rank == 2 else ["RMA_COLLECTIVE_END"],
        ]
        assert all("PROCESS, MEMORY" in inside[-1].text for inside in fences)
    run = _run(result)
    transfers = run.table("transfers").collect()
    assert sorted(transfers.select("location", "target", "bytes").rows()) == [
        (0, 1, 256),
        (1, 2, 256),
        (2, 0, 80),
        (2, 0, 256),
    ]
    assert transfers["remote_call"].null_count() == 0  # complete at the targets, too: the fences say so
    # Rank 1 enters the second fence a sleep later; the others wait there.
    operations = run.table("collectives").filter(pl.col("operation") == "Fence").sort("location", "enter_ps").collect()
    waits = [operations.filter(location=rank)["wait_ps"].to_list() for rank in range(RANKS)]
    enters = [[enter for enter, _ in _calls(run, rank, "MPI_Win_fence")] for rank in range(RANKS)]
    last = [max(of_all) for of_all in zip(*enters, strict=True)]
    assert waits == [[end - enter for end, enter in zip(last, of_rank, strict=True)] for of_rank in enters]
    assert sum(waits[0]) + sum(waits[2]) > 0


def test_groups(mpi: str, tmp_path: Path) -> None:
    result = _recorded(mpi, tmp_path, "groups")
    trace = result.read()
    for rank in (0, 2):
        assert _accesses(trace, rank) == [("RMA_PUT", 1, 128)] * 2
        _each_is_completed_once(trace, rank)
        for function in ("MPI_Win_start", "MPI_Win_complete"):
            assert [len(inside) for inside in trace.within(rank, function, "RMA_GROUP_SYNC")] == [1, 1, 1]
    for function in ("MPI_Win_post", "MPI_Win_wait"):
        assert all(len(inside) == 1 for inside in trace.within(1, function, "RMA_GROUP_SYNC"))
    # a test that finds the exposure open says nothing, the last one ends it
    tests = trace.within(1, "MPI_Win_test", "RMA_GROUP_SYNC")
    assert [len(inside) for inside in tests] == [0] * (len(tests) - 1) + [1]
    # the groups: rank 1, and ranks 0 and 2
    groups = {re.findall(r'Group: "[^"]*" <(\d+)>', e.text)[0] for e in trace.on(1, "RMA_GROUP_SYNC")}
    groups |= {re.findall(r'Group: "[^"]*" <(\d+)>', e.text)[0] for e in trace.on(0, "RMA_GROUP_SYNC")}
    members = trace.groups()
    assert sorted(members[group] for group in groups) == ["0, 2", "1"]
    run = _run(result)
    epochs = run.table("epochs").collect()
    assert Counter(epochs["kind"].cast(pl.String).to_list()) == {"access": 6, "exposure": 6}
    assert epochs["match"].null_count() == 0
    starts = {rank: _calls(run, rank, "MPI_Win_start") for rank in (0, 2)}
    completes = {rank: _calls(run, rank, "MPI_Win_complete") for rank in (0, 2)}
    posts, waits = _calls(run, 1, "MPI_Win_post"), _calls(run, 1, "MPI_Win_wait")
    for turn, (post, wait) in enumerate(zip(posts[:2], waits, strict=True)):
        for rank in (0, 2):
            start, complete = starts[rank][turn], completes[rank][turn]
            (access,) = epochs.filter(kind="access", location=rank).sort("enter_ps")[[turn]]["wait_ps"]
            assert access == _waited([start, complete], post[0])
            (exposure,) = epochs.filter(kind="exposure", peer=rank).sort("enter_ps")[[turn]]["wait_ps"]
            assert exposure == _waited([wait], complete[0])
    assert all(epochs.filter(kind=kind)["wait_ps"].max() for kind in ("access", "exposure"))


def test_contended_lock(mpi: str, tmp_path: Path) -> None:
    result = _recorded(mpi, tmp_path, "locks")
    trace = result.read()
    assert _accesses(trace, 0) == [("RMA_PUT", 1, 64)]
    assert _accesses(trace, 2) == [("RMA_PUT", 1, 32)]
    for rank, completing in ((0, "MPI_Win_flush"), (2, "MPI_Win_unlock")):
        _each_is_completed_once(trace, rank)
        (inside,) = trace.within(rank, completing, DONE, WRITTEN)
        assert [e.kind for e in inside] == [DONE, WRITTEN]
        (request,) = trace.on(rank, "RMA_REQUEST_LOCK")
        assert "EXCLUSIVE" in request.text
        assert request.number("Remote") == 1
        assert len(trace.on(rank, "RMA_RELEASE_LOCK")) == 1
    run = _run(result)
    (released,) = _calls(run, 0, "MPI_Win_unlock")
    requests = [*_calls(run, 2, "MPI_Win_lock"), *_calls(run, 2, "MPI_Win_unlock")]
    enter, leave = next(call for call in requests if call[1] >= released[0])  # an MPI may request a lock late
    wait = max(0, min(released[1], leave) - enter)
    epochs = run.table("epochs").filter(kind="lock_exclusive").sort("location").collect()
    assert epochs.select("location", "wait_ps").rows() == [(0, 0), (2, wait)]
    lock_wait = run.table("accounting").filter(pl.col("category") == "lock_wait").collect()
    assert lock_wait.filter(pl.col("location") == 2)["exposed_ps"].sum() == wait
    assert lock_wait.filter(pl.col("location") != 2)["exposed_ps"].sum() == 0


def test_flushes(mpi: str, tmp_path: Path) -> None:
    result = _recorded(mpi, tmp_path, "flushes")
    trace = result.read()
    for rank in range(RANKS):
        following = (rank + 1) % RANKS
        puts = [("RMA_PUT", following, 1024)] * 5
        gets = [("RMA_GET", following, 32), ("RMA_GET", rank, 32)]
        assert _accesses(trace, rank) == [*puts, *gets, ("RMA_PUT", following, 8)]  # none to MPI_PROC_NULL
        _each_is_completed_once(trace, rank)
        for function, calls in (("MPI_Win_flush", 3), ("MPI_Win_flush_all", 2)):
            inside = trace.within(rank, function, DONE, WRITTEN)
            assert [[e.kind for e in one] for one in inside] == [[DONE, WRITTEN]] * calls
        # locally: first what is sent to the one target, then the rest; the unlock completes all at the targets
        for function in ("MPI_Win_flush_local", "MPI_Win_flush_local_all"):
            assert [[e.kind for e in one] for one in trace.within(rank, function, DONE, WRITTEN)] == [[DONE]]
        (unlock,) = trace.within(rank, "MPI_Win_unlock_all", DONE, WRITTEN)
        assert Counter(e.kind for e in unlock) == {DONE: 1, WRITTEN: 3}
        assert len(trace.on(rank, "RMA_SYNC")) == 1
    transfers = _run(result).table("transfers").collect()
    assert transfers.height == RANKS * 8
    assert transfers["complete_call"].null_count() == 0
    assert transfers["remote_call"].null_count() == 0


def test_counter(mpi: str, tmp_path: Path) -> None:
    result = _recorded(mpi, tmp_path, "counter")
    trace = result.read()
    for rank in range(RANKS):
        atomics = [
            (re.findall(r"Type: (\w+)", e.text)[0], e.number("Sent"), e.number("Received"))
            for e in trace.on(rank, "RMA_ATOMIC")
        ]
        assert atomics == [
            *[("FETCH_AND_ACCUMULATE", 8, 8)] * 20,
            ("FETCH_AND_ACCUMULATE", 0, 8),  # MPI_NO_OP takes no operand
            ("COMPARE_AND_SWAP", 16, 8),  # what to compare with, and the new value
            ("ACCUMULATE", 48, 0),
            ("FETCH_AND_ACCUMULATE", 24, 24),
            ("FETCH_AND_ACCUMULATE", 0, 24),
        ]
        assert {e.number("Remote") for e in trace.on(rank, "RMA_ATOMIC")} == {0}
        _each_is_completed_once(trace, rank)
    transfers = _run(result).table("transfers").collect()
    assert transfers.height == RANKS * 25
    assert transfers["bytes"].sum() == RANKS * (20 * 16 + 8 + 24 + 48 + 48 + 24)


def test_requests(mpi: str, tmp_path: Path) -> None:
    result = _recorded(mpi, tmp_path, "requests")
    trace = result.read()
    for rank in range(RANKS):
        following = (rank + 1) % RANKS
        assert _accesses(trace, rank) == [
            ("RMA_PUT", following, 64),
            ("RMA_PUT", following, 64),
            ("RMA_GET", following, 64),
            ("RMA_ATOMIC", following, 40),
            ("RMA_ATOMIC", following, 16),
        ]
        _each_is_completed_once(trace, rank)
        layouts = [e.attributes for e in trace.on(rank, *ACCESSES)]
        pairs = "blocks=4 block_bytes=16 stride_bytes=48 extent_bytes=160"
        spread = "blocks=8 block_bytes=8 stride_bytes=24 extent_bytes=176"
        assert re.search(rf'"logpost:layout" <\d+>; STRING; "{pairs}"', layouts[0])
        assert re.search(rf'"logpost:target_layout" <\d+>; STRING; "{spread}"', layouts[0])
        assert pairs in layouts[2]
        assert "target_layout" not in layouts[2]
        assert not any("layout" in layouts[i] for i in (1, 3, 4))
        assert [len(inside) for inside in trace.within(rank, "MPI_Wait", DONE)] == [1]
        assert [len(inside) for inside in trace.within(rank, "MPI_Waitall", DONE)] == [3]
        assert len(trace.within(rank, "MPI_Test", DONE)[-1]) == 1
        (unlock,) = trace.within(rank, "MPI_Win_unlock_all", DONE, WRITTEN)
        assert Counter(e.kind for e in unlock) == {WRITTEN: 5}
    assert _run(result).table("transfers").collect().height == RANKS * 5
    _gaps_are_middleware(result)


def _gaps_are_middleware(result: recording.Result) -> None:
    """Each end whose data have gaps costs half of l_mw: 10 ns for pairs, 20 ns for single doubles."""
    run = split_with_prices(result)
    found = run.table("transfers").collect()
    parts = [f"{part}_ps" for part in TRANSFER_PARTS]
    assert found.select(pl.sum_horizontal(parts)).to_series().to_list() == found["envelope_ps"].to_list()
    for rank in range(RANKS):
        mine = found.filter(pl.col("location") == rank).sort("number")
        assert mine["middleware_ps"].to_list() == [10_000 + 20_000, 0, 10_000, 0, 0]
        assert (mine["layout"] >= 0).to_list() == [True, False, True, False, False]
        assert (mine["target_layout"] >= 0).to_list() == [True, False, False, False, False]
    again = Resplit(run).under().next_transfers(found.height)
    assert again is not None
    assert again["middleware_ps"].tolist() == found["middleware_ps"].to_list()


def test_windows(mpi: str, tmp_path: Path) -> None:
    # Open MPI's default component takes no memory of the program's own where processes may not read each other's.
    result = _recorded(mpi, tmp_path, "windows", OMPI_MCA_osc="pt2pt,sm")
    trace = result.read()
    defined = [re.search(r'Name: "([^"]*)" <\d+>, Communicator: "([^"]*)"', line) for line in trace.defined("RMA_WIN")]
    # rank 0 has them first: two of the split communicator, two of the world's with names, one of each other kind
    assert [(match[1], match[2]) for match in defined if match] == [
        ("MPI_Win_create window 0", ""),
        ("first", "MPI_COMM_WORLD"),
        ("MPI_Win_create window 2", ""),
        ("second", "MPI_COMM_WORLD"),
        ("MPI_Win_allocate_shared window 4", ""),
        ("MPI_Win_create_dynamic window 5", "MPI_COMM_WORLD"),
        *[(f"MPI_Win_allocate window {6 + rank}", f"MPI_COMM_SELF of rank {rank}") for rank in range(RANKS)],
    ]
    for rank in range(RANKS):
        made = [re.findall(r"<(\d+)>$", e.text)[0] for e in trace.on(rank, "RMA_WIN_CREATE")]
        assert made == ["0", "1", "2", "3", "4", "5", str(6 + rank)]
        freed = [re.findall(r"<(\d+)>$", e.text)[0] for e in trace.on(rank, "RMA_WIN_DESTROY")]
        assert sorted(freed) == sorted(made)
        _each_is_completed_once(trace, rank)
    transfers = _run(result).table("transfers").collect()
    # ranks of a window are those of its communicator: 0 of the split one is rank 2
    found = Counter(transfers.select("location", "target", "bytes").rows())
    assert found == Counter(
        {(rank, to, size): n for rank in range(RANKS) for to, size, n in ((2, 64, 2), (rank, 16, 1), (rank, 24, 1))}
    )
