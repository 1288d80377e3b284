"""Repeats of two versions: their noise, intervals and gates, against scipy and against chance."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.analyzer.story import MS
from tests.analyzer.two_phases import two_phases
from tests.said import says

from logpost.analyzer.compare.repeats.compare import compare_repeats, median_run
from logpost.analyzer.compare.repeats.slowdown import slowdown
from logpost.analyzer.render.compare.gate import parse
from logpost.analyzer.render.repeats.gate import FAILS, INCONCLUSIVE, PASSES, decide
from logpost.analyzer.render.repeats.json import as_json
from logpost.analyzer.run.directory import Run
from logpost.analyzer.statistics.contrast import Contrast, Side
from logpost.analyzer.statistics.student import two_sided, within
from logpost.errors import InputError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("freedom", [1, 1.7, 2, 4.5, 30, 1000, 1e6])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_student_s_t_is_scipy_s(level: float, freedom: float) -> None:
    from scipy import stats

    expected = float(stats.t.ppf((1 + level) / 2, freedom))
    assert two_sided(level, freedom) == pytest.approx(expected, rel=1e-7)
    assert within(expected, freedom) == pytest.approx(level, rel=1e-9)


def test_the_interval_of_a_difference_is_welch_s() -> None:
    from scipy import stats

    a, b = [10.0, 11.0, 13.0], [14.0, 14.5, 18.0, 12.0]
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert Contrast(Side.of(a), Side.of(b)).interval == pytest.approx((expected.low, expected.high))


def test_a_single_run_scatters_like_the_other_side() -> None:
    from scipy import stats

    a, b = [10.0, 11.0, 13.0], [14.0]
    # Student's interval of a new value: s * sqrt(1 + 1/3) with two degrees of freedom.
    half = stats.t.ppf(0.975, 2) * stats.tstd(a) * (1 + 1 / 3) ** 0.5
    assert Contrast(Side.of(a), Side.of(b)).half_width == pytest.approx(half)
    assert Contrast(Side.of([1.0]), Side.of([2.0])).interval is None


def test_the_stated_repeats_decide_and_fewer_do_not() -> None:
    from scipy import stats

    contrast = Contrast(Side(2, 100.0, 3.0), Side(2, 104.0, 2.0))
    needed = contrast.repeats_to_decide()
    assert needed is not None

    def p_value(count: int) -> float:
        return float(stats.ttest_ind_from_stats(104, 2, count, 100, 3, count, equal_var=False).pvalue)

    assert p_value(needed) < 0.05 < p_value(needed - 1)
    assert Contrast(Side(2, 100.0, 3.0), Side(2, 100.0, 2.0)).repeats_to_decide() is None


def test_gates_are_wrong_as_rarely_as_they_promise() -> None:
    """Of programs that are exactly at the limit (+5 %), at most one of forty fails and one of forty passes."""
    chance = random.Random(7)
    outcomes = []
    for _ in range(2000):
        a = Side.of([chance.gauss(100, 4) for _ in range(4)])
        b = Side.of([chance.gauss(105, 8) for _ in range(4)])
        contrast = Contrast(a, b, weight_a=1.05)
        outcomes.append(contrast.value > 0 if contrast.decided else None)
    for wrong in (True, False):
        assert outcomes.count(wrong) / len(outcomes) < 0.025 + 3 * (0.025 * 0.975 / 2000) ** 0.5
        assert outcomes.count(wrong) / len(outcomes) > 0.01


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Run]]:
    """Late by about 10 ms; by about 20 ms; by about 11 ms; each thrice, ± 1 ms."""
    path = tmp_path_factory.mktemp("repeats")
    return {
        str(late): [two_phases(late + more).write(path / f"{late}{more}") for more in (-1, 0, 1)]
        for late in (10, 20, 11)
    }


def test_a_gate_fails_and_names_category_region_and_rank(sides: dict[str, list[Run]]) -> None:
    repeats = compare_repeats(sides["10"], sides["20"])
    decision = decide(parse("waiting > +5%"), repeats)
    assert decision.outcome == FAILS
    # Rank 1 waits for the late sender in MPI_Recv: 10 ms, then 20 ms; the barrier's 2 ms stay.
    place = decision.slower
    assert place is not None
    assert (place.category, place.region, place.rank) == ("late_sender", "MPI_Recv", "rank 1")
    assert (place.before_ps, place.after_ps) == (10 * MS, 20 * MS)
    # 22 ms - 1.05 * 12 ms
    assert decision.contrast.value == pytest.approx(9.4 * MS)
    assert says(decision.sentence, "late sender", "MPI_Recv", "1", "10.0 ms", "20.0 ms")
    # All time: compute of rank 1 shrank as much as it waits more, so the category that grew is the waiting.
    assert slowdown(repeats, "wall") == place
    assert slowdown(repeats, "region.MPI_Recv") == place
    assert slowdown(repeats, "contention") is None


def test_a_gate_passes_where_the_noise_cannot_reach_the_limit(sides: dict[str, list[Run]]) -> None:
    assert decide(parse("late_sender > +50ms"), compare_repeats(sides["10"], sides["20"])).outcome == PASSES
    assert decide(parse("waiting > +5%"), compare_repeats(sides["20"], sides["10"])).outcome == PASSES
    assert decide(parse("late_sender > 50%"), compare_repeats(sides["10"], sides["20"])).outcome == PASSES


def test_noise_is_inconclusive_and_says_how_many_repeats_decide(sides: dict[str, list[Run]]) -> None:
    from scipy import stats

    decision = decide(parse("late_sender > +0ms"), compare_repeats(sides["10"], sides["11"]))
    assert decision.outcome == INCONCLUSIVE
    # Means 1 ms apart, scatter 1 ms each.
    counts = range(2, 50)
    pvalues = [stats.ttest_ind_from_stats(11, 1, n, 10, 1, n, equal_var=False).pvalue for n in counts]
    assert decision.repeats_needed == next(n for n, p in zip(counts, pvalues, strict=True) if p < 0.05)
    assert f"INCONCLUSIVE; {decision.repeats_needed} repeats of each would decide" in decision.sentence


def test_repeats_without_any_scatter_decide(sides: dict[str, list[Run]]) -> None:
    """The story's wall time is 100 ms in every run: not more than 0 % longer."""
    repeats = compare_repeats(sides["10"], sides["20"])
    assert decide(parse("wall > +0%"), repeats).outcome == PASSES
    assert decide(parse("wall >= +0%"), repeats).outcome == FAILS


def test_one_run_each_knows_no_noise(sides: dict[str, list[Run]]) -> None:
    decision = decide(parse("waiting > +5%"), compare_repeats(sides["10"][:1], sides["20"][:1]))
    assert decision.outcome == INCONCLUSIVE
    assert "one run of each shows no noise" in decision.sentence


def test_sides_may_have_different_numbers_of_runs(sides: dict[str, list[Run]]) -> None:
    change = compare_repeats(sides["10"][:1], sides["20"]).change("late_sender")
    assert change is not None
    assert (change.a, change.b) == ((9 * MS,), (19 * MS, 20 * MS, 21 * MS))
    assert median_run(sides["20"], [3.0, 1.0, 2.0]) is sides["20"][2]
    assert median_run(sides["20"][:2], [3.0, 1.0]) is sides["20"][1]


def test_a_quantity_that_is_not_computed_is_refused(sides: dict[str, list[Run]]) -> None:
    with pytest.raises(InputError, match="neither run has a region 'nowhere'"):
        decide(parse("region.nowhere > +5%"), compare_repeats(sides["10"], sides["20"]))


def test_json_has_the_runs_values_intervals_and_gates(sides: dict[str, list[Run]]) -> None:
    from scipy import stats

    repeats = compare_repeats(sides["10"], sides["20"])
    found = json.loads(json.dumps(as_json(repeats, [decide(parse("late_sender > 5%"), repeats)]), allow_nan=False))
    late = found["quantities"]["late_sender"]
    assert late["a"] == pytest.approx([0.009, 0.010, 0.011])
    assert (late["difference"], late["verdict"]) == (pytest.approx(0.010), "more")
    assert late["interval"] == pytest.approx(
        list(stats.ttest_ind(late["b"], late["a"], equal_var=False).confidence_interval(0.95))
    )
    assert found["regions"]["MPI_Send"]["verdict"] == "within noise"
    # POP's serialization is distinguished from the category of that name: 10 * 0.6 ms.
    assert found["quantities"]["serialization"]["a"] == pytest.approx([0.006] * 3)
    assert "efficiency.serialization" not in found["quantities"]  # a story has no ideal network to compute it from
    assert all(0 <= value <= 1 for value in found["quantities"]["efficiency.load_balance"]["a"])
    (gate,) = found["gates"]
    # 20 of 200 ms are 10 %, 5 points above the limit.
    assert (gate["outcome"], gate["above_limit"]) == ("fails", pytest.approx(0.05))
    assert gate["slower"]["rank"] == "1"


def test_findings_count_only_if_every_run_has_them(sides: dict[str, list[Run]], tmp_path: Path) -> None:
    none = [two_phases(0).write(tmp_path / "none")]
    assert "late_sender_chain" in {found.kind for found in compare_repeats(none, sides["20"]).appeared}
    assert "late_sender_chain" in {found.kind for found in compare_repeats(sides["20"], none).gone}
    assert compare_repeats([*none, *sides["20"]], sides["20"]).appeared == []
