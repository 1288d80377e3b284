"""The stated interval of a what-if prediction: its terms by arithmetic, and programs of known cause elsewhere."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.analyzer.in_process import analyze
from tests.truth.programs import SIMULATE, program_ps, simulate

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask
from logpost.analyzer.predict.whatif.ask import Replay
from logpost.analyzer.predict.whatif.plan import Plan
from logpost.analyzer.predict.whatif.uncertainty import (
    REPLAYED,
    _in_common_ranges,
    _of_open_receives,
    interval_ps,
)
from logpost.analyzer.run.directory import Run
from logpost.machines import load_machine, replay_parameters
from logpost.replay.graph import Scenario, changed, on_machine
from logpost.replay.graph.engine import NetworkFit, Waits
from logpost.testbed import run_on_testbed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def replay(runs: dict[str, Run]) -> Replay:
    return Replay(runs["pipit-ping-pong"])


def test_a_planned_value_follows_the_recorded_one_by_what_the_setting_says(replay: Replay) -> None:
    """x4 of a latency that is 1 us longer is 4 us longer; +5us of it 1 us; 5us stays 5 us."""
    recorded = replay.rebuilt.recorded
    for settings, slope in (
        (["L=x4"], 4.0),
        (["L=+5us"], 1.0),
        (["L=5us"], 0.0),
        (["L=x4", "L=x0.5"], 2.0),
        (["L=+5us", "L=x3"], 3.0),
        (["network=ideal"], 0.0),
    ):
        follows = changed(recorded, settings).follows
        assert follows is not None
        assert set(follows["L_ps"].tolist()) == {slope}, settings
    other = on_machine(recorded, replay_parameters(load_machine("alewife")))
    assert other.follows is None
    assert changed(other, ["L=x2"]).follows is None
    assert changed(other, ["network=ideal"]).follows is None


def test_machines_are_compared_in_the_ranges_of_sizes_of_both(replay: Replay) -> None:
    """The recorded one has one range a class; the other one halves L up to 1000 B and keeps it above."""
    recorded = replay.rebuilt.recorded
    one = recorded.machine
    twice = [np.repeat(getattr(one, name), 2) for name in ("L_ps", "max_bytes")]
    twice[0][::2] //= 2
    twice[1][::2] = 1000
    other = replace(one, L_ps=twice[0], max_bytes=twice[1], class_start=one.class_start * 2)
    assert one.max_bytes.tolist() == [2**63 - 1] * 4
    old, new = _in_common_ranges(recorded, replace(recorded, machine=other), "L_ps")
    assert old.tolist() == np.repeat(one.L_ps, 2).tolist()
    assert new.tolist() == twice[0].tolist()
    back = _in_common_ranges(replace(recorded, machine=other), recorded, "L_ps")
    assert [side.tolist() for side in back] == [new.tolist(), old.tolist()]


def test_time_without_a_model_counts_as_the_value_that_is_changed(replay: Replay) -> None:
    """18 us in calls that no model describes, 10 us earlier than the model, and 12 us in start-up and finalization.

    Three times the latency: later 18 + 10 = 28 us, which may become 3 x 28 (a rise of 56) or be swallowed (a fall
    of 28), and what was early may be 2 x 10 earlier. In addition the replay's own error counts, and
    nothing else: no residual, no deficit, no collective operation, a clock without steps; the machine's values are
    stated without an uncertainty.
    """
    scenario = _exact(changed(replay.rebuilt.recorded, ["L=x3"]))
    engine = replay.rebuilt.engine(contention=False)
    found = engine.replay([scenario])[0]
    parts = {**dict.fromkeys(found.path_ps, 0), "start": 12_000_000, "other": 18_000_000, "latency": 1}
    outcome = replace(found, path_ps=parts, early_ps=10_000_000, short_ps=0, moved_ps=0)
    doubts = replace(replay.doubts, tick_ps=0.0)
    loosened = found.makespan_ps - engine.makespans([scenario], released=True)[0]
    before = replace(outcome, makespan_ps=engine.makespans([engine.recorded], released=True)[0])
    low, high = interval_ps(engine, scenario, before, outcome, doubts)
    replayed = REPLAYED * (found.makespan_ps - before.makespan_ps)
    assert high - found.makespan_ps == pytest.approx(np.hypot(56e6, replayed), abs=1)
    assert found.makespan_ps - low == pytest.approx(np.hypot(np.hypot(28e6 + 20e6, loosened), replayed), abs=1)


def test_an_unknown_value_may_explain_all_time_without_a_model(runs: dict[str, Run]) -> None:
    """Its trace has one-sided transfers alone: nothing is known about the machine that it ran on, and another one's
    costs are added to what they replace."""
    replay = Replay(runs["scorep-prk-rma-stencil-8"])
    known = replay.rebuilt.outcome(False).path_ps
    found = replay.predict(Ask(machine="alps"))
    low, high = found.interval_ps
    assert known["other"] > 0.5 * found.measured_ps
    assert low < found.predicted_ps - known["other"]
    assert high - found.predicted_ps < 0.01 * found.measured_ps


def test_each_message_of_the_path_may_be_a_clock_s_step_off(replay: Replay) -> None:
    """A path of 8 messages has 8 steps and one at either end: 10 of 100 ns."""
    scenario = _exact(changed(replay.rebuilt.recorded, ["L=x3"]))
    engine = replay.rebuilt.engine(contention=False)
    found = engine.replay([scenario])[0]
    outcome = replace(
        found, path_ps=dict.fromkeys(found.path_ps, 0), early_ps=0, short_ps=0, moved_ps=0, path_messages=8
    )
    doubts = replace(replay.doubts, tick_ps=100_000.0)
    assert interval_ps(engine, scenario, outcome, outcome, doubts)[1] - found.makespan_ps == 1_000_000
    unchanged = engine.recorded
    assert interval_ps(engine, unchanged, outcome, outcome, doubts)[1] == outcome.makespan_ps


def test_what_becomes_slower_and_what_becomes_faster_do_not_cancel_out(replay: Replay) -> None:
    """A path that is as long as it was, of steps that are 40 us longer and others that are 40 us shorter."""
    scenario = _exact(changed(replay.rebuilt.recorded, ["L=x3"]))
    engine = replay.rebuilt.engine(contention=False)
    found = engine.replay([scenario])[0]
    quiet = replace(found, path_ps=dict.fromkeys(found.path_ps, 0), early_ps=0, short_ps=0)
    outcome = replace(quiet, moved_ps=80_000_000, path_messages=0)
    doubts = replace(replay.doubts, tick_ps=0.0)
    high = interval_ps(engine, scenario, outcome, outcome, doubts)[1]
    assert high - found.makespan_ps == pytest.approx(REPLAYED * 80e6, abs=1)


def test_what_the_recorded_times_contradict_is_doubted_of_the_change(replay: Replay) -> None:
    """Steps of a path are 30 us shorter than in the model, which is a quarter of the 120 us that are modelled
    there: so is a quarter of the 80 us that steps take more and less."""
    scenario = _exact(changed(replay.rebuilt.recorded, ["L=x3"]))
    engine = replay.rebuilt.engine(contention=False)
    found = engine.replay([scenario])[0]
    parts = {**dict.fromkeys(found.path_ps, 0), "latency": 100_000_000, "send_overhead": 20_000_000}
    outcome = replace(found, path_ps=parts, early_ps=0, short_ps=30_000_000, moved_ps=80_000_000, path_messages=0)
    high = interval_ps(engine, scenario, replace(outcome, short_ps=0), outcome, replace(replay.doubts, tick_ps=0.0))[1]
    assert high - found.makespan_ps == pytest.approx(np.hypot(80e6 / 4, REPLAYED * 80e6), abs=1)


def test_a_receive_of_any_sender_may_hide_what_messages_in_flight_add(replay: Replay) -> None:
    """A program is 30 us longer. In flight its path has 40 us more, of which half of the receives may hide 30; where it
    has 10 us more, these; and a program that is 30 us shorter may not be."""
    found = replay.rebuilt.outcome(False)
    parts = {**dict.fromkeys(found.path_ps, 0), "latency": 50_000_000, "recv_overhead": 70_000_000}
    before = replace(found, path_ps=parts)
    for in_flight, longer, rise, fall in ((40, 30, 0, 15), (10, 30, 0, 5), (0, 30, 0, 0), (-40, -30, 15, 0)):
        then = {**parts, "latency": 50_000_000 + 1_000_000 * in_flight}
        after = replace(found, path_ps=then, makespan_ps=found.makespan_ps + 1_000_000 * longer)
        assert _of_open_receives(before, after, 0.5) == (1e6 * rise, 1e6 * fall)


def test_waits_are_doubted_as_far_as_the_trace_contradicts_them() -> None:
    """Of waits for a sender's NIC or links 1 of 100 us is contradicted, of those for a receiver's 3 of 10 us; messages
    lasted 33 us beyond the model, next to 99 + 7 us that are confirmed."""
    fit = NetworkFit(Waits(99e6, 7e6), Waits(1e6, 3e6), 33e6, 0)
    assert fit.too_long_ps(Waits(50e6, 0)) == pytest.approx(0.5e6)
    assert fit.too_long_ps(Waits(0, 20e6)) == 20e6, "with 30 % the interval of 90 % holds that there is no such wait"
    assert fit.too_short_ps(Waits(10e6, 0)) == pytest.approx(10e6 * 33 / 139)
    no_evidence = NetworkFit(Waits(0, 0), Waits(0, 0), 0.0, 0)
    assert no_evidence.too_long_ps(Waits(5e6, 2e6)) == no_evidence.too_short_ps(Waits(5e6, 2e6)) == 7e6


@pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")
@pytest.mark.parametrize("machine", ["stated", "estimate"])
def test_the_interval_contains_the_truth_of_another_machine(tmp_path: Path, machine: str) -> None:
    """`python -m tests.benchmarks coverage` takes all programs and more machines."""
    cases, clock = ("round_trips", "wavefront", "shift_eager"), ("--tick", "100000", "--noise", "50000")
    simulate(tmp_path / "A", *clock, cases=cases)
    simulate(tmp_path / "B", *clock, "--set", "L=4", cases=cases)
    for name in cases:
        stated = str(tmp_path / "A" / name / "machine.toml")
        request = Request(
            str(tmp_path / "A" / name / "traces.otf2"),
            str(tmp_path / f"{name}.run"),
            machine=stated if machine == "stated" else machine,
        )
        found = Replay(Run.open(analyze(request))).predict(Ask(settings=("L=x4",)))
        true = program_ps(tmp_path / "B" / name)
        assert found.interval_ps[0] <= true <= found.interval_ps[1], name


def _exact(scenario: Scenario) -> Scenario:
    return replace(scenario, errors={})


@pytest.mark.skipif(shutil.which("smpicc") is None, reason="SimGrid is missing: apt install libsimgrid-dev")
def test_an_order_of_another_network_may_be_too_long(tmp_path: Path) -> None:
    """An all-to-all whose ranks reply to the request that arrives first (Waitany), on a torus, predicted for a
    crossbar, where next to nothing changes: the recorded order of replies is that of the torus' waits."""
    cluster = Path(__file__).resolve().parents[3] / "benchmarks/network_programs/cluster.toml"
    remap = ("--style", "sync", "--messages", "20", "--receive", "wait", "--capacity", "0", "--cycle-ns", "50")
    truth = {}
    for topology in ("torus:4x4", "crossbar:16"):
        (tmp_path / topology).mkdir()
        archive = run_on_testbed(
            cluster,
            workload="remap",
            sources=[],
            arguments=remap,
            ranks=16,
            settings={"topology": topology, "per-hop": "0us"},
            output=tmp_path / topology,
        ).archive
        truth[topology] = analyze(Request(str(archive / "traces.otf2"), str(tmp_path / f"{topology}.run")))
    replay = Replay(Run.open(truth["torus:4x4"]))
    plan = Plan(replay.rebuilt, Ask(settings=("topology=crossbar:16",)))
    engine = plan.engine()
    excess = engine.order_of_elsewhere_ps(plan.planned)
    assert excess > 0
    assert engine.order_of_elsewhere_ps(engine.recorded) == 0
    found = replay.predict(Ask(settings=("topology=crossbar:16",)))
    assert found.interval_ps[0] <= found.predicted_ps - excess
    assert found.interval_ps[1] - found.predicted_ps < excess
    length = Run.open(truth["crossbar:16"]).manifest.clock.length_ps
    assert found.interval_ps[0] <= length <= found.interval_ps[1]
