"""Figures are pure functions of tables: their data is compared with arithmetic, not with pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.dashboards.figures.test_folding import locations

from logpost.analyzer.report.data import WaitState
from logpost.analyzer.run.schema import PAIRS, PARTS
from logpost.analyzer.run.undivided import SHOWN, UNDIVIDED
from logpost.analyzer.words.units import bytes_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.breakdown import BY_PART, PARTS_IN_CATEGORIES, breakdown
from logpost.dashboards.figures.callpaths import callpaths
from logpost.dashboards.figures.chart import Chart, row_axis
from logpost.dashboards.figures.folding import Columns, Rows, rows
from logpost.dashboards.figures.heat import Measure, heat, round_powers, round_steps
from logpost.dashboards.figures.load import load
from logpost.dashboards.figures.matrix import MEASURES, matrix, of_parts
from logpost.dashboards.figures.timeline import timeline
from logpost.dashboards.figures.wait_states import wait_states

MS = 10**9


def grid(ranks: int, cap: int = 100) -> Rows:
    return rows(locations(list(range(ranks))), cap)


def times(**parts: float) -> np.ndarray:
    return np.array([parts.get(category, 0.0) for category in SHOWN])


def drawn(chart: Chart) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = chart.payload()["figure"]["data"]
    return data


def test_bars_are_times_in_the_unit_of_the_axis() -> None:
    each = np.array([times(compute=6 * MS, late_sender=2 * MS), times(compute=8 * MS)])
    chart = breakdown(each, grid(2), grid(2))
    bars = {bar["meta"]["category"]: bar["x"] for bar in drawn(chart)}
    assert bars == {"compute": [6, 8], "late_sender": [2, 0]}
    assert chart.payload()["figure"]["layout"]["xaxis"]["title"]["text"] == "time (ms)"
    assert drawn(chart)[1]["customdata"][0].endswith("<b>late sender</b> 2.00 ms · 25.0 % of 8.00 ms")


def test_parts_of_sens_are_sums_of_their_categories_in_its_order() -> None:
    each = np.array([times(compute=4 * MS, late_sender=2 * MS, collective=1 * MS, latency=3 * MS, residual=5 * MS)])
    chart = breakdown(each, grid(1), grid(1), stacks=BY_PART)
    # Late senders and collectives are synchronization; what no model explains is assigned to no part.
    assert [(bar["name"], bar["x"]) for bar in drawn(chart)] == [
        ("compute", [4]),
        ("memory and network interface wait", [3]),
        ("synchronization", [3]),
        ("not assigned", [5]),
    ]
    finer = breakdown(each, grid(1), grid(1), stacks=PARTS_IN_CATEGORIES)
    assert [bar["name"] for bar in drawn(finer)] == ["compute", "latency", "late sender", "collective", "residual"]
    assert {category for part in BY_PART for category in part.categories} == set(SHOWN)


def test_a_block_is_the_mean_of_its_ranks_and_the_worst_are_shown_singly() -> None:
    each = np.array([times(compute=4 * MS), times(compute=2 * MS, residual=2 * MS), times(compute=4 * MS)])
    chart = breakdown(each, grid(3), grid(3, cap=2))
    # Blocks of 2: (0, 1) and (2). Mean compute (4 + 2) / 2 = 3 ms, mean residual 1 ms.
    assert {bar["meta"]["category"]: bar["x"] for bar in drawn(chart)} == {"compute": [3, 4], "residual": [1, 0]}
    worst = chart.views[1]
    assert worst.layout["yaxis"]["ticktext"] == ["1", "0", "2"]
    assert [trace["x"] for trace in worst.traces] == [[2, 4, 4], [2, 0, 0]]


def test_cells_take_the_category_with_most_time() -> None:
    cube = np.array(
        [
            [times(compute=6, late_sender=4), times(compute=1, latency=2, serialization=3)],
            [times(compute=10), times()],
        ]
    )
    chart = timeline(cube, grid(2), Columns(2, 1, 10))
    index = SHOWN.index
    assert chart.views[0].traces[0]["z"] == [[index("compute"), index("serialization")], [index("compute"), None]]
    assert chart.views[1].traces[0]["z"] == [[index("late_sender"), index("serialization")], [None, None]]
    # (2 + 3) / 6 = 83.3 % outside compute.
    assert chart.views[2].traces[0]["z"] == [[40, 83.3], [0, None]]
    assert drawn(chart)[0]["customdata"][0][1].split("<br>")[1:] == [
        "serialization 50 %",
        "latency 33 %",
        "compute 17 %",
    ]
    assert drawn(chart)[0]["customdata"][1][1] == ""


def test_a_picture_of_compute_starts_with_the_time_outside_compute() -> None:
    quiet = np.array([[times(compute=9, latency=1)] * 10 + [times(compute=9, late_sender=1)] * 10])
    assert timeline(quiet, grid(1), Columns(20, 1, 10)).first == 1
    busy = np.array([[times(compute=1, latency=9)] * 20])
    assert timeline(busy, grid(1), Columns(20, 1, 10)).first == 0


def pairs(*cells: tuple[int, int, int]) -> pl.DataFrame:
    """(sender, receiver, bytes); a message each, with 7 ps of endpoint and 1 ps of network contention."""
    zero = dict.fromkeys(("envelope_ps", *(f"{part}_ps" for part in PARTS), "deficit_ps"), 0)
    frame = [
        {"send_location": s, "recv_location": r, "messages": 1, "bytes": b, **zero}
        | {"endpoint_contention_ps": 7, "network_contention_ps": 1}
        for s, r, b in cells
    ]
    return pl.DataFrame(frame).cast(dict(PAIRS.schema))  # type: ignore[arg-type]


def test_matrix_sums_pairs_into_blocks() -> None:
    chart = matrix(pairs((0, 3, 10), (1, 2, 20), (3, 0, 5)), grid(4, cap=2))
    # Blocks (0, 1) and (2, 3): upper right 10 + 20 bytes in 2 messages with 8 ps of contention each.
    assert [view.traces[0]["z"] for view in chart.views] == [
        [[None, 30], [5, None]],
        [[None, 2], [1, None]],
        [[None, 16], [8, None]],
        [[None, None], [None, None]],
    ]
    assert chart.views[0].traces[0]["text"][0][1] == "ranks 0–1 → ranks 2–3<br>30 B"


def test_matrix_shows_the_time_of_each_part_and_what_is_not_divided_as_one() -> None:
    parts = of_parts(())
    assert list(parts) == [category for category in palette.INKS if category in PARTS]
    chart = matrix(pairs((0, 1, 10), (0, 1, 5)), grid(2), [*MEASURES, parts["endpoint_contention"], parts["latency"]])
    assert [view.traces[0]["z"] for view in chart.views[-2:]] == [
        [[None, 14], [None, None]],
        [[None, None], [None, None]],
    ]
    together = of_parts(("endpoint_contention", "network_contention"))
    assert "endpoint_contention" not in together
    assert matrix(pairs((0, 1, 10)), grid(2), [*MEASURES, together[UNDIVIDED]]).views[-1].traces[0]["z"][0][1] == 8


def test_load_shows_the_receiver_s_utilisation() -> None:
    table = pl.DataFrame(
        {
            "location": [0, 0, 1],
            "window": [0, 1, 3],
            "direction": ["recv", "recv", "send"],
            "messages": [1, 1, 2],
            "bytes": [100, 50, 150],
            "peers": [1, 1, 1],
            "busy_ps": [40, 20, 60],
        },
        schema_overrides={"location": pl.Int32, "window": pl.Int32},
    )
    queues = pl.DataFrame(
        {"location": [0, 0, 1], "window": [0, 1, 3], "queued_ps": [4, 5, 0]},
        schema_overrides={"location": pl.Int32, "window": pl.Int32},
    )
    chart = load(table.lazy(), queues.lazy(), grid(2), Columns(2, 2, 200))
    arriving, leaving, busy, queued = (view.traces[0]["z"] for view in chart.views)
    assert arriving == [[150, None], [None, None]]
    assert leaving == [[None, None], [None, 150]]
    # 60 ps of service in a bin of 200 ps.
    assert busy == [[0.3, None], [None, None]]
    assert queued == [[9, None], [None, None]]


def test_wait_states_are_listed_longest_first_and_without_empty_ones() -> None:
    totals = [WaitState("late_sender", 2e-12, 1), WaitState("early_reduce", 0.0, 0), WaitState("wait_at_nxn", 5e-12, 3)]
    chart = wait_states(totals)
    assert [bar["name"] for bar in drawn(chart)] == ["Wait at NxN", "Late Sender"]
    assert [bar["x"] for bar in drawn(chart)] == [[5], [2]]


def test_callpaths_stack_categories_and_escape_names() -> None:
    exposure = pl.DataFrame(
        {
            "callpath": [4, 4, 9],
            "label": ["<a href='x'>", "<a href='x'>", "main"],
            "category": ["latency", "late_sender", "latency"],
            "exposed_ps": [1, 2, 9],
        }
    )
    chart = callpaths(exposure)
    axis = chart.payload()["figure"]["layout"]["yaxis"]
    assert axis["ticktext"] == ["main", "&lt;a href='x'&gt;"]
    assert {bar["meta"]["category"]: (bar["y"], bar["x"]) for bar in drawn(chart)} == {
        "late_sender": ([1], [2]),
        "latency": ([1, 0], [1, 9]),
    }


def test_colours_are_logarithmic_where_values_span_decades() -> None:
    measure = Measure("Bytes", "bytes", bytes_text, 2)
    wide = heat(np.array([[1.0, 1024.0], [0.0, 1024.0**2]]), measure, lambda i, j: f"{i},{j}")
    # log10 of 1, 2**10 and 2**20; nothing stays empty.
    assert wide["z"] == [[0, 3.01], [None, 6.021]]
    # 21 powers of two in at most 6 ticks: every fourth.
    assert wide["colorbar"]["ticktext"] == ["1 B", "16 B", "256 B", "4.00 KiB", "64.0 KiB", "1.00 MiB"]
    assert wide["text"] == [["0,0<br>1 B", "0,1<br>1.00 KiB"], ["", "1,1<br>1.00 MiB"]]
    narrow = heat(np.array([[50.0, 100.0]]), Measure("n", "n", str), lambda i, j: "")
    assert (narrow["zmin"], narrow["zmax"], narrow["colorbar"]["tickvals"]) == (0, 100, [0, 20, 40, 60, 80, 100])


@pytest.mark.parametrize(
    ("high", "base", "expected"),
    [(6, 10, [0, 1, 2, 3, 4, 5, 6]), (7, 10, [0, 2, 4, 6]), (1000, 2, [0, 256, 512, 768]), (0, 10, [0])],
)
def test_round_steps(high: float, base: int, expected: list[float]) -> None:
    # At most six steps: 7 / 6 = 1.17 needs steps of 2; 1000 / 6 = 167 needs 2**8 in base 2.
    assert round_steps(high, base) == expected


def test_round_powers_stay_inside() -> None:
    assert round_powers(3, 5000, 10) == [10, 100, 1000]


def test_an_axis_writes_at_most_32_labels() -> None:
    made = row_axis([str(i) for i in range(100)], "rank")
    # ceil(100 / 32) = 4: labels 0, 4, ..., 96.
    assert made["tickvals"][:2] == [0, 4]
    assert made["ticktext"][-1] == "96"
    assert made["range"] == [99.5, -0.5]


def test_colours_of_neighbours_in_a_bar_differ_for_colour_blind_readers() -> None:
    """Every two categories differ in lightness (seen with any colour vision) or are distinguished by a pattern or by
    hue under the commonest deficiency (deuteranopia, simulated after Viénot, Brettel and Mollon, 1999)."""
    for theme in ("light", "dark"):
        seen = {c: (_deuteranopic(getattr(ink, theme)), ink.pattern) for c, ink in palette.INKS.items()}
        for one, (lab, pattern) in seen.items():
            for other, (lab2, pattern2) in seen.items():
                if one < other and pattern == pattern2:
                    assert np.linalg.norm(np.subtract(lab, lab2)) > 8, (theme, one, other)


def _deuteranopic(colour: str) -> list[float]:
    """CIELAB (D65) of a colour as a deuteranope sees it."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]) @ linear
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    t = np.maximum(xyz, 0) / [0.9505, 1.0, 1.089]
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
