"""What-if replays of real archives: the identity, and what follows from the definition."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.in_process import analyze

from logpost.analyzer.compare.two_runs import compare
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask, Replay, predict
from logpost.analyzer.render.whatif.json import as_json
from logpost.analyzer.render.whatif.text import print_prediction
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import program_of
from logpost.analyzer.words.units import time_text
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import WhatIf
from logpost.replay.cost.message_models import MessageModel
from logpost.replay.cost.parameters import native_parameters


@pytest.fixture(scope="module")
def ping_pong(runs: dict[str, Run]) -> Run:
    return runs["pipit-ping-pong"]


def test_unchanged_every_enter_and_leave_of_every_archive_comes_back(runs: dict[str, Run]) -> None:
    calls = 0
    for name, run in runs.items():
        parameters = native_parameters(
            replay_parameters(load_machine(run.machine_file)),
            asynchronous_progress=run.manifest.machine.asynchronous_progress,
        )
        enters, leaves = WhatIf(program_of(run), parameters, parameters).times(parameters)
        accounted = run.facts("locations").filter(pl.col("accounted")).select("location")
        wanted = run.facts("calls").join(accounted, on="location", how="semi").sort("call").collect()
        np.testing.assert_array_equal(enters, wanted["enter_ps"].to_numpy(), err_msg=name)
        np.testing.assert_array_equal(leaves, wanted["leave_ps"].to_numpy(), err_msg=name)
        calls += len(enters)
    assert calls > 300_000


def test_unchanged_the_prediction_is_the_measurement(ping_pong: Run) -> None:
    found = predict(ping_pong, Ask())
    assert found.predicted_ps == found.measured_ps == build(ping_pong).program_ps
    assert found.interval_ps == (found.measured_ps, found.measured_ps)
    assert found.speed_up == 1.0
    assert all(region.gain_ps == 0 for region in found.regions)


def test_the_measured_time_is_that_of_the_report_and_of_the_comparison(runs: dict[str, Run]) -> None:
    """To the picosecond, of every archive; and nothing that the path or the calls consist of is less than nothing, but
    what the machine's values say too much."""
    replayed = 0
    for name, run in runs.items():
        if not run.facts("locations").select(pl.col("accounted").any()).collect().item():
            continue
        report = build(run)
        found = Replay(run).rebuilt.outcome(contention=False)
        assert found.makespan_ps == report.program_ps == compare(run, run).wall.before, name
        assert sum(found.path_ps.values()) == found.makespan_ps, name
        assert min(ps for part, ps in found.path_ps.items() if part != "residual") >= 0, name
        assert min([*found.in_calls_ps, *found.between_calls_ps]) >= 0, name
        replayed += 1
    assert replayed > 15


def test_what_is_printed_and_written_is_the_same_time(ping_pong: Run) -> None:
    found = predict(ping_pong, Ask(settings=("L=x2",)))
    program_ps = build(ping_pong).program_ps
    console = Console(record=True, width=200, file=StringIO())
    print_prediction(found, console, top=3)
    assert f"measured   {time_text(program_ps)}" in console.export_text()
    assert as_json(found)["measured_ps"] == as_json(found)["before"]["makespan_ps"] == program_ps


def test_a_critical_path_adds_up_to_the_makespan(runs: dict[str, Run]) -> None:
    for name in ("pipit-ping-pong", "scorep-npb-lu-S-comp-4", "scorep-lulesh-nocomp-8"):
        found = predict(runs[name], Ask(settings=("L=x3", "G=x2"), scale_compute=("0.5",)))
        assert sum(found.before.path_ps.values()) == found.measured_ps
        assert sum(found.after.path_ps.values()) == found.predicted_ps
        assert found.interval_ps[0] <= found.predicted_ps <= found.interval_ps[1]


def test_a_little_more_latency_costs_what_the_derivative_says(ping_pong: Run) -> None:
    machine = replay_parameters(load_machine(ping_pong.machine_file))
    before = predict(ping_pong, Ask())
    count = sum(values["L"] for values in before.before.sensitivities.values())
    assert count > 0
    latency = int(machine.L_ps[-1])
    found = predict(ping_pong, Ask(settings=(f"other_node.L={latency + 1000}ps", f"same_node.L={latency + 1000}ps")))
    local = [int(machine.L_ps[i]) for i in range(len(machine.L_ps))]
    if len(set(local)) == 1:
        assert found.predicted_ps - found.measured_ps >= 1000 * count


def test_without_computation_and_network_only_what_is_fixed_remains(ping_pong: Run) -> None:
    found = predict(ping_pong, Ask(settings=("network=ideal",), scale_compute=("0",)))
    assert found.predicted_ps < found.measured_ps
    assert found.after.path_ps["compute"] == 0
    assert found.after.path_ps["latency"] == found.after.path_ps["serialization"] == 0


def test_a_tolerance_is_the_factor_at_which_the_makespan_has_grown(ping_pong: Run) -> None:
    sweep = predict(ping_pong, Ask(sweep="L=x1:x100:3")).sweep
    assert sweep is not None
    assert [point.text for point in sweep.points] == ["x1", "x10", "x100"]
    measured = sweep.points[0].makespan_ps
    for one in sweep.tolerances:
        assert one.factor is not None
        grown = predict(ping_pong, Ask(settings=(f"L=x{one.factor:.17g}",))).predicted_ps
        # A replay's latencies are whole picoseconds.
        assert grown / measured - 1 == pytest.approx(one.percent / 100, rel=1e-6)


def test_a_run_of_another_model_is_replayed_with_all_values_and_says_so(
    ping_pong: Run, traces: Path, tmp_path: Path
) -> None:
    place = analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run"), model=MessageModel.logp))
    logp, full = (predict(run, Ask(settings=("L=x2",))) for run in (Run.open(place), ping_pong))
    assert (logp.predicted_ps, logp.interval_ps) == (full.predicted_ps, full.interval_ps)
    (note,) = (note for note in logp.notes if note not in full.notes)
    assert "split under LogP;" in note


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (Ask(settings=("L",)), "write NAME=VALUE"),
        (Ask(settings=("latency=2us",)), "latency cannot be set; use L, o, o_s"),
        (Ask(settings=("nowhere.L=2us",)), "nowhere is no locality; use self, same_socket"),
        (Ask(settings=("L=xmuch",)), "write a factor as x2"),
        (Ask(settings=("L=2x",)), "write a factor as L=x2"),
        (Ask(settings=("G=*0.5",)), "write a factor as G=x0.5"),
        (Ask(settings=("link_bandwidth=2*",)), "write a factor as link_bandwidth=x2"),
        (Ask(settings=("L=2furlong",)), "is not a unit"),
        (Ask(settings=("L=5",)), "give a unit, e.g. L=5us"),
        (Ask(settings=("L=+5",)), r"give a unit, e.g. L=\+5us"),
        (Ask(settings=("G=0.5",)), "give a unit, e.g. G=0.5ns/B"),
        (Ask(settings=("L=1e30s",)), "over 1000 s, too long for sums"),
        (Ask(settings=("L=+1e9s",)), "over 1000 s, too long for sums"),
        (Ask(settings=("L=2us", "L=x1e300")), "over 1000 s, too long for sums"),
        (Ask(sweep="L=1us:100us:5000"), "5,000 points; --sweep takes at most 4,096"),
        (Ask(sweep="L=1:100us:20"), "1 has no unit; write 1us, or x1 for a factor"),
        (Ask(sweep="L=1us:100us"), "write FROM:TO:COUNT, e.g. L=1us:100us:21"),
        (Ask(settings=("L=+-2us",)), "write how much more or less as"),
        (Ask(settings=("progress=some",)), "the only progress to set is asynchronous"),
        (Ask(settings=("eager_limit=x2",)), "give a size"),
        (Ask(scale_compute=("slow",)), "write a factor"),
        (Ask(scale_compute=("nothing=0.5",)), "no region is called nothing"),
        (Ask(scale_compute=("rank:99=0.5",)), "there is no rank 99"),
        (Ask(sweep="speed=1:2:3"), "write NAME=FROM:TO:COUNT"),
    ],
)
def test_what_is_not_understood_is_refused(ping_pong: Run, ask: Ask, text: str) -> None:
    with pytest.raises(InputError, match=text):
        predict(ping_pong, ask)


def test_a_value_moves_by_so_much(ping_pong: Run) -> None:
    """L + 3 us - 3 us is L; to move by all of L and more ends at 0."""
    there, back, gone, none = (
        predict(ping_pong, Ask(settings=texts)) for texts in (("L=+3us",), ("L=+3us", "L=-3us"), ("L=-1s",), ("L=0us",))
    )
    assert back.predicted_ps == back.measured_ps < there.predicted_ps
    assert gone.predicted_ps == none.predicted_ps


def test_computation_is_scaled_by_node(runs: dict[str, Run]) -> None:
    """By number and by name alike; all nodes together are all computation; 0 is no time."""
    run = runs["scorep-npb-lu-S-comp-4"]
    rows = run.facts("locations").filter("accounted").select("node", "host").unique().collect()
    every = tuple(f"node:{node}=0" for node in rows["node"].to_list())
    named = tuple(f"node:{host}=0" for host in rows["host"].to_list())
    instant = predict(run, Ask(scale_compute=("0",))).predicted_ps
    assert predict(run, Ask(scale_compute=every)).predicted_ps == instant
    assert predict(run, Ask(scale_compute=named)).predicted_ps == instant
    with pytest.raises(InputError, match="there is no node 99; the nodes are "):
        predict(run, Ask(scale_compute=("node:99=2",)))


def test_factors_of_what_is_0_are_said_to_change_nothing(ping_pong: Run) -> None:
    found = predict(ping_pong, Ask(settings=("L=0us", "G=x2"), sweep="L=x1:x2:2"))
    assert not [note for note in found.notes if "changes nothing" in note]  # the recorded machine has an L
    none = [
        predict(ping_pong, Ask(machine=None, settings=("g=x2",))).notes,
        predict(ping_pong, Ask(grid="g=x1:x2:2,G=1ns/B:2ns/B:2")).notes,
    ]
    for notes in none:
        (note,) = (one for one in notes if "changes nothing" in one)
        assert note.startswith("g is 0 on this machine")
        assert note.index("(g=1us)") < note.index("(g=+1us)")
