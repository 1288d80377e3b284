"""Spawned processes are in the same archive, as ranks after those of the first world."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run


def recorded(mpi: str, source: str, folder: Path) -> recording.Result:
    """A program that spawns, recorded on 2 ranks; skips where it cannot spawn without a recorder either."""
    program = recording.build(source, mpi, folder)
    plain = subprocess.run(
        [recording.LAUNCHERS[mpi], "-n", "2", str(program)],
        capture_output=True,
        check=False,
        env=recording.environment(),
    )
    if plain.returncode != 0:
        pytest.skip(f"this {mpi} cannot spawn (Debian's MPICH 4.0 cannot), recorded or not")
    result = recording.run(mpi, folder, 2, program)
    assert result.status == 0, result.err
    return result


def test_children_share_the_archive(mpi: str, tmp_path: Path) -> None:
    trace = recorded(mpi, "spawn.c", tmp_path).read()
    groups = trace.defined("LOCATION_GROUP")
    names = [line.split('"')[1] for line in groups]
    assert names == ["MPI Rank 0", "MPI Rank 1", "MPI Rank 0 (world 1)", "MPI Rank 1 (world 1)"]
    assert trace.members("MPI_COMM_WORLD") == ["0, 1"]
    assert trace.members("MPI_COMM_WORLD (world 1)") == ["2, 3"]
    assert trace.members("together") == ["0, 1, 2, 3"]
    inter = {e.comm for e in trace.events if e.kind in ("MPI_SEND", "MPI_RECV")}
    assert len(inter) == 1, "parents and children name one inter-communicator"
    for rank in (0, 1):
        (down,) = trace.on(rank, "MPI_SEND")
        (up,) = trace.on(rank + 2, "MPI_SEND")
        assert (down.number("Tag"), down.number("Receiver")) == (10, rank)
        assert (up.number("Tag"), up.number("Receiver")) == (11, rank)
        # one clock, one host: a message is received after it was sent, in either direction
        (at_child,) = trace.on(rank + 2, "MPI_RECV")
        (at_parent,) = trace.on(rank, "MPI_RECV")
        assert down.time < at_child.time < at_parent.time
    (line,) = trace.defined("INTER_COMM")
    assert line.count("Group") == 2


def test_the_root_waits_for_a_late_parent(mpi: str, tmp_path: Path) -> None:
    """Spawning is collective over the parents: rank 1, the root, waits 0.2 s for rank 0 in it, and rank 0 pays."""
    archive = recorded(mpi, "spawn_late.c", tmp_path).archive
    run = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"))))
    spawned = run.table("callpaths").join(
        run.table("regions").filter(pl.col("name") == "MPI_Comm_spawn").select("region"), on="region"
    )
    rows = run.table("exposure").filter(pl.col("category") == "collective_wait").join(spawned, on="callpath")
    waited = dict(rows.group_by("location").agg(pl.col("exposed_ps").sum()).collect().iter_rows())
    late_ps = 2 * 10**11
    assert waited.get(1, 0) > late_ps / 2
    assert waited.get(0, 0) < late_ps / 2
    costs = run.table("delay_costs").filter(pl.col("pattern") == "wait_at_creation", pl.col("location") == 0)
    assert costs.select(pl.col("short_term_ps").sum()).collect().item() > late_ps / 2


def test_nothing_is_requested_of_the_program_at_the_other_end_of_a_port(openmpi: str, tmp_path: Path) -> None:
    """It might not be recorded: each side names the inter-communicator for itself and does not know the other group."""
    program = recording.build("ports.c", openmpi, tmp_path)
    result = recording.run(openmpi, tmp_path, 2, program)
    assert result.status == 0, result.err
    trace = result.read()
    comms = [e.comm for rank in (0, 1) for e in trace.on(rank, "MPI_SEND") if e.number("Tag") == 2]
    assert len(set(comms)) == 2
    assert len(trace.defined("INTER_COMM")) == 2
    assert trace.calls(0)[-4:] == ["MPI_Comm_accept", "MPI_Sendrecv", "MPI_Comm_disconnect", "MPI_Finalize"]
    not_recorded = [line for line in trace.defined("LOCATION_GROUP") if '"not recorded"' in line]
    assert len(not_recorded) == 1
