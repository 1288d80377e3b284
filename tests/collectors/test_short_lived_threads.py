"""Threads that begin and end all the time: one that begins continues in the log and location of one that has ended."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost import collectors
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

INCLUDE = f"-I{Path(collectors.__file__).parent}"
ROUNDS = 30


def _recorded(mpi: str, folder: Path, living: int, *options: str) -> recording.Result:
    program = recording.build("short_lived.c", mpi, folder, INCLUDE, "-pthread", "-g", "-fno-optimize-sibling-calls")
    result = recording.run(mpi, folder, 2, program, str(ROUNDS), str(living), options=options)
    assert result.status == 0, result.err
    assert result.out.count("all have ended") == 2
    return result


@pytest.mark.parametrize("living", [1, 3])
def test_there_are_as_many_locations_as_threads_live_concurrently(mpi: str, tmp_path: Path, living: int) -> None:
    """Two kinds of threads, ROUNDS times `living` of each: location = thread * 2^32 + rank."""
    trace = _recorded(mpi, tmp_path, living).read()
    assert {e.location for e in trace.events} == {t * 2**32 + rank for t in range(living + 1) for rank in (0, 1)}
    calls: Counter[str] = Counter()
    for location in (t * 2**32 for t in range(1, living + 1)):
        regions = [(e.kind, e.region) for e in trace.on(location, "ENTER", "LEAVE")]
        assert regions[0] == ("ENTER", regions[-1][1])
        # A region that a thread leaves open ends with it, and between two threads there is none.
        lives = "".join("." if r == ("ENTER", "NO THREAD") else r[1][0] for r in regions if r[0] == "ENTER")[1:]
        assert set(lives.split(".")) == {"M", "lM"}
        open_regions: list[str] = []
        for kind, region in regions:
            if kind == "ENTER":
                assert region != "NO THREAD" or len(open_regions) == 1
                open_regions.append(region)
            else:
                assert open_regions.pop() == region
        calls.update(trace.calls(location))
    assert calls == {"MPI_Send": ROUNDS * living, "MPI_Recv": ROUNDS * living}


def test_each_thread_has_its_own_call_sites(mpi: str, tmp_path: Path) -> None:
    """Memory at which an ended thread's stack was may be gone, or another thread's."""
    trace = _recorded(mpi, tmp_path, 1).read()
    lines = (recording.PROGRAMS / "short_lived.c").read_text().splitlines()
    at = {name: 1 + next(i for i, line in enumerate(lines) if name in line) for name in ("MPI_Send", "MPI_Recv")}
    for location in (2**32, 2**32 + 1):
        sites = Counter(trace.call_sites(location))
        assert sum(sites.values()) == 2 * ROUNDS
        for site, count in sites.items():
            caller, callee = site.split(" / ")[-2:]
            assert caller == f"{'talks' if callee == 'MPI_Send' else 'deep'} (short_lived.c:{at[callee]})"
            assert count == ROUNDS, "one stack of each kind"
    assert len([line for line in trace.defined("CALLING_CONTEXT") if '"deep"' in line]) <= 5 + 1


def test_no_share_has_the_time_between_threads(mpi: str, tmp_path: Path) -> None:
    """A location's time is its threads' and what lies between them, which is none of the program's."""
    run = Run.open(analyze(Request(str(_recorded(mpi, tmp_path, 1).archive), str(tmp_path / "a.run"))))
    assert [one.name for one in run.manifest.quality if one.count] == []
    assert run.manifest.messages == 2 * ROUNDS
    assert build(run).outside_ps == 0, "of the ranks"
    locations = run.table("locations").filter(pl.col("rank") < 0).collect()
    gaps = (
        run.table("calls")
        .join(run.table("regions"), on="region")
        .filter(pl.col("name") == "NO THREAD")
        .group_by("location")
        .agg(pl.len(), gap_ps=(pl.col("leave_ps") - pl.col("enter_ps")).sum())
        .collect()
    )
    assert gaps.height == locations.height == 2
    assert gaps["len"].to_list() == [2 * ROUNDS - 1] * 2
    program = (
        run.table("accounting")
        .filter(pl.col("phase") == "program")
        .group_by("location")
        .agg(pl.col("exposed_ps").sum())
    )
    for _, lives, gap, inside in (
        locations.join(gaps, on="location")
        .join(program.collect(), on="location")
        .select("location", pl.col("end_ps") - pl.col("begin_ps"), "gap_ps", "exposed_ps")
        .iter_rows()
    ):
        assert inside == lives - gap


def test_a_ring_holds_full_windows_of_many_threads(mpi: str, tmp_path: Path) -> None:
    """Were the window of each thread a separate slot, 60 threads would overwrite a ring of 15 slots."""
    trace = _recorded(mpi, tmp_path, 1, "--keep", "1MB").read()
    assert "LOGPOST::OVERWRITTEN_CALLS" not in trace.info
    assert len(trace.calls(2**32)) == 2 * ROUNDS
