"""Puts and gets within a node, from their samples to the replay's table."""

from __future__ import annotations

import pytest
from tests.machines.builders import problems
from tests.machines.calibration.virtual import Virtual

from logpost.collectors.calibration.simulated import Truth
from logpost.machines import replay_parameters
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.samples import Sample, Samples
from logpost.machines.calibration.statistics import Statistics

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9)
ROUNDS = (0.99, 1.0, 1.0, 1.0, 1.01, 1.02)


def transfers(*points: tuple[str, int, float]) -> Samples:
    """A machine's samples, and those of transfers (operation, bytes, seconds) in six rounds."""
    host = Virtual(TRUTH).samples()
    found = []
    for operation, size, time in points:
        stats = Statistics(0.99 * time, time, time, 0.0, 60, 6, True, tuple(time * factor for factor in ROUNDS))
        found.append(Sample("one_sided", "same_socket", size, {"operation": operation}, stats))
    return Samples(host.host, (*host.points, *found))


def test_the_machine_file_and_the_replay_have_them_by_size() -> None:
    made = calibration(transfers(("get", 4096, 1e-6), ("put", 8, 2e-7), ("get", 8, 3e-7)), name="m").machine
    assert [(point.operation, point.size_bytes) for point in made.one_sided.point] == [
        ("get", 8),
        ("get", 4096),
        ("put", 8),
    ]
    assert all(point.T.interval is not None and point.T.source == "ONE_SIDED" for point in made.one_sided.point)
    beyond = replay_parameters(made).beyond_loggp
    assert beyond.get is not None
    assert beyond.put is not None
    assert beyond.get.tolist() == [[8.0, pytest.approx(300_000)], [4096.0, pytest.approx(1_000_000)]]
    assert beyond.put.tolist() == [[8.0, pytest.approx(200_000)]]


def test_a_time_that_the_clock_does_not_show_is_left_out() -> None:
    made = calibration(transfers(("get", 8, 0.0), ("get", 4096, 1e-6)), name="m").machine
    assert [point.size_bytes for point in made.one_sided.point] == [4096]
    assert calibration(transfers(), name="m").machine.one_sided.point == []


def test_a_size_is_stated_once() -> None:
    point = {"operation": "get", "size_bytes": 8, "T": {"value": 1, "unit": "us"}}
    assert problems(one_sided={"point": [point, {**point, "operation": "put"}]}) == []
    (problem,) = problems(one_sided={"point": [point, point]})
    assert 'operation = "get", size_bytes = 8 twice' in problem
