"""The map over two parameters: lengths of the program, in the unit of its axes, with their machine and intervals."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.predict.whatif import Axis, Contour, Grid
from logpost.dashboards.figures.heat import between, heat
from logpost.dashboards.figures.prediction_grid import TIME, prediction_grid, signed_percent

MS = 10**9
L = Axis("L", "time", False, (1e6, 10e6))
G = Axis("G", "time_per_byte", True, (1.0, 2.0, 4.0))


def found() -> Grid:
    """100 ms as it is; G x4 adds 12 ms, 10 us of latency 3 ms."""
    makespans = np.array([[100, 104, 112], [103, 107, 115]]) * MS
    intervals = np.stack([makespans - 2 * MS, makespans + 5 * MS], axis=-1)
    lines = [Contour(5, ((1e6, 2.25), (10e6, 1.5)), True), Contour(10, ((1e6, 3.5), (10e6, 2.75)), False)]
    return Grid((L, G), 100 * MS, makespans, intervals, [], lines)


def test_cells_have_the_lengths_and_lines_those_of_the_replay() -> None:
    made = prediction_grid(found(), "here")
    cells, five, ten = made.figure.data
    assert [list(row) for row in cells.z] == [[100 * MS, 104 * MS, 112 * MS], [103 * MS, 107 * MS, 115 * MS]]
    assert cells.text[0][1] == "L 1 µs, G ×2: +4.0 %<br>102 ms to 109 ms<br>104 ms"
    assert (cells.zmin, cells.zmax) == (100 * MS, 115 * MS)
    assert (five.line.dash, ten.line.dash) == ("solid", "dash")
    # Geometric steps: 2.25 lies log2(2.25) - 1 = 0.17 of the way from ×2 to ×4.
    assert [round(x, 2) for x in five.x] == [1.17, 0.58]
    assert "0.0 % to +15.0 % against 100 ms" in made.summary


def test_axes_name_their_unit_once() -> None:
    layout = prediction_grid(found(), "here").figure.layout
    assert (layout.yaxis.title.text, list(layout.yaxis.ticktext)) == ("L (µs)", ["1", "10"])
    assert (layout.xaxis.title.text, list(layout.xaxis.ticktext)) == ("G, times the machine's", ["×1", "×2", "×4"])


def test_a_growth_that_rounds_to_nothing_has_no_sign() -> None:
    assert [signed_percent(value) for value in (-0.04, 0.0, 0.06, -1.25)] == ["0.0 %", "0.0 %", "+0.1 %", "−1.2 %"]


def test_a_scale_of_differences_has_both_ends_and_round_steps_between() -> None:
    assert between(60.0, 75.0, 10) == [60.0, 65.0, 70.0, 75.0]
    assert between(61.0, 74.0, 10) == [61.0, 65.0, 70.0, 74.0]
    assert between(5.0, 5.0, 10) == [5.0]


def test_values_that_hardly_differ_are_not_drawn_as_if_they_did() -> None:
    # 1.5000 and 1.5001 us: the scale reaches to 1 % more, and no two ticks read the same.
    trace = heat(np.array([[1_500_000.0, 1_500_100.0]]), TIME, lambda _i, _j: "")
    assert (trace["zmin"], trace["zmax"]) == (1_500_000, 1_515_000)
    texts = trace["colorbar"]["ticktext"]
    assert len(set(texts)) == len(texts) > 1
