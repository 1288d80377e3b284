"""The tables of a machine file as charts: every point as the file has it, with its interval and its source."""

from __future__ import annotations

from typing import Any

import pytest
from tests.said import facts

from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.machine_surfaces import burst_surface, contiguous_curves, gap_curves, stride_surface
from logpost.machines import Machine
from logpost.machines.schema.load import check_machine

KEYS: dict[str, Any] = {"unit": "us", "source": "M"}


def machine(**tables: Any) -> Machine:
    source = {"kind": "measurement", "text": "own", "date": "2026-01-02", "host": "n1", "method": "bursts"}
    raw = {
        "format": 1,
        "name": "m",
        "title": "m",
        "date": "2026-01-02",
        "kind": "measurement",
        "sources": {"M": source},
    }
    found, problems = check_machine({**raw, **tables}, "m.toml")
    assert found is not None, problems
    return found


def o(size: int, burst: int, **more: Any) -> dict[str, Any]:
    return {"size_bytes": size, "burst": burst, "o": {**KEYS, **more}}


def heat(chart: Chart, view: int = 0) -> dict[str, Any]:
    return chart.views[view].traces[0] if chart.views else chart.payload()["figure"]["data"][0]


def test_a_cell_is_a_point_of_size_and_burst_and_what_was_not_measured_stays_empty() -> None:
    overlap = {"o": [o(1024, 4, value=2.0, interval=[1.9, 2.3], confidence=0.95), o(8, 1, value=4.0, uncertainty=0.2)]}
    chart = burst_surface(machine(overlap=overlap))
    # In ps; sizes 8 and 1024 across, bursts 1 and 4 down.
    assert heat(chart)["z"] == [[4_000_000, None], [None, 2_000_000]]
    # The farther end: 0.2 of 4.0 and 0.3 of 2.0.
    assert heat(chart, 1)["z"] == [[0.05, None], [None, pytest.approx(0.15)]]
    assert heat(chart)["text"] == [["4.00 µs", ""], ["", "2.00 µs"]]
    assert facts(heat(chart)["customdata"][1][1]) == [
        "1 KiB",
        "4",
        "2026-01-02",
        "1.90 µs",
        "2.30 µs",
        "95%",
        "2.00 µs",
    ]
    assert list(chart.figure.layout.xaxis.ticktext) == ["8 B", "1 KiB"]
    assert list(heat(chart)["colorbar"]["ticktext"])[:2] == ["0 µs", "1.00 µs"], "no 0 s among microseconds"
    assert facts(chart.summary) == ["2.00 µs", "4.00 µs", "2", "2026-01-02"]


def test_a_table_without_intervals_has_one_view_and_says_so() -> None:
    point = {"size_bytes": 16384, "stride_bytes": 1024, "l_mw": {"value": 420, **KEYS}, "o_mw": {"value": 29, **KEYS}}
    chart = stride_surface(machine(log3p={"point": [point, {"size_bytes": 16384, "o_mw": {"value": 29, **KEYS}}]}))
    assert chart.views == ()
    assert heat(chart)["z"] == [[420_000_000]]
    assert "1 point. None with an interval." in chart.summary


def test_what_depends_on_the_size_alone_is_a_line_with_bars() -> None:
    points = [
        {"size_bytes": 1024, "o_net": {"value": 10.0, "uncertainty": 1.0, **KEYS}},
        {"size_bytes": 4096, "o_net": {"value": 30.0, **KEYS}, "T_mem": {"value": 3.0, **KEYS}},
    ]
    net, memory = contiguous_curves(machine(log3p={"point": points})).payload()["figure"]["data"]
    assert (net["name"], net["x"], net["y"]) == ("o_net", [1024, 4096], [10, 30])
    assert (net["error_y"]["array"], net["error_y"]["arrayminus"]) == ([1, 0], [1, 0])
    assert (memory["name"], memory["y"]) == ("T_mem", [3])


def test_gaps_are_lines_by_pattern_and_processors_in_time_per_byte() -> None:
    gap = {"pattern": "cross-section", "level": "lowest", "processors": 4, "size_bytes": 1024}
    chart = gap_curves(machine(overlap={"G": [{**gap, "G": {"value": 2.5, "unit": "ns/B", "source": "M"}}]}))
    (line,) = chart.payload()["figure"]["data"]
    assert (line["name"], line["y"]) == ("cross-section, P = 4, lowest bandwidth", [2.5])
    assert chart.figure.layout.yaxis.title.text == "time per byte (ns/B)"


def test_lines_of_the_same_points_are_one_line_with_both_names() -> None:
    """Of a single pair the lowest and the highest bandwidth are the same, and one line would hide the other."""
    gap = {"pattern": "nearest-neighbour", "size_bytes": 64}

    def at(processors: int, level: str, value: float) -> dict[str, Any]:
        quantity = {"value": value, "unit": "ns/B", "source": "M"}
        return {**gap, "processors": processors, "level": level, "G": quantity}

    points = [at(2, "lowest", 3.8), at(2, "highest", 3.8), at(4, "lowest", 5.0), at(4, "highest", 4.0)]
    chart = gap_curves(machine(overlap={"G": points}))
    # What the file states is counted, not what is drawn.
    assert chart.summary.startswith("G(P, S, pattern) at 4 points; equal lines ")
    assert [line["name"] for line in chart.payload()["figure"]["data"]] == [
        "nearest-neighbour, P = 2, highest and lowest bandwidth",
        "nearest-neighbour, P = 4, highest bandwidth",
        "nearest-neighbour, P = 4, lowest bandwidth",
    ]


def test_sizes_and_strides_next_to_a_power_of_two_are_distinguished_from_it() -> None:
    points = [
        {"size_bytes": size, "stride_bytes": stride, "l_mw": {"value": 2.0, **KEYS}}
        for size in (4040, 4096)
        for stride in (1016, 1024, 1032)
    ]
    chart = stride_surface(machine(log3p={"point": points}))
    assert list(chart.figure.layout.xaxis.ticktext) == ["4040 B", "4 KiB"]
    assert list(chart.figure.layout.yaxis.ticktext) == ["1016 B", "1 KiB", "1032 B"]


def test_cycles_of_a_known_clock_are_times() -> None:
    clock = {"processor": {"value": 2.0, "unit": "GHz", "source": "M"}}
    chart = burst_surface(machine(clock=clock, overlap={"o": [o(8, 1, value=100, unit="cycle")]}))
    assert heat(chart)["z"] == [[50_000]]
