"""Changes between repeats: bars are differences of means, whiskers Welch's interval, and noise is pale and said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.said import facts, says

from logpost.analyzer.compare.repeats.compare import RepeatedChange
from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.repeated_changes import PALE, Row, repeated_changes, runs_by_category
from logpost.dashboards.report.repeats import verdict

MS = 10**9


def ms(*values: float) -> tuple[float, ...]:
    return tuple(value * MS for value in values)


def drawn(chart: Chart) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = chart.payload()["figure"]["data"]
    return data


def test_a_change_beyond_the_noise_is_first_with_its_interval() -> None:
    # Means 10 and 20; s = 1 on both sides, n = 3: standard error sqrt(2 / 3) = 0.8165, t(4) at 95 % = 2.776.
    certain = RepeatedChange("latency", ms(9, 10, 11), ms(19, 20, 21))
    # Means 100 and 130, but s = 50 on both sides: t se = 2.776 * 40.82 = 113.3.
    noisy = RepeatedChange("compute", ms(50, 100, 150), ms(80, 130, 180))
    rows = [Row("compute", noisy, "compute"), Row("latency", certain, "latency")]
    chart = repeated_changes(rows, "time over all ranks")
    first, second = drawn(chart)
    assert (first["name"], first["x"], first["opacity"]) == ("latency", [10], 1)
    assert first["error_x"]["value"] == pytest.approx(2.776 * 0.8165, rel=1e-3)
    assert (second["name"], second["x"], second["opacity"]) == ("compute", [30], PALE)
    assert second["error_x"]["value"] == pytest.approx(113.3, rel=1e-3)
    assert chart.figure.layout.xaxis.title.text == "B − A, time over all ranks (ms)"
    assert facts(chart.summary) == ["1", "2", "95 %", "latency", "+10.0 ms", "2.27 ms", "100.0 %"]


def test_rows_keep_their_order_and_single_runs_have_no_whiskers() -> None:
    rows = [Row(f"rank {i}", RepeatedChange(f"rank {i}", ms(10), ms(10 + i))) for i in range(3)]
    chart = repeated_changes(rows, "outside compute", sort=False)
    assert list(chart.figure.layout.yaxis.ticktext) == ["rank 0", "rank 1", "rank 2"]
    assert all("error_x" not in bar for bar in drawn(chart))
    assert chart.summary.startswith("The noise is not known")


def test_a_name_of_a_trace_is_no_markup() -> None:
    rows = [Row("<b>x</b>", RepeatedChange("region.<b>x</b>", ms(1, 2), ms(8, 9)))]
    chart = repeated_changes(rows, "all ranks")
    assert "<b>x" not in str(drawn(chart)[0]["customdata"]).replace("<b>&lt;b&gt;x", "")
    assert "&lt;b&gt;x" in chart.summary


def test_runs_are_next_to_each_other_by_category() -> None:
    means = np.zeros((2, len(SHOWN)))
    means[0, SHOWN.index("compute")], means[1, SHOWN.index("compute")] = 6 * MS, 4 * MS
    means[0, SHOWN.index("late_sender")] = 2 * MS
    chart = runs_by_category(["A: slow", "B: fast"], means)
    assert {bar["name"]: bar["x"] for bar in drawn(chart)} == {"compute": [6, 4], "late sender": [2, 0]}
    assert chart.summary == "B: fast is the shortest: 4.00 ms."


def test_the_verdict_distinguishes_a_change_from_noise() -> None:
    # Means 10 and 20 ms, s = 1 ms on both sides, n = 3: 10 ms +- 2.776 * 0.8165 ms = 2.27 ms.
    assert facts(verdict(RepeatedChange("wall", ms(9, 10, 11), ms(19, 20, 21)))) == [
        "20.0 ms",
        "10.0 ms",
        "+100.0 %",
        "95 %",
        "+7.73 ms",
        "+12.3 ms",
        "3",
        "3",
    ]
    # s = 50 ms: 30 ms +- 113.3 ms.
    said = verdict(RepeatedChange("wall", ms(50, 100, 150), ms(80, 130, 180)))
    assert says(said, "130 ms", "100 ms", "+30.0 %", "95 %")
    assert "within the noise of the runs" in said
    said = verdict(RepeatedChange("wall", ms(10), ms(8)))
    assert facts(said) == ["8.00 ms", "10.0 ms", "−20.0 %"]
