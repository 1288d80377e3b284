"""What must hold on every archive that can be found: the identities, and the outside opinion on the wait states."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.archives import DATA

from logpost.analyzer.findings.cured import cured
from logpost.analyzer.findings.cures.offered import program_of
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.build import build
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program, program_ps
from logpost.analyzer.run.program_profile import program_profile
from logpost.analyzer.run.wide import exact_sum
from logpost.errors import InputError

SCALASCA = {
    "late_sender": "mpi_latesender",
    "late_receiver": "mpi_latereceiver",
    "wait_at_barrier": "mpi_barrier_wait",
    "wait_at_nxn": "mpi_wait_nxn",
    "late_broadcast": "mpi_latebroadcast",
    "early_reduce": "mpi_earlyreduce",
}
COUNTS = {"late_sender": "mpi_cls_count", "late_receiver": "mpi_clr_count"}


def test_every_archive_is_analyzed_or_refused_with_one_line(analyzed: dict[str, Run | InputError]) -> None:
    refused = {name: str(result) for name, result in analyzed.items() if isinstance(result, InputError)}
    for message in refused.values():
        assert "\n" not in message
        assert message.endswith(("as well", "copy that directory, too", "otf2-print"))  # says the way out
    # Its event files are not there at all; everything else can be analyzed.
    assert list(refused) == ["casita-4_mpi_lammps_colloid"]


def test_no_part_of_logpost_fails_on_any_archive(runs: dict[str, Run]) -> None:
    assert len(runs) > 20
    assert not any(run.manifest.faults for run in runs.values())


def test_programs_that_do_not_communicate_have_accounts_and_findings(runs: dict[str, Run]) -> None:
    """OpenMP, CUDA, OpenCL or HIP alone: each has one process, which is rank 0."""
    alone = ("casita-1_scorep-ompt-host-nested", "casita-1_ocl_deps", "casita-1_sptc", "fastotf2-mi300")
    for name in alone:
        assert (runs[name].manifest.ranks, runs[name].manifest.hosts.nodes) == (1, 1), name
        rows = runs[name].table("accounting").collect()
        assert set(rows["category"].cast(pl.String)) == {"compute"}, name
        # The whole program is from the first to the last event of the first thread.
        locations = runs[name].table("locations").filter("accounted").collect()
        assert locations["rank"].to_list() == [0], name
        assert rows["exposed_ps"].sum() == locations["wall_ps"].item(), name
    found = runs[alone[0]].table("findings").collect()
    assert found["kind"].to_list() == ["serial_part"]
    # main computes while the other nine threads idle: 47.5 % of the threads' time is idle_serial (table threads), which
    # is all that sharing it among ten saves.
    threads = runs[alone[0]].table("threads").collect()
    idle = exact_sum(threads.filter(pl.col("category").cast(pl.String) == "idle_serial")["spent_ps"])
    assert found["gain"].item() == pytest.approx(idle / exact_sum(threads["spent_ps"]), abs=0.001)


def test_locations_that_no_process_numbers_are_counted_as_what_they_are(runs: dict[str, Run]) -> None:
    report = build(runs["otf2-integrity-1"])
    assert report.ranks == 0
    assert report.counted == ("location", 4)
    assert report.nodes_text == ""
    numbered = build(runs["pipit-ping-pong"])
    assert numbered.counted == ("rank", 2)
    assert numbered.nodes_text == f"on {numbered.hosts.nodes} node{'s' if numbered.hosts.nodes != 1 else ''}"


def test_parts_of_every_transfer_add_up_to_its_envelope(runs: dict[str, Run]) -> None:
    parts = [f"{part}_ps" for part in schema.TRANSFER_PARTS]
    transfers = {}
    for name, run in runs.items():
        table = run.table("transfers").collect()
        transfers[name] = table.height
        assert (table.select(pl.min_horizontal(parts)).to_series() >= 0).all(), name
        assert (table.select(pl.sum_horizontal(parts)).to_series() == table["envelope_ps"]).all(), name
        assert (table["complete_call"] >= 0).all(), name
    # The records of the writer: RmaPut, and RmaAtomic.
    assert transfers["scorep-prk-rma-stencil-8"] == 12_020
    assert transfers["scorep-prk-rma-transpose-flush-4"] == 2_412
    assert transfers["scorep-shmem-stencil-4"] == 4_008 + 4_008


def test_the_graph_that_cures_change_repeats_every_run(runs: dict[str, Run]) -> None:
    calls = 0
    for name, run in runs.items():
        program = program_of(Evidence({table: run.table(table) for table in schema.TABLES}, run.manifest, run=run))
        assert program is not None, name
        assert (program.base.enter_ps == program.enter_ps).all(), name
        assert (program.base.leave_ps == program.leave_ps).all(), name
        calls += program.count
    assert calls > 100_000


def test_on_a_machine_whose_queues_serve_in_another_order_times_are_measured_ones(traces: Path, tmp_path: Path) -> None:
    # Alewife's NICs serve a byte in 25 ns, a thousand times the duration of this archive's.
    anchor = next((traces / "tracer-stencil4d-32").glob("*.otf2"))
    run = Run.open(analyze(Request(str(anchor), str(tmp_path / "a.run"), machine="alewife")))
    assert not Program(run).build().repeats
    program = program_of(Evidence({table: run.table(table) for table in schema.TABLES}, run.manifest, run=run))
    assert program is not None
    assert program.as_measured
    assert program.repeats


def test_one_sided_calls_are_divided_and_only_the_management_of_windows_is_other(runs: dict[str, Run]) -> None:
    for name in ("scorep-prk-rma-stencil-8", "scorep-prk-rma-transpose-flush-4", "scorep-shmem-stencil-4"):
        rows = runs[name].table("accounting").filter(pl.col("phase") == "program")
        times = dict(rows.group_by("category").agg(pl.col("exposed_ps").sum()).collect().iter_rows())
        assert times["mpi_other"] < 0.005 * sum(times.values()), name


def test_categories_of_every_thread_add_up_to_its_process(runs: dict[str, Run]) -> None:
    teams = {}
    for name, run in runs.items():
        rows = run.table("threads").collect()
        if rows.is_empty():
            continue
        locations = run.table("locations").sort("process", pl.col("rank") < 0, "location").collect()
        times = (
            rows.group_by("location")
            .agg(
                pl.col("spent_ps").sum(),
                least=pl.col("spent_ps").min(),
                communication=pl.col("spent_ps").filter(pl.col("category") == "communication").sum(),
            )
            .join(locations.with_columns(whole=pl.col("wall_ps").first().over("process")), on="location")
        )
        teams[name] = times.height
        assert (times["spent_ps"] == times["whole"]).all(), name
        assert (times["least"] > 0).all(), name
        # What is not communication is what the account of a rank calls compute.
        accounts = (
            run.table("accounting")
            .group_by("location")
            .agg(
                account=pl.col("exposed_ps").sum(),
                compute=pl.col("exposed_ps").filter(pl.col("category") == "compute").sum(),
            )
        )
        ranks = times.filter("accounted").join(accounts.collect(), on="location")
        assert (ranks["account"] - ranks["compute"] == ranks["communication"]).all(), name
    # Threads of OpenMP, as the archives' definitions have them.
    assert teams == {
        "casita-1_scorep-ompt-host-nested": 10,
        "casita-1_xeonphi_jacobi_01": 2,
        "casita-2_cuda_simple": 4,
        "casita-2_jacobi_blame_cpu_015": 8,
    }


def test_streams_of_accelerators_are_kernels_copies_and_idle(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        rows = run.table("streams").collect()
        assert (rows.select(pl.min_horizontal("kernel_ps", "copy_ps", "idle_ps")).to_series() >= 0).all(), name
        whole = rows.select(pl.sum_horizontal("kernel_ps", "copy_ps", "idle_ps")).to_series()
        assert (whole == run.manifest.clock.length_ps).all(), name
        streams = run.table("locations").filter(pl.col("kind") == "gpu").select("location").collect()
        assert rows["location"].to_list() == streams["location"].to_list(), name
        accounted = run.table("locations").filter("accounted").collect()["location"].to_list()
        assert not set(accounted) & set(streams["location"]), name
    # Enter records of kernels, RmaGet and RmaPut records, as otf2-print has them.
    jacobi = runs["casita-2_jacobi_blame_cpu_015"].table("streams").collect()
    assert jacobi["copies"].to_list() == [3965, 3965]


def test_scalasca_has_no_opinion_on_threads(runs: dict[str, Run]) -> None:
    # None of the archives that it analyzed has threads.
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    assert not any("omp" in metric.split("_") for one in totals.values() for metric in one)
    assert all(runs[name].table("threads").collect().is_empty() for name in totals)


def test_scalasca_has_no_opinion_on_fences(runs: dict[str, Run]) -> None:
    # Its trace analyser of OTF2 archives writes no metric of one-sided communication: nothing to compare with.
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    assert not any("rma" in metric or "fence" in metric for one in totals.values() for metric in one)
    states = runs["scorep-prk-rma-stencil-8"].table("wait_states").filter(pl.col("pattern") == "wait_at_fence")
    assert states.select(pl.col("count").sum()).collect().item() > 0


def test_parts_of_every_message_add_up_to_its_envelope(runs: dict[str, Run]) -> None:
    messages = 0
    parts = [f"{part}_ps" for part in schema.PARTS]
    for name, run in runs.items():
        table = run.table("messages").collect()
        assert len(table) == run.manifest.messages, name
        assert (table.select(pl.sum_horizontal(parts)).to_series() == table["envelope_ps"]).all(), name
        assert table.select(pl.min_horizontal(*parts, "deficit_ps").ge(0).all()).item() in (True, None), name
        first = pl.min_horizontal(pl.col("send_enter_ps") - pl.col("clamped_ps"), "recv_enter_ps")
        assert table.select((pl.col("recv_leave_ps") - first == pl.col("envelope_ps")).all()).item(), name
        messages += len(table)
    assert messages > 40_000


def test_categories_of_every_rank_add_up_to_its_wall_time(runs: dict[str, Run]) -> None:
    ranks = 0
    for name, run in runs.items():
        walls = run.table("locations").filter("accounted").select("location", "wall_ps").collect()
        accounting = run.table("accounting").collect()
        assert (accounting["exposed_ps"] > 0).all(), name
        sums = accounting.group_by("location").agg(pl.col("exposed_ps").sum())
        both = walls.join(sums, on="location", how="full", coalesce=True)
        assert (both["wall_ps"] == both["exposed_ps"]).all(), name
        ranks += len(both)
    assert ranks > 100


def test_categories_of_every_call_add_up_to_its_length(runs: dict[str, Run]) -> None:
    categories = [f"{category}_ps" for category in schema.CATEGORIES[1:]]
    for name, run in runs.items():
        length = pl.col("leave_ps") - pl.col("enter_ps")
        wrong = run.table("calls").filter(pl.sum_horizontal(categories) != length).collect()
        assert wrong.is_empty(), name


def test_windows_of_the_accounting_hold_no_more_than_their_width(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        width = run.manifest.windows.width_ps
        sums = run.table("accounting").group_by("location", "window").agg(pl.col("exposed_ps").sum()).collect()
        assert (sums["exposed_ps"] <= width).all(), name


def test_phases_of_every_rank_add_up_to_its_start_up_program_and_shut_down(runs: dict[str, Run]) -> None:
    with_start_up = 0
    for name, run in runs.items():
        spans = (
            run.table("locations")
            .filter("accounted")
            .select(
                "location",
                start_up=pl.col("begin_ps") - pl.col("first_ps"),
                program=pl.col("end_ps") - pl.col("begin_ps"),
                shut_down=pl.col("last_ps") - pl.col("end_ps"),
            )
        )
        wanted = spans.unpivot(index="location", variable_name="phase", value_name="ps").filter(pl.col("ps") > 0)
        sums = run.table("accounting").group_by("location", "phase").agg(ps=pl.col("exposed_ps").sum())
        found = sums.with_columns(pl.col("phase").cast(pl.String)).select("location", "phase", "ps")
        assert found.sort("location", "phase").collect().equals(wanted.sort("location", "phase").collect()), name
        with_start_up += "start_up" in found.collect()["phase"]
    assert with_start_up > 10


def test_ids_of_calls_lead_to_the_times_of_messages_and_collectives(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        calls = run.table("calls").select("call", "location", "enter_ps", "leave_ps", "callpath").collect()
        messages = run.table("messages").collect()
        for call, location, time, of_call in (
            ("send_call", "send_location", "send_enter_ps", "enter_ps"),
            ("send_call", "send_location", "send_leave_ps", "leave_ps"),
            ("send_call", "send_location", "send_callpath", "callpath"),
            ("recv_post_call", "recv_location", "recv_post_ps", "enter_ps"),
            ("recv_call", "recv_location", "recv_enter_ps", "enter_ps"),
            ("recv_call", "recv_location", "recv_leave_ps", "leave_ps"),
        ):
            at = calls[messages[call]]
            assert (at["location"] == messages[location]).all(), (name, call)
            assert (at[of_call] == messages[time]).all(), (name, call, time)
        completed = messages.filter(pl.col("send_complete_call") >= 0)
        assert (calls[completed["send_complete_call"]]["leave_ps"] == completed["send_complete_ps"]).all(), name
        collectives = run.table("collectives").collect()
        assert (calls[collectives["call"]]["enter_ps"] == collectives["enter_ps"]).all(), name
        assert (calls[collectives["call"]]["location"] == collectives["location"]).all(), name


def test_exposure_by_callpath_is_the_accounting_without_compute(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        by_path = run.table("exposure").group_by("location", "category").agg(pl.col("exposed_ps").sum()).collect()
        by_window = run.table("accounting").group_by("location", "category").agg(pl.col("exposed_ps").sum()).collect()
        wanted = by_window.filter(pl.col("category") != "compute").sort("location", "category")
        assert by_path.sort("location", "category").equals(wanted), name


def test_user_regions_and_findings_have_no_time_beyond_the_program(runs: dict[str, Run]) -> None:
    findings = 0
    for name, run in runs.items():
        lengths = run.table("locations").filter("accounted").select(program_ps().alias("ps")).collect()["ps"]
        longest, every = lengths.max(), exact_sum(lengths)
        threads = exact_sum(run.table("threads").collect()["spent_ps"])
        own = program_profile(run.table).group_by("location").agg(own=pl.col("exclusive_ps").sum())
        computed = program(run.table("accounting")).filter(pl.col("category") == "compute").collect()
        most = computed.group_by("location").agg(most=pl.col("exposed_ps").sum())
        both = own.join(most, on="location", how="left").with_columns(pl.col("most").fill_null(0))
        assert (both["own"] <= both["most"]).all(), name
        for row in run.table("findings").collect().iter_rows(named=True):
            findings += 1
            assert row["exposed_ps"] <= every, (name, row["title"])
            assert row["share"] <= 1, (name, row["title"])
            assert row["gain"] <= 1, (name, row["title"])
            times = {number["name"]: number["value"] for number in row["evidence"] if number["unit"] == "ps"}
            # Threads have the time of their process each.
            assert all(time <= max(every, threads) for time in times.values()), (name, row["title"])
            of_one = [times[one] for one in ("longest", "mean", "shortest", "exposed_on_worst_rank") if one in times]
            assert all(time <= longest for time in of_one), (name, row["title"])
    assert findings > 20


def test_pairs_and_load_count_every_message_once(runs: dict[str, Run]) -> None:
    for name, run in runs.items():
        messages = run.table("messages").collect()
        # A message that contradicts causality left its sender, but has no time of arrival that can be modelled.
        counted = {"send": messages, "recv": messages.filter(~pl.col("clock_violation"))}
        assert run.table("pairs").select(pl.col("messages").sum()).collect().item() == run.manifest.messages, name
        load = run.table("load").group_by("direction").agg(pl.col("messages", "bytes").sum()).collect()
        for row in load.iter_rows(named=True):
            wanted = counted[row["direction"]]
            assert (row["messages"], row["bytes"]) == (len(wanted), wanted["bytes"].sum()), (name, row["direction"])


def test_messages_agree_with_the_writers_and_scalascas_counts(runs: dict[str, Run]) -> None:
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    for name, opinion in totals.items():
        table = runs[name].table("messages").select(pl.len(), pl.col("bytes").sum()).collect()
        assert table.row(0) == (opinion["comms_recv"], opinion["bytes_rcvd"]), name
    # From the writers' own documentation of their archives.
    assert runs["tracer-stencil4d-32"].manifest.messages == 512
    assert runs["sst-macro-otf2"].manifest.messages == 1440
    assert runs["casita-2_jacobi_blame_cpu_015"].manifest.messages == 2000
    assert runs["casita-10_scorep_mpi_tags"].manifest.messages == 18
    assert runs["scorep-prk-rma-stencil-8"].manifest.one_sided_bytes["put"] == 19_885_888


def test_wall_times_are_scalascas(runs: dict[str, Run]) -> None:
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    for name, opinion in totals.items():
        wall = runs[name].table("locations").filter("accounted").select(pl.col("wall_ps").sum()).collect().item()
        assert wall * 1e-12 == pytest.approx(opinion["time"], rel=1e-9), name


@pytest.mark.parametrize("state", SCALASCA)
def test_wait_states_equal_scalascas_to_nine_digits(state: str, runs: dict[str, Run]) -> None:
    totals = json.loads((DATA / "scalasca-totals.json").read_text())
    per_rank = json.loads((DATA / "scalasca-per-rank.json").read_text())
    assert len(totals) == 7
    for name, opinion in totals.items():
        run = runs[name]
        rows = run.table("wait_states").filter(pl.col("pattern") == state).sort("location").collect()
        seconds = rows["wait_ticks"].to_numpy() / run.manifest.clock.ticks_per_second
        assert seconds.sum() == pytest.approx(opinion[SCALASCA[state]], rel=5e-10, abs=0), name
        if SCALASCA[state] in per_rank[name]:
            np.testing.assert_allclose(seconds, per_rank[name][SCALASCA[state]], rtol=5e-10, err_msg=name)
        if state in COUNTS:
            assert rows["count"].sum() == opinion[COUNTS[state]], name


def test_the_program_without_a_finding_saves_what_it_states(runs: dict[str, Run]) -> None:
    replayed = 0
    for name, run in runs.items():
        for number, gain in enumerate(run.table("findings").collect()["gain"].to_list()):
            assert cured(run, number).saves == pytest.approx(gain), (name, number)
            replayed += 1
    assert replayed > 20
