"""Persistent collectives: MPI-4's, and Open MPI 4.1's by the names MPIX_.

Where ranks start them in different orders, they belong together by the order they were made in.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

SIZES = {("Bcast", 8), ("Bcast", 16), ("Allreduce", 64), ("Allreduce", 16)}
"""Operation and received bytes of what persistent.c starts in a round, the second every other one; the last is the
nonblocking one."""


def _instances(done: recording.Result, folder: Path) -> pl.DataFrame:
    """The members' rows of every operation of persistent.c; all are paired, and each with its own."""
    run = Run.open(analyze(Request(str(done.archive), str(folder / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    wanted = pl.col("operation").cast(pl.String).is_in(["Bcast", "Allreduce"])
    rows = run.table("collectives").filter(wanted).collect().with_columns(pl.col("operation").cast(pl.String))
    assert rows.filter(pl.col("instance") < 0).height == 0
    members = rows.group_by("instance").agg(
        pl.len(),
        pl.col("location").n_unique().alias("locations"),
        pl.struct("operation", "bytes_received").n_unique().alias("kinds"),
        pl.col("enter_ps").max().alias("last_enter"),
        pl.col("leave_ps").min().alias("first_leave"),
        pl.col("operation").first(),
    )
    assert members.select("len", "locations", "kinds").unique().rows() == [(2, 2, 1)]
    # A rank that leaves an all-reduce has waited for the other; another round's would be over before it.
    assert members.filter(operation="Allreduce").filter(pl.col("last_enter") > pl.col("first_leave")).height == 0
    assert set(rows.select("operation", "bytes_received").unique().rows()) == SIZES
    return rows


def _numbers(trace: recording.Trace, rank: int) -> list[int]:
    """Which persistent collective each start is one of; 0: a nonblocking one."""
    found = [
        re.search(r'"logpost:persistent" <\d+>; UINT32; (\d+)', event.attributes)
        for event in trace.on(rank, "NON_BLOCKING_COLLECTIVE_REQUEST")
    ]
    return [int(match[1]) if match else 0 for match in found]


def _recorded(source: str, mpi: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> recording.Result:
    done = recording.run(mpi, folder, 2, recording.build(source, mpi, folder), *arguments, options=options)
    if "no persistent collectives" in done.out:
        pytest.skip("this MPI has no persistent collectives")
    assert done.status == 0, done.err
    return done


def _run(mpi: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> recording.Result:
    done = _recorded("persistent.c", mpi, folder, *arguments, options=options)
    assert done.out == f"rounds {arguments[0]}\n"
    return done


def test_each_has_the_bytes_of_its_nonblocking_operation(mpi: str, tmp_path: Path) -> None:
    """All 17 of them, started twice; the five of neighbourhoods are calls."""
    trace = _recorded("persistent_each.c", mpi, tmp_path).read()
    for rank in (0, 1):
        bytes_of: dict[str, list[tuple[int, int]]] = {}
        for event in trace.on(rank, "NON_BLOCKING_COLLECTIVE_COMPLETE"):
            bytes_of.setdefault(event.operation, []).append((event.number("Sent"), event.number("Received")))
        assert len(bytes_of) == 17
        for operation, three in bytes_of.items():
            assert len(three) == 3, operation
            assert len(set(three)) == 1, operation
        assert _numbers(trace, rank) == [one for number in range(1, 18) for one in (0, number, number)]
        made = [e.region.partition("_")[2] for e in trace.on(rank, "ENTER") if e.region.endswith("_init")]
        assert len(made) == len(set(made)) == 22
        assert sum(name.startswith("Neighbor_") for name in made) == 5


def test_each_rank_starts_them_in_its_own_order(mpi: str, tmp_path: Path) -> None:
    """Twelve rounds: the third operation is made anew in rounds 5 and 10, as the communicator's fourth and fifth."""
    done = _run(mpi, tmp_path, "12")
    numbers = [_numbers(done.read(), rank) for rank in (0, 1)]
    assert numbers[0] != numbers[1]
    counts = {0: 12, 1: 12, 2: 6, 3: 5, 4: 5, 5: 2}
    for of_rank in numbers:
        assert {number: of_rank.count(number) for number in set(of_rank)} == counts
    rows = _instances(done, tmp_path)
    assert rows["instance"].n_unique() == sum(counts.values())
    for _, one in rows.group_by("operation", "bytes_received"):
        in_order = [one.filter(location=rank).sort("enter_ps")["instance"].to_list() for rank in (0, 1)]
        assert in_order[0] == in_order[1], "the k-th start of one belongs to the other's k-th"


def test_around_gaps_of_each_rank(mpi: str, tmp_path: Path) -> None:
    """24 rounds in blocks of four: rank 0 is off in blocks 0 and 3, rank 1 in 2 and 5. Eight rounds are left, with
    three operations each, and four with one more."""
    done = _run(mpi, tmp_path, "24", "gaps")
    rows = _instances(done, tmp_path)
    assert rows["instance"].n_unique() == 8 * 3 + 4


def test_behind_the_cut_of_a_ring(mpi: str, tmp_path: Path) -> None:
    rounds = 5000
    done = _run(mpi, tmp_path, str(rounds), options=("--keep", "1MB"))
    trace = done.read()
    found = re.findall(r"^Property name\s+LOGPOST::(\S+)\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    stated = {name: int(value) for name, value in found}
    assert stated["OVERWRITTEN_OPERATIONS"] > rounds // 10
    rows = _instances(done, tmp_path)
    assert rows["instance"].n_unique() < rounds * 7 // 2


def test_buffered_sends_that_are_started_while_the_one_before_is_in_progress(mpi: str, tmp_path: Path) -> None:
    """Open MPI gives the request another handle then."""
    done = _recorded("persistent_buffered.c", mpi, tmp_path)
    trace = done.read()
    sends = [(event.number("Tag"), event.number("Length")) for event in trace.on(0, "MPI_ISEND")]
    assert sends == [(7, 2**20)] * 8
    assert len(trace.on(0, "MPI_ISEND_COMPLETE")) == len(trace.on(1, "MPI_RECV")) == 8
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.count] == []
