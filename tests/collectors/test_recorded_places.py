"""From bindings in raw logs to the class, the hops and the latency of every message, and to levels of detail."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs
from tests.collectors.raw_logs import MONOTONIC, RECV, SEND, Log
from tests.machines.builders import stated

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.rescope import rescope
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.collectors import assemble
from logpost.errors import InputError

# Ranks 0 to 2 share node 3 of a line of four, rank 3 is on node 0: 3 hops. L between nodes is that of the mean way.
MACHINE = stated(
    "line",
    ("ns", "ns/B"),
    """[node]
sockets = 2
[topology]
kind = "mesh"
dims = [4]
per_hop = 90
[mapping]
kind = "list"
nodes_of_ranks = [3, 3, 3, 0]
[loggp]
same_socket = { L = 200, o_s = 10, o_r = 20, g = 0, G = 1 }
same_node = { L = 500, o_s = 10, o_r = 20, g = 0, G = 1 }
other_node = { L = 1000, o_s = 10, o_r = 20, g = 0, G = 1 }
""",
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two hosts of 4 cores; rank 0 sends one byte to each other rank, 10 us apart, between levels 1 and 0."""
    hosts, bindings = "aaab", ["0", "1", "2-3", "0"]
    logs = [
        Log(rank, 4, host=hosts[rank], boot="one clock", clock=MONOTONIC, binding=bindings[rank]) for rank in range(4)
    ]
    for log in logs:
        log.call("MPI_Init", 1_000, 2_000)
        log.level(3_000, 3_100, 1)
    for rank in (1, 2, 3):
        logs[0].message(SEND, 10_000 * rank, 10_000 * rank + 50, rank, 0, 1)
        logs[rank].message(RECV, 4_000, 10_000 * rank + 5_000, 0, 0, 1)
    for log in logs:
        log.level(50_000, 50_100, 0)
        log.call("MPI_Finalize", 60_000, 61_000)
    raw = raw_logs.write(tmp_path / "raw", *logs)
    return assemble.assemble(assemble.find_assembler(), raw, tmp_path).path


def analyzed(archive: Path, machine: str, tmp_path: Path, **request: object) -> Run:
    file = tmp_path / "line.toml"
    file.write_text(machine)
    return Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"), str(file), force=True, **request)))  # type: ignore[arg-type]


def messages(run: Run) -> pl.DataFrame:
    names = ("recv_location", "locality", "hops", "latency_ps")
    return run.table("messages").sort("recv_location").select(names).collect()


def test_messages_know_their_class_and_their_way(archive: Path, tmp_path: Path) -> None:
    run = analyzed(archive, MACHINE, tmp_path)
    # The mean distance of two nodes of a line of four is 5/3 hops: 1000 + 90 (3 - 5/3) = 1120 ns.
    assert messages(run).rows() == [
        (1, "same_socket", 0, 200_000),
        (2, "same_node", 0, 500_000),
        (3, "other_node", 3, 1_120_000),
    ]
    assert run.table("locations").collect()["socket"].to_list() == [0, 0, 1, 0]
    assert any("cores are numbered socket by socket" in note for note in run.manifest.machine.notes)


def test_a_run_gives_them_again(archive: Path, tmp_path: Path) -> None:
    run = analyzed(archive, MACHINE, tmp_path)
    seen = rescope(run, RegionOfInterest(from_ps=0))
    for table in ("pairs", "accounting", "exposure"):
        assert seen.table(table).collect().equals(run.table(table).collect()), table


def test_without_sockets_and_network_they_are_not_known(archive: Path, tmp_path: Path) -> None:
    plain = MACHINE.replace("[node]\nsockets = 2\n", "")
    begin, end = plain.index("[topology]"), plain.index("[loggp]")
    run = analyzed(archive, plain[:begin] + plain[end:], tmp_path)
    assert messages(run).rows() == [
        (1, "same_node", 0, 500_000),
        (2, "same_node", 0, 500_000),
        (3, "other_node", -1, 1_000_000),
    ]


@pytest.mark.slow
def test_a_level_of_detail_is_a_region_of_interest(archive: Path, tmp_path: Path) -> None:
    run = analyzed(archive, MACHINE, tmp_path)
    levels = run.table("detail_levels").filter(pl.col("location") == 2).collect()
    # Times count from the trace's first event, 1 us by the clock of the logs.
    assert levels.rows() == [(2, 1, 2_000_000), (2, 0, 49_000_000)]
    for level, span in ((1, (2_000_000, 49_000_000)), (0, (49_000_000, 59_000_000))):
        seen = rescope(run, RegionOfInterest(pcontrol=level))
        assert set(seen.table("locations").select("begin_ps", "end_ps").collect().rows()) == {span}
    narrow = analyzed(archive, MACHINE, tmp_path, roi=RegionOfInterest(pcontrol=1))
    assert narrow.table("messages").collect().height == 3
    with pytest.raises(InputError, match=r"no MPI_Pcontrol sets level 7; the levels are 0, 1$"):
        rescope(run, RegionOfInterest(pcontrol=7))
