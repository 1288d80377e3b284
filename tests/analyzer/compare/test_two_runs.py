"""Two runs whose every difference is derived in `two_phases`, and the gate on them."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.analyzer.story import MS, Story
from tests.analyzer.two_phases import two_phases
from tests.said import facts, says

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.two_runs import Comparison, compare, names
from logpost.analyzer.render.compare.gate import check, parse
from logpost.analyzer.render.compare.json import as_json
from logpost.analyzer.render.compare.text import print_comparison
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.replay.cost.message_models import MessageModel


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A: rank 0 arrives 20 ms late; B: 5 ms late."""
    path = tmp_path_factory.mktemp("runs")
    return compare(two_phases(20).write(path / "a"), two_phases(5).write(path / "b"))


def test_categories_groups_and_wait_states(faster: Comparison) -> None:
    late = faster.quantity("late_sender")
    assert late is not None
    assert (late.before, late.after, late.difference, late.relative) == (20 * MS, 5 * MS, -15 * MS, -0.75)
    # Rank 1 computes the 15 ms that it waits less: 152 -> 167 ms.
    compute = faster.quantity("compute")
    assert compute is not None
    assert (compute.before, compute.after) == (152 * MS, 167 * MS)
    # waiting: late sender 20 -> 5, barrier 2 -> 2
    waiting = faster.quantity("waiting")
    assert waiting is not None
    assert (waiting.before, waiting.after) == (22 * MS, 7 * MS)
    communication = faster.quantity("communication")
    assert communication is not None
    assert (communication.before, communication.after) == (48 * MS, 33 * MS)
    state = faster.quantity("wait_state.late_sender")
    assert state is not None
    assert (state.before, state.after) == pytest.approx((20 * MS, 5 * MS))
    assert (faster.wall.before, faster.wall.after) == (100 * MS, 100 * MS)


def test_regions_that_changed_are_first(faster: Comparison) -> None:
    by_name = {(change.kind, change.region): change for change in faster.regions}
    recv = by_name["communication", "MPI_Recv"]
    assert (recv.time.before, recv.time.after) == (30 * MS, 15 * MS)
    assert (recv.count.before, recv.count.after) == (10, 10)
    solve = by_name["compute", "solve"]
    assert (solve.time.before, solve.time.after) == ((80 + 60) * MS, (80 + 75) * MS)
    assert {faster.regions[0].region, faster.regions[1].region} == {"MPI_Recv", "solve"}
    assert by_name["communication", "MPI_Send"].time.difference == 0


def test_findings_stay_appear_and_vanish(faster: Comparison, tmp_path: Path) -> None:
    # Rank 0 computes 22 ms, then 7 ms more than rank 1, which waits for it: in both, worth half of that.
    (stayed,) = [(a.gain, b.gain) for a, b in faster.stayed if a.kind == "late_sender_chain"]
    assert stayed == pytest.approx((0.11, 0.035))
    runs = two_phases(20).write(tmp_path / "a"), two_phases(0).write(tmp_path / "b")
    assert "late_sender_chain" in {found.kind for found in compare(*runs).gone}
    assert "late_sender_chain" in {found.kind for found in compare(*reversed(runs)).appeared}


def test_what_a_fix_saves_is_shown_with_what_was_predicted(tmp_path: Path) -> None:
    found = compare(two_phases(20).write(tmp_path / "a"), two_phases(0).write(tmp_path / "b"))
    # Half of the 22 ms that rank 1 waits, of 100 ms; B is made 12 ms shorter.
    shorter = replace(found, gone=found.gone[:1], lengths=(Change("wall", 100 * MS, 88 * MS), *found.lengths[1:]))
    assert [round(one.gain, 3) for one in shorter.gone] == [0.11]
    console = Console(file=io.StringIO(), width=160, color_system=None, highlight=False)
    print_comparison(shorter, [], console)
    assert isinstance(console.file, io.StringIO)
    (line,) = (one for one in console.file.getvalue().splitlines() if "predicted saving" in one)
    assert facts(line)[-1] == "-12.0 %"
    assert "11.0 %" in facts(line)
    assert as_json(shorter, [])["findings"]["measured_saving"] == pytest.approx(0.12)


def test_estimated_machines_are_pointed_out(faster: Comparison) -> None:
    assert any("estimated from its own trace" in note for note in faster.notes)


def test_machines_measured_while_recording_are_pointed_out(tmp_path: Path) -> None:
    """Each recording measures anew, so the two files differ; of one and the same file there is nothing to say."""
    runs = []
    for name, work_ms in (("a", 20), ("b", 5)):
        run = two_phases(work_ms).write(tmp_path / name)
        own = {"name": "measured-while-recording", "origin": "recorded", "sha256": name}
        machine = run.manifest.machine.model_copy(update=own)
        runs.append(Run(run.path, run.manifest.model_copy(update={"machine": machine})))
    assert any("machine was measured while it was recorded" in note for note in compare(*runs).notes)
    assert not any("machine" in note for note in compare(runs[0], runs[0]).notes)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("late_sender < -70%", True),  # -75 %
        ("late_sender < -80 %", False),
        ("late_sender <= -75%", True),
        ("late_sender > +5%", False),
        ("late_sender < -14ms", True),  # -15 ms
        ("late_sender < -16 ms", False),
        ("late_sender > 4.9ms", True),  # B's own: 5 ms
        ("late_sender > 5100us", False),
        ("late_sender > 2%", True),  # 5 of 200 ms are 2.5 %
        ("late_sender > 3%", False),
        ("compute>+9%", True),  # 167/152 = +9.87 %
        ("compute > +10%", False),
        ("wall >= +0%", True),
        ("wall > +0%", False),
        ("contention > +5%", False),  # nothing to nothing is no change
        ("wait_state.late_sender < -70%", True),
        ("wait_at_barrier > 1.9ms", True),
        ("load_balance > 0.9", True),  # 83.5 / 87 = 0.9598
        ("load_balance > 97%", False),
        ("load_balance > +8pp", True),  # from 76 / 87 = 0.8736: +8.6 percentage points
        ("load_balance > +9pp", False),
        ("load_balance > +9%", True),  # 83.5 / 76 = +9.87 %
        ("gain > 3.4 %", True),  # rank 0 computes 7 ms of 100 longer
        ("gain > 3.6 %", False),
        ("gain < -7.4pp", True),  # from 11 %
        ("gain.late_sender_chain > 0.02", True),  # shared evenly: 3.5 ms
        ("gain.late_receiver > 0", False),
        ("region.MPI_Recv < -40%", True),  # 30 -> 15 ms
        ("region.solve > 150ms", True),  # 80 + 75
        ("start_up > +0%", False),
    ],
)
def test_gate(faster: Comparison, expression: str, holds: bool) -> None:
    assert check(parse(expression), faster).holds is holds


def test_something_out_of_nothing_is_more_than_any_percentage(tmp_path: Path) -> None:
    worse = compare(two_phases(0).write(tmp_path / "a"), two_phases(5).write(tmp_path / "b"))
    verdict = check(parse("late_sender > +1000%"), worse)
    assert verdict.holds
    assert facts(verdict.sentence) == ["late_sender", "+1000%", "late_sender", "0 s", "5.00 ms", "FAIL"]
    assert Change("x", 0, 0).relative == 0
    assert Change("x", 0, 1).relative == math.inf


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("contention", "is not a valid condition; write NAME > \\+5%"),
        ("contention > five", "is not a valid condition"),
        ("contention == 5%", "is not a valid condition"),
        ("contenton > +5%", "unknown name 'contenton'; use one of wall, start_up"),
        ("contention > +5", "'no unit' does not fit contention; .* %"),
        ("contention > +5MB", "'MB' does not fit contention"),
        ("contention > +5pp", "'pp' does not fit contention"),
        ("load_balance > +5ms", "'ms' does not fit load_balance; give %, pp"),
        ("load_balance > 5pp", "'pp' does not fit load_balance"),
        ("wall > 5%", "wall as a share of itself is meaningless"),
    ],
)
def test_gate_refuses(expression: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(expression)


def test_gate_on_what_was_not_computed(faster: Comparison) -> None:
    with pytest.raises(InputError, match=r"transfer is not computed in both .* another"):
        check(parse("transfer < 0.9"), faster)


def test_gate_on_a_region_that_neither_run_has(faster: Comparison) -> None:
    with pytest.raises(InputError, match="neither run has a region 'MPI_Bsend'; report RUN --json lists them"):
        check(parse("region.MPI_Bsend > +5%"), faster)


def loop_with_start_up(start_up: int, loop: int) -> Story:
    """Two ranks start up, compute `loop` ms, and end 3 ms later."""
    length = start_up + loop + 3
    story = Story(2, length * MS)
    for rank in range(2):
        story.start_up(rank, start_up * MS)
        story.shut_down(rank, (start_up + loop) * MS)
    return story


def test_start_up_neither_hides_a_slower_loop_nor_fails_a_gate(tmp_path: Path) -> None:
    """A loop of 56 instead of 36 ms behind a start-up of 400 ms: the run is 4.6 % longer, the program 55.6 %."""
    slower = compare(
        loop_with_start_up(400, 36).write(tmp_path / "a"), loop_with_start_up(400, 56).write(tmp_path / "b")
    )
    assert check(parse("run > +5%"), slower).holds is False
    verdict = check(parse("wall > +10%"), slower)
    assert verdict.holds
    assert facts(verdict.sentence) == ["wall", "+10%", "wall", "36.0 ms", "56.0 ms", "+55.6 %", "FAIL"]
    noisy = compare(
        loop_with_start_up(400, 36).write(tmp_path / "c"), loop_with_start_up(800, 36).write(tmp_path / "d")
    )
    unchanged = [name for name in names() if name not in ("start_up", "run")]
    for name in unchanged:
        change = noisy.quantity(name)
        assert change is not None
        assert change.before == change.after, name
    assert check(parse("start_up > +10%"), noisy).holds
    # 800 of 839 ms
    assert "(95.4 % of the time of the slowest rank)" in check(parse("start_up > 50%"), noisy).sentence


def test_a_fix_does_not_lower_an_efficiency_because_start_up_weighs_more(tmp_path: Path) -> None:
    """One rank waits 40 of 100 ms, then 10 of 70, behind 100 ms of start-up: the program is 60 %, then 86 % compute."""
    efficiencies = []
    for waits, length in ((40, 100), (10, 70)):
        story = Story(1, (100 + length) * MS)
        story.start_up(0, 100 * MS)
        story.call(0, 100 * MS, (100 + waits) * MS, story.path("MPI_Recv"), late_sender=waits * MS)
        run = story.write(tmp_path / f"{waits}")
        efficiencies.append({e.name: e.value for e in compare(run, run).a.efficiencies}["communication_efficiency"])
    assert efficiencies == [pytest.approx(0.6), pytest.approx(60 / 70)]


def test_every_name_can_be_gated_on(faster: Comparison) -> None:
    assert all(faster.quantity(name) is not None for name in names())


def test_text(faster: Comparison) -> None:
    console = Console(file=io.StringIO(), width=160, color_system=None, highlight=False)
    print_comparison(faster, [check(parse("late_sender > +5%"), faster)], console)
    assert isinstance(console.file, io.StringIO)
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    assert "late sender 20.0 ms 5.00 ms -15.0 ms -75.0 %" in lines
    assert "late sender 20.0 ms 5.00 ms -15.0 ms -75.0 % 10 10" in lines
    assert "load balance 87.4 % 96.0 % +8.6 pp" in lines
    assert "transfer not computed not computed -" in lines
    assert "MPI_Recv 30.0 ms 15.0 ms -15.0 ms -50.0 % 10 10" in lines
    assert any(line.startswith("both ") and says(line, "1", "MPI_Recv", "0") and "solve" in line for line in lines)
    assert facts(lines[-1]) == ["late_sender", "+5%", "late_sender", "20.0 ms", "5.00 ms", "-75.0 %", "ok"]


def test_runs_of_different_models_are_hard_to_compare(tmp_path: Path) -> None:
    a, b = two_phases().write(tmp_path / "a"), two_phases().write(tmp_path / "b")
    assert not any("models" in note for note in compare(a, b).notes)
    machine = b.manifest.machine.model_copy(update={"model": MessageModel.loggp})
    other = Run(b.path, b.manifest.model_copy(update={"machine": machine}))
    note = compare(a, other).notes[-1]
    assert "different models (full; LogGP)" in note
    assert facts(note) == ["--model"]


def test_top_shows_only_the_first(faster: Comparison) -> None:
    console = Console(file=io.StringIO(), width=160, color_system=None, highlight=False)
    print_comparison(faster, [], console, top=1)
    assert isinstance(console.file, io.StringIO)
    regions, findings = console.file.getvalue().split("Regions that changed most")[1].split("Findings")
    assert len(regions.strip().splitlines()) == 2  # the head, and the first
    marks = [line.split()[0] for line in findings.splitlines() if line.startswith(("gone", "new", "both"))]
    assert marks == ["both"]  # of the two that are in both runs


def test_json(faster: Comparison) -> None:
    shown = json.loads(json.dumps(as_json(faster, [check(parse("late_sender < -5%"), faster)]), allow_nan=False))
    assert shown["categories_s"]["late_sender"] == pytest.approx(
        {"a": 0.02, "b": 0.005, "difference": -0.015, "relative": -0.75}
    )
    assert shown["efficiencies"]["transfer"] == {"a": None, "b": None, "difference": None, "relative": None}
    assert shown["groups_s"]["contention"]["relative"] == 0
    assert shown["gates"][0]["fails"] is True
    assert {row["region"] for row in shown["regions"]} >= {"MPI_Send", "MPI_Recv", "solve"}
    assert {"gone", "measured_saving", "new", "both"} == set(shown["findings"])


def test_serialization_is_the_category_and_with_its_prefix_pop_s_efficiency(faster: Comparison) -> None:
    assert check(parse("serialization > 1ms"), faster).holds  # 10 * 0.6 ms
    with pytest.raises(InputError, match=r"efficiency\.serialization is not computed"):
        check(parse("efficiency.serialization < 0.5"), faster)
    bare, prefixed = (check(parse(f"{name} < 1.0"), faster) for name in ("load_balance", "efficiency.load_balance"))
    assert bare.holds == prefixed.holds
