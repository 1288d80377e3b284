"""`--grid`: cells are replays of their settings, lines are where replays have grown by so much, regions are SENS's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.predict.whatif.contours import contours
from logpost.analyzer.predict.whatif.grid import parse_grid
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.replay.graph.breakpoints import Tangent

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ping_pong(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run.open(analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path_factory.mktemp("grid") / "a.run"))))


@pytest.fixture(scope="module")
def stencil(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    archive = str(traces / "tracer-stencil4d-32")
    return Run.open(analyze(Request(archive, str(tmp_path_factory.mktemp("grid") / "b.run"))))


@pytest.mark.parametrize(
    ("name", "settings", "text"),
    [
        ("ping_pong", ("o=x2",), "L=x0.5:x50:3,G=1ns/B:100ns/B:2"),
        ("stencil", ("topology=ring:8",), "L=x1:x100:2,link_bandwidth=5kB/s:10kB/s:2"),
    ],
)
def test_each_cell_is_a_replay_of_its_settings(
    name: str, settings: tuple[str, ...], text: str, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(name)
    found = predict(run, Ask(settings=settings, grid=text)).grid
    assert found is not None
    assert found.base_ps == predict(run, Ask(settings=settings)).predicted_ps
    for i, one in enumerate(found.axes[0].settings):
        for j, other in enumerate(found.axes[1].settings):
            alone = predict(run, Ask(settings=(*settings, one, other)))
            assert found.makespans_ps[i, j] == alone.predicted_ps
            assert tuple(found.intervals_ps[i, j].tolist()) == alone.interval_ps


def test_a_line_is_where_the_replay_has_grown_by_so_much(ping_pong: Run) -> None:
    found = predict(ping_pong, Ask(grid="L=x1:x4:7,G=x1:x1.2:5")).grid
    assert found is not None
    for line in found.contours:
        assert line.exact
        assert len(line.points) >= 5  # each column of the five has its crossing
        assert list(line.points) == sorted(line.points, key=lambda point: (point[0], -point[1]))
        for point in line.points:
            settings = tuple(axis.setting(value) for axis, value in zip(found.axes, point, strict=True))
            grown = predict(ping_pong, Ask(settings=settings)).predicted_ps / found.base_ps - 1
            # A replay's latencies are whole picoseconds.
            assert grown == pytest.approx(line.percent / 100, rel=1e-5)


def test_lines_of_what_is_not_convex_are_interpolated() -> None:
    """100 + 10 x + y: +5 % where 10 x + y = 5, +10 % where it is 10."""
    values = ((0.0, 1.0), (0.0, 4.0, 8.0))
    times = np.asarray([[100, 104, 108], [110, 114, 118]])
    five, ten = contours(values, times, 100, lambda _moves, _fixed: None)
    assert not five.exact
    assert list(five.points) == [(0.0, 5.0), (pytest.approx(0.1), 4.0), (0.5, 0.0)]
    assert list(ten.points) == [(pytest.approx(0.2), 8.0), (pytest.approx(0.6), 4.0), (1.0, pytest.approx(0))]


def test_lines_turn_at_breakpoints_between_the_values() -> None:
    """max(100, 90 + 10 x): straight from 0 to 3 it would reach 105 at 0.75; it is flat up to 1, and does at 1.5."""

    def tangents(x: object) -> list[Tangent]:
        assert isinstance(x, list)
        return [Tangent(one, *((90 + 10 * one, 10.0, 1.0) if one >= 1 else (100.0, 0.0, 0.0))) for one in x]

    times = np.asarray([[100, 100], [120, 120]])
    five, ten = contours(((0.0, 3.0), (1.0, 2.0)), times, 100, lambda _moves, _fixed: tangents)
    assert five.exact
    assert np.asarray(five.points) == pytest.approx(np.asarray([(1.5, 2.0), (1.5, 1.0)]))
    assert np.asarray(ten.points) == pytest.approx(np.asarray([(2.0, 2.0), (2.0, 1.0)]))


def test_regions_are_hidden_first_and_dominated_last(ping_pong: Run) -> None:
    found = predict(ping_pong, Ask(grid="L=x0.01:x1000:6,G=x0.01:x1000:6")).grid
    assert found is not None
    assert found.regions[-1][-1] == "latency dominated"
    # Without contention nothing grows by more than its parameters.
    assert {name for row in found.regions for name in row} <= {"latency hiding", "latency dominated"}


def test_slow_links_congest(stencil: Run) -> None:
    ask = Ask(settings=("topology=ring:8", "link_bandwidth=10kB/s"), grid="link_bandwidth=x0.01:x1:4,L=x1:x2:2")
    found = predict(stencil, ask).grid
    assert found is not None
    assert (np.diff(found.makespans_ps, axis=0) <= 0).all()
    assert "latency dominated" in found.regions[0]
    assert all(not line.exact for line in found.contours if line.points)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("L=1us:2us:2", "write two parameters"),
        ("L=1us:2us:2,G=1ns/B:2ns/B:2,g=1us:2us:2", "write two parameters"),
        ("L=1us:2us:2,speed=1:2:2", "--grid speed=1:2:2: write NAME=FROM:TO:COUNT"),
        ("L=1us:2us:2,L=x1:x2:2", "L and L change the same values"),
        ("o=1us:2us:2,other_node.o_s=x1:x2:2", "o and other_node.o_s change the same values"),
        ("bisection=x1:x2:2,link_bandwidth=x1:x2:2", "bisection and link_bandwidth change the same values"),
        ("L=1us,3us,2us,G=1ns/B:2ns/B:2", "values of L in order, each once"),
        ("L=1us:2us:100,G=1ns/B:2ns/B:100", "10,000 cells; a grid has at most 4,096"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_grid(text)


def test_values_may_be_listed() -> None:
    first, second = parse_grid("same_node.L=1us,2us,5us,other_node.L=x4:x1:3")
    assert first.shown == ["1 us", "2 us", "5 us"]
    assert second.shown == ["x4", "x2", "x1"]
    assert (second.settings[0], second.numbers) == ("other_node.L=x4", [4.0, 2.0, 1.0])
