"""Predicted executions written as runs: unchanged they are the recorded ones, and changed ones are ordinary runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.machines.builders import machine

from logpost.analyzer.compare.two_runs import compare
from logpost.analyzer.export.perfetto import export_perfetto
from logpost.analyzer.pipeline.warped import warped
from logpost.analyzer.predict.whatif import Ask, Replay, predict
from logpost.analyzer.predict.whatif.plan import Plan, Rebuilt
from logpost.analyzer.predict.whatif.predicted_machine import predicted_machine
from logpost.analyzer.predict.whatif.predicted_run import write_predicted
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import CATEGORIES, TABLES
from logpost.dashboards.report.page import title_of
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.machines.parameters import COLUMNS
from logpost.machines.schema.write import to_toml
from logpost.replay.cost.parameters import native_parameters

SMALL = 5_000
"""messages: larger archives would take the test's seconds"""


def test_unchanged_every_table_of_every_small_archive_comes_back(runs: dict[str, Run], tmp_path: Path) -> None:
    written = 0
    for name, run in runs.items():
        if run.manifest.messages > SMALL or not run.facts("locations").collect()["accounted"].any():
            continue
        again = write_predicted(predict(run, Ask()), tmp_path / f"{name}.run")
        for table in TABLES:
            assert_frame_equal(run.facts(table).collect(), again.facts(table).collect(), check_exact=True)
        ours, theirs = run.manifest.model_dump(), again.manifest.model_dump()
        assert again.machine_file.read_text() == run.machine_file.read_text()
        assert {key for key in ours if ours[key] != theirs[key]} == {"predicted", "notes"}, name
        written += 1
    assert written >= 15


@pytest.fixture(scope="module")
def ping_pong(runs: dict[str, Run]) -> Run:
    return runs["pipit-ping-pong"]


@pytest.fixture(scope="module")
def slower(ping_pong: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The ping-pong with ten times the latency."""
    found = predict(ping_pong, Ask(settings=("L=x10",)))
    return write_predicted(found, tmp_path_factory.mktemp("predicted") / "slower.run")


def test_a_predicted_run_takes_what_was_predicted(ping_pong: Run, slower: Run) -> None:
    found = predict(ping_pong, Ask(settings=("L=x10",)))
    spans = slower.facts("locations").select(pl.col("last_ps").max() - pl.col("first_ps").min()).collect().item()
    assert spans == slower.manifest.clock.length_ps
    assert build(slower).program_ps == found.predicted_ps > found.measured_ps == build(ping_pong).program_ps
    said = slower.manifest.predicted
    assert said is not None
    assert (said.measured_ps, said.predicted_ps) == (found.measured_ps, found.predicted_ps)
    assert (said.low_ps, said.high_ps) == found.interval_ps
    assert said.error == pytest.approx((found.interval_ps[1] - found.interval_ps[0]) / 2 / found.predicted_ps)
    assert said.settings == ["L=x10"]
    assert slower.manifest.machine.label.endswith("changed: L=x10")


def test_the_accounting_of_a_predicted_run_adds_up(slower: Run) -> None:
    walls = slower.facts("locations").filter("accounted").sort("location").collect()["wall_ps"].to_list()
    sums = slower.facts("accounting").group_by("location").agg(pl.col("exposed_ps").sum()).sort("location").collect()
    assert sums["exposed_ps"].to_list() == walls
    messages = slower.facts("messages").select(pl.col("latency_ps").sum(), "envelope_ps").collect()
    assert messages.height
    parts = [f"{one}_ps" for one in CATEGORIES if f"{one}_ps" in slower.facts("messages").collect_schema()]
    added = slower.facts("messages").select(pl.sum_horizontal(parts), "envelope_ps").collect()
    assert added.to_series(0).to_list() == added["envelope_ps"].to_list()


def test_messages_of_a_predicted_run_have_the_changed_latency(ping_pong: Run, slower: Run) -> None:
    before, after = (
        run.facts("messages").select(pl.col("latency_ps").max()).collect().item() for run in (ping_pong, slower)
    )
    assert after == pytest.approx(10 * before, rel=0.01)


def test_a_report_and_a_comparison_say_that_a_run_is_predicted(ping_pong: Run, slower: Run) -> None:
    (warning,) = [text for text in build(slower).warnings if "predicted" in text]
    assert warning.startswith("This run is predicted, not measured: what ")
    assert "L=x10" in warning
    assert f"B: {warning}" in compare(ping_pong, slower).warnings
    assert title_of(slower.manifest) == f"{title_of(ping_pong.manifest)}, predicted"
    assert not any("predicted, not measured" in text for text in build(ping_pong).warnings)


def test_an_exported_timeline_says_that_it_is_predicted(ping_pong: Run, slower: Run, tmp_path: Path) -> None:
    for run, said in ((slower, True), (ping_pong, False)):
        export_perfetto(run, tmp_path / "trace", force=True)
        assert (b"predicted: " in (tmp_path / "trace").read_bytes()) is said


def test_computation_of_a_region_becomes_shorter_in_the_profile(runs: dict[str, Run], tmp_path: Path) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]
    half = write_predicted(predict(run, Ask(scale_compute=("0.5",))), tmp_path / "half.run")
    user = run.facts("regions").filter(pl.col("kind") == "user").select("region")
    paths = run.facts("callpaths").join(user, on="region", how="semi").select("callpath")
    own = [
        one.facts("profile")
        .join(paths, on="callpath", how="semi")
        .select(pl.col("exclusive_ps").sum())
        .collect()
        .item()
        for one in (run, half)
    ]
    assert own[1] == pytest.approx(own[0] / 2, rel=1e-3)
    assert half.facts("profile").select((pl.col("inclusive_ps") >= pl.col("exclusive_ps")).all()).collect().item()


@pytest.mark.parametrize(
    "settings",
    [
        ("other_node.L=5us", "G=x2"),
        ("o=x3", "eager_limit=64B"),
        ("layout=contiguous", "network=ideal"),
        ("topology=torus:4x4", "link_bandwidth=1GB/s", "per_hop=50ns", "nics_per_node=2"),
    ],
)
def test_the_machine_of_a_predicted_run_is_that_of_the_replay(
    runs: dict[str, Run], tmp_path: Path, settings: tuple[str, ...]
) -> None:
    plan = Plan(Rebuilt(runs["tracer-stencil4d-32"]), Ask(settings=settings))
    text = predicted_machine(plan)
    assert text is not None
    (tmp_path / "m.toml").write_text(text)
    found, wanted = replay_parameters(load_machine(tmp_path / "m.toml")), plan.planned.machine
    for column in (*COLUMNS, "max_bytes", "eager_limit_bytes", "nics_per_node"):
        np.testing.assert_array_equal(getattr(found, column), getattr(wanted, column), err_msg=column)
    assert found.beyond_loggp.per_hop_ps == wanted.beyond_loggp.per_hop_ps
    native_parameters(found)


def test_the_machine_of_a_predicted_run_keeps_both_ends_of_an_interval(runs: dict[str, Run], tmp_path: Path) -> None:
    loggp = {"other_node": {"L": {"value": 3, "interval": [1, 3.5]}, "o_s": 1, "o_r": 1, "G": 1}}
    (tmp_path / "named.toml").write_text(to_toml(machine(loggp=loggp)))
    text = predicted_machine(
        Plan(Rebuilt(runs["tracer-stencil4d-32"]), Ask(settings=("G=x2",), machine=str(tmp_path / "named.toml")))
    )
    assert text is not None
    (tmp_path / "m.toml").write_text(text)
    found = replay_parameters(load_machine(tmp_path / "m.toml"))
    assert found.sides["L_ps"][-1].tolist() == [2e6, 5e5]
    assert np.isnan(found.sides["G_ps_per_byte"]).all()


def test_other_places_of_ranks_are_those_of_the_written_run(runs: dict[str, Run], tmp_path: Path) -> None:
    run = runs["tracer-stencil4d-32"]
    found = Replay(run).predict(Ask(settings=("topology=ring:8",), mapping="random:3"))
    assert found.seats is not None
    written = write_predicted(found, tmp_path / "elsewhere.run")
    places = written.facts("locations").sort("rank").select("rank", "node").collect()
    by_node = places.group_by("node").agg(pl.col("rank").sort()).sort(pl.col("rank").list.first())["rank"].to_list()
    seated = [np.flatnonzero(found.seats.nodes == node).tolist() for node in np.unique(found.seats.nodes)]
    assert sorted(by_node) == sorted(seated)
    hops = written.facts("messages").filter(pl.col("locality") == "other_node").select("hops").collect()["hops"]
    assert hops.min() >= 1  # type: ignore[operator]
    assert hops.max() <= 4  # type: ignore[operator]
    assert build(written).warnings


def test_a_predicted_run_can_be_predicted_from(slower: Run) -> None:
    back = predict(slower, Ask())
    assert back.predicted_ps == back.measured_ps == build(slower).program_ps


def test_a_run_is_not_overwritten_and_not_left_half(ping_pong: Run, tmp_path: Path) -> None:
    found = predict(ping_pong, Ask())
    place = tmp_path / "there.run"
    write_predicted(found, place)
    with pytest.raises(InputError, match=r"there\.run already exists; pass --force to overwrite it"):
        write_predicted(found, place)
    write_predicted(found, place, force=True)
    with pytest.raises(InputError, match=r"is the run .* replayed; .* -o"):
        write_predicted(found, ping_pong.path, force=True)

    def fails(phase: str, _done: int, _total: int) -> None:
        if phase == "looking for hotspots":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_predicted(found, tmp_path / "half.run", report=fails)
    assert [one.name for one in tmp_path.iterdir()] == ["there.run"]


def test_moments_between_calls_move_with_them() -> None:
    """From 10 to 20 became 10 to 40: a moment at half of it is at half of it; before and after, nothing stretches."""
    was, now = np.array([0, 10, 20, 30]), np.array([0, 10, 40, 50])
    assert warped(was, now, np.array([0, 5, 10, 15, 20, 25, 30])).tolist() == [0, 5, 10, 25, 40, 45, 50]
