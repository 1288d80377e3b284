"""Operations that make a communicator synchronize: they have waits, a path and blame as a barrier has."""

from __future__ import annotations

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs
from tests.collectors.raw_logs import MONOTONIC, Log

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.collectors import assemble

MS = 10**6  # ns, as the logs have them
PS = 1000  # of a ns
RANKS = 4


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """MPI_Init ends at 1 ms. Rank 0 works for 500 ms, the others for none, and all make a communicator, until 502 ms;
    then all but rank 0 work for 10 ms, and all end."""
    folder = tmp_path_factory.mktemp("dup")
    logs = [Log(rank, RANKS, boot="one clock", clock=MONOTONIC) for rank in range(RANKS)]
    for log in logs:
        log.call("MPI_Init", 0, MS)
        log.outside("MPI_Comm_dup", 501 * MS if log.rank == 0 else MS, 502 * MS)
        log.call("MPI_Finalize", (502 if log.rank == 0 else 512) * MS, 513 * MS)
    raw = raw_logs.write(folder / "raw", *logs)
    archive = assemble.assemble(assemble.find_assembler(), raw, folder).path
    return Run.open(analyze(Request(str(archive), str(folder / "dup.run"))))


def test_members_wait_for_the_last_one(run: Run) -> None:
    rows = program(run.table("exposure")).group_by("location", pl.col("category").cast(pl.String))
    found = {(row[0], row[1]): row[2] for row in rows.agg(pl.col("exposed_ps").sum()).collect().iter_rows()}
    # 1 ms .. 501 ms; the rest until 502 ms is the library's.
    assert {rank: found.get((rank, "collective_wait"), 0) for rank in range(RANKS)} == {
        0: 0,
        **dict.fromkeys((1, 2, 3), 500 * MS * PS),
    }
    assert {rank: found[rank, "mpi_other"] for rank in range(RANKS)} == dict.fromkeys(range(RANKS), MS * PS)


def test_it_is_a_wait_state(run: Run) -> None:
    states = run.table("wait_states").filter(pl.col("wait_ticks") > 0).sort("location").collect()
    assert states["pattern"].cast(pl.String).to_list() == ["wait_at_creation"] * 3
    assert states["location"].to_list() == [1, 2, 3]
    seconds = states["wait_ticks"].sum() / run.manifest.clock.ticks_per_second
    assert seconds == pytest.approx(1.5)  # 3 x 0.5 s


def test_the_path_leads_to_the_last_member(run: Run) -> None:
    path = run.table("critical_path").collect()
    on_rank_0 = path.filter(pl.col("location") == 0).select(pl.col("end_ps") - pl.col("begin_ps")).to_series().sum()
    assert on_rank_0 >= 500 * MS * PS
    assert path["after"].cast(pl.String).to_list().count("wait_at_creation") == 1


def test_what_the_last_member_did_before_pays(run: Run) -> None:
    costs = run.table("delay_costs").filter(pl.col("pattern") == "wait_at_creation").collect()
    assert costs["location"].unique().to_list() == [0]
    assert costs["place"].cast(pl.String).unique().to_list() == ["computation"]
    assert int(costs["short_term_ps"].sum()) == 1500 * MS * PS


def test_a_finding_blames_it(run: Run) -> None:
    found = run.table("findings").collect().to_dicts()
    assert len(found) == 1
    assert found[0]["kind"] in ("collective_wait", "load_imbalance")
    assert found[0]["region"] == "MPI_Comm_dup"
    assert {one["value"] for one in found[0]["evidence"] if one["name"] in ("last_rank", "slowest_rank")} == {0.0}
    # Without its 500 ms nothing is left but the 11 ms that all have: 500 / 511 of the program.
    assert 0.7 < found[0]["gain"] < 0.98
