"""Two runs whose every difference is derived in `two_phases`, and the gate on them."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
from rich.console import Console
from tests.analyzer.story import MS
from tests.analyzer.two_phases import two_phases

from logpost.analyzer.compare import Change, Comparison, compare, names
from logpost.analyzer.reporting.compare_json import as_json
from logpost.analyzer.reporting.compare_text import print_comparison
from logpost.analyzer.reporting.gate import check, parse
from logpost.errors import InputError


@pytest.fixture(scope="module")
def faster(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A: rank 0 comes 20 ms late; B: 5 ms late."""
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
    assert (state.before, state.after) == (pytest.approx(20 * MS), pytest.approx(5 * MS))
    assert (faster.wall.before, faster.wall.after) == (100 * MS, 100 * MS)


def test_regions_that_changed_come_first(faster: Comparison) -> None:
    by_name = {(change.kind, change.region): change for change in faster.regions}
    recv = by_name["communication", "MPI_Recv"]
    assert (recv.time.before, recv.time.after) == (30 * MS, 15 * MS)
    assert (recv.count.before, recv.count.after) == (10, 10)
    solve = by_name["compute", "solve"]
    assert (solve.time.before, solve.time.after) == ((80 + 60) * MS, (80 + 75) * MS)
    assert {faster.regions[0].region, faster.regions[1].region} == {"MPI_Recv", "solve"}
    assert by_name["communication", "MPI_Send"].time.difference == 0


def test_findings_stay_come_and_go(faster: Comparison, tmp_path: Path) -> None:
    # Late sender 20 ms, then 5 ms, of 100 ms: in both. The late sender is gone where rank 0 is on time.
    assert {(a.kind, a.exposed_ps, b.exposed_ps) for a, b in faster.stayed if a.kind == "late_sender_chain"} == {
        ("late_sender_chain", 20 * MS, 5 * MS)
    }
    runs = two_phases(20).write(tmp_path / "a"), two_phases(0).write(tmp_path / "b")
    assert "late_sender_chain" in {found.kind for found in compare(*runs).gone}
    assert "late_sender_chain" in {found.kind for found in compare(*reversed(runs)).came}


def test_estimated_machines_are_pointed_out(faster: Comparison) -> None:
    assert any("estimated from its own trace" in note for note in faster.notes)


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
    ],
)
def test_gate(faster: Comparison, expression: str, holds: bool) -> None:
    assert check(parse(expression), faster).holds is holds


def test_something_out_of_nothing_is_more_than_any_percentage(tmp_path: Path) -> None:
    worse = compare(two_phases(0).write(tmp_path / "a"), two_phases(5).write(tmp_path / "b"))
    verdict = check(parse("late_sender > +1000%"), worse)
    assert verdict.holds
    assert verdict.sentence == "late_sender > +1000%: late_sender went from 0 s to 5.00 ms (new): FAIL"
    assert Change("x", 0, 0).relative == 0
    assert Change("x", 0, 1).relative == math.inf


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("contention", "is not understood; write NAME > \\+5%"),
        ("contention > five", "is not understood"),
        ("contention == 5%", "is not understood"),
        ("contenton > +5%", "'contenton' is not known; known are wall, compute"),
        ("contention > +5", "'no unit' does not fit contention; give % or a time"),
        ("contention > +5MB", "'MB' does not fit contention"),
        ("contention > +5pp", "'pp' does not fit contention"),
        ("load_balance > +5ms", "'ms' does not fit load_balance; give %, pp"),
        ("load_balance > 5pp", "'pp' does not fit load_balance"),
        ("wall > 5%", "wall as a share of itself says nothing"),
    ],
)
def test_gate_refuses(expression: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(expression)


def test_gate_on_what_was_not_computed(faster: Comparison) -> None:
    with pytest.raises(InputError, match="transfer is not computed in both runs; gate on another quantity"):
        check(parse("transfer < 0.9"), faster)


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
    assert "MPI_Recv communication 30.0 ms 15.0 ms -15.0 ms -50.0 % 10 10" in lines
    assert any(line.startswith("both rank 1 waits in MPI_Recv for rank 0") for line in lines)
    assert lines[-1] == "late_sender > +5%: late_sender went from 20.0 ms to 5.00 ms (-75.0 %): ok"


def test_json(faster: Comparison) -> None:
    shown = json.loads(json.dumps(as_json(faster, [check(parse("late_sender < -5%"), faster)]), allow_nan=False))
    assert shown["categories_s"]["late_sender"] == pytest.approx(
        {"a": 0.02, "b": 0.005, "difference": -0.015, "relative": -0.75}
    )
    assert shown["efficiencies"]["transfer"] == {"a": None, "b": None, "difference": None, "relative": None}
    assert shown["groups_s"]["contention"]["relative"] == 0
    assert shown["gates"][0]["fails"] is True
    assert {row["region"] for row in shown["regions"]} >= {"MPI_Send", "MPI_Recv", "solve"}
    assert {"gone", "new", "both"} == set(shown["findings"])
