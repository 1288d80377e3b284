"""GOAL schedules of programs whose machine and times are known: a simulator that reads them finds these times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analyzer.goal_replay import Cost, Replay, parse
from tests.truth.programs import SIMULATE, RunsOf

from logpost.analyzer.export.goal import MAP_COLUMNS, export_goal
from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.machines import LOCALITIES, ReplayParameters, load_machine, replay_parameters

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup"),
]
EXACT = (
    *("shift_eager", "round_trips", "wavefront", "one_to_all", "late_sender_master", "late_receiver_eager"),
    *("barrier_slow_rank", "alternating_imbalance", "late_root", "early_root", "transpose"),
)
"""Blocking calls, Isend and Irecv with one wait, barriers, reductions, trees, an all-to-all: all messages eager."""
"""Besides: `clean_halo`, a Waitall over four neighbours, whose order the simulators may choose; and `rma_locks`, what a
schedule cannot contain."""


@pytest.fixture(scope="module")
def runs_of(tmp_path_factory: pytest.TempPathFactory) -> RunsOf:
    return RunsOf(tmp_path_factory.mktemp("goal"))


def finish(run: Run, text: str, values: ReplayParameters) -> int:
    """When the stand-in ends; times in ps."""
    nodes = run.facts("locations").filter("accounted").sort("rank").collect()["node"].to_list()

    def cost(source: int, target: int, size: int) -> Cost:
        where = "self" if source == target else "same_node" if nodes[source] == nodes[target] else "other_node"
        (row,) = values.row(np.array([LOCALITIES.index(where)]), np.array([size]))
        G = float(values.G_ps_per_byte[row])
        return Cost(
            o_s=round(values.o_s_ps[row] + size * values.o_s_ps_per_byte[row]),
            o_r=round(values.o_r_ps[row] + size * values.o_r_ps_per_byte[row]),
            L=int(values.L_ps[row]),
            service=round(max(values.g_ps[row], size * G)),
            serialization=round((size - 1) * G),
        )

    return max(Replay(text, cost).finish)


def exported(run: Run, folder: Path, unit: str = "ps") -> tuple[str, pl.DataFrame]:
    """Text and map."""
    export_goal(run, folder / "a.goal", folder / "a.map.parquet", unit=unit, force=True)
    return (folder / "a.goal").read_text(), pl.read_parquet(folder / "a.map.parquet")


def test_parts_of_a_rank_make_the_same_schedule(
    runs_of: RunsOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels, rounded times and what waits for what continue from part to part; progress counts all calls."""
    run = runs_of["clean_halo"]
    text, rows = exported(run, tmp_path, "ns")
    monkeypatch.setattr("logpost.analyzer.export.goal_schedule.PART", 3)
    reported: list[tuple[str, int, int]] = []
    export_goal(
        run,
        tmp_path / "b.goal",
        tmp_path / "b.map.parquet",
        unit="ns",
        report=lambda *progress: reported.append(progress),
    )
    assert (tmp_path / "b.goal").read_text() == text
    assert pl.read_parquet(tmp_path / "b.map.parquet").equals(rows)
    calls = run.facts("calls").select(pl.len()).collect().item()
    done = [progress[1] for progress in reported]
    assert reported[-1] == ("calls", calls, calls)
    assert len(set(done)) > run.manifest.ranks
    assert done == sorted(done)


@pytest.mark.parametrize("name", [*EXACT, "clean_halo"])
def test_a_simulator_finds_the_recorded_and_the_predicted_times(runs_of: RunsOf, tmp_path: Path, name: str) -> None:
    """The program's own simulator, our replay, and a reader of the schedule know nothing of each other."""
    run = runs_of[name]
    text, _ = exported(run, tmp_path)
    values = replay_parameters(load_machine(run.machine_file))
    four = replace(values, L_ps=4 * values.L_ps)
    half = replace(values, G_ps_per_byte=2 * values.G_ps_per_byte)
    within = 1e-5 if name in EXACT else 5e-4
    assert finish(run, text, values) == pytest.approx(run.manifest.clock.length_ps, rel=within)
    # A prediction is of the program; every rank's start-up, as long as recorded, is before it.
    start_up = run.manifest.clock.length_ps - predict(run, Ask(contention=False)).measured_ps
    for setting, machine in (("L=x4", four), ("G=x2", half)):
        predicted = predict(run, Ask(settings=(setting,), contention=False)).predicted_ps
        assert finish(run, text, machine) == pytest.approx(start_up + predicted, rel=within)


def test_the_map_names_each_recorded_message_once_at_either_end(runs_of: RunsOf, tmp_path: Path) -> None:
    run = runs_of["clean_halo"]
    text, found = exported(run, tmp_path)
    assert dict(found.schema) == MAP_COLUMNS
    ops = parse(text)
    assert [len(rank) for rank in ops] == found.group_by("rank", maintain_order=True).len()["len"].to_list()
    messages = run.facts("messages").with_row_index("message").collect()
    rank_of = dict(run.facts("locations").select("location", "rank").collect().iter_rows())
    for kind, end, other, call in (
        ("send", "send_location", "recv_location", "send_call"),
        ("recv", "recv_location", "send_location", "recv_post_call"),
    ):
        rows = found.filter(pl.col("kind") == kind, pl.col("message") >= 0)
        assert sorted(rows["message"]) == messages["message"].to_list()
        for row in rows.iter_rows(named=True):
            of = messages.row(row["message"], named=True)
            op = ops[row["rank"]][row["label"]]
            assert (rank_of[of[end]], of[call]) == (row["rank"], row["call"])
            assert (op.kind, op.amount, op.peer) == (kind, of["bytes"], rank_of[of[other]])


def test_collectives_are_messages_of_their_instance(runs_of: RunsOf, tmp_path: Path) -> None:
    """A barrier of P ranks by dissemination: log2 P rounds of P messages without data, written as 1 byte."""
    run = runs_of["barrier_slow_rank"]
    text, found = exported(run, tmp_path)
    barriers = run.facts("collectives").filter(pl.col("operation").cast(pl.String) == "Barrier").collect()
    ranks = run.manifest.ranks
    for instance in barriers["instance"].unique():
        rows = found.filter(pl.col("instance") == instance)
        assert rows.filter(pl.col("kind") == "send").height == ranks * (ranks - 1).bit_length()
        assert rows.filter(pl.col("kind") == "recv").height == rows.filter(pl.col("kind") == "send").height
    assert "send 1b to" in text


def test_what_has_no_messages_is_a_calc_of_its_call(runs_of: RunsOf, tmp_path: Path) -> None:
    """Every call is written: start-up, and operations of unknown members, take what follows their last enter."""
    run = runs_of["barrier_slow_rank"]
    text, found = exported(run, tmp_path)
    calls = run.facts("calls").select("call").collect()["call"]
    reported = set(found.filter(pl.col("call") >= 0)["call"])
    assert sorted(reported) == sorted(calls)
    regions = run.facts("regions").filter(pl.col("kind") == "init_finalize").select("region")
    meetings = run.facts("calls").join(regions, on="region", how="semi").collect()
    assert found.filter(pl.col("call").is_in(meetings["call"].implode()))["kind"].unique().to_list() in ([], ["calc"])
    assert parse(text)


def test_nanoseconds_do_not_drift(runs_of: RunsOf, tmp_path: Path) -> None:
    run = runs_of["round_trips"]
    sums = [
        [sum(op.amount for op in rank if op.kind == "calc") for rank in parse(exported(run, tmp_path, unit)[0])]
        for unit in ("ps", "ns")
    ]
    assert all(abs(ps / 1000 - ns) <= 0.5 for ps, ns in zip(*sums, strict=True))


def test_the_heading_has_the_machine_and_the_unit(runs_of: RunsOf, tmp_path: Path) -> None:
    run = runs_of["round_trips"]
    text, _ = exported(run, tmp_path, "ns")
    values = replay_parameters(load_machine(run.machine_file))
    row = int(values.class_start[LOCALITIES.index("other_node")])
    assert "times in ns" in text.splitlines()[0]
    assert f"other_node: L={values.L_ps[row] / 1000:.6g} o_s={values.o_s_ps[row] / 1000:.6g}" in text


def test_what_a_schedule_cannot_contain_is_counted(runs_of: RunsOf, tmp_path: Path) -> None:
    run = runs_of["rma_locks"]
    transfers = run.facts("transfers").select(pl.len()).collect().item()
    written = export_goal(run, tmp_path / "a.goal", tmp_path / "a.map.csv")
    assert written.left_out["one-sided transfer"] == transfers > 0
    assert (tmp_path / "a.map.csv").read_text().startswith("rank,label,kind,call,message,instance\n")


def test_existing_files_and_odd_names_are_refused(runs_of: RunsOf, tmp_path: Path) -> None:
    run = runs_of["round_trips"]
    with pytest.raises(InputError, match=r"its name must end in \.parquet or \.csv"):
        export_goal(run, tmp_path / "a.goal", tmp_path / "a.map")
    exported(run, tmp_path)
    with pytest.raises(InputError, match="already exists; pass --force to overwrite it"):
        export_goal(run, tmp_path / "b.goal", tmp_path / "a.map.parquet")
    assert not (tmp_path / "b.goal").exists()
