"""gamma from MPI_Reduce_local on several sizes."""

from __future__ import annotations

import pytest
from tests.machines.calibration.virtual import Virtual

from logpost.collectors.calibration.simulated import Truth
from logpost.machines import replay_parameters
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.reduction import per_byte
from logpost.machines.calibration.samples import Sample, Samples
from logpost.machines.calibration.statistics import Statistics

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9)
GAMMA, CALL = 0.15e-9, 40e-9
ROUNDS = (0.99, 1.0, 1.0, 1.0, 1.01, 1.02)


def reductions(*sizes: int, gamma: float = GAMMA) -> Samples:
    """A machine's samples, and those of reductions of these sizes in six rounds."""
    host = Virtual(TRUTH).samples()
    points = []
    for size in sizes:
        time = CALL + gamma * size
        rounds = tuple(time * factor for factor in ROUNDS)
        stats = Statistics(rounds[0], time, time, 0.0, 60, 6, True, rounds)
        points.append(Sample("reduction", "self", size, {}, stats))
    return Samples(host.host, (*host.points, *points))


def test_the_slope_is_gamma_without_the_call() -> None:
    found = per_byte(reductions(1024, 16384, 131072))
    assert found is not None
    assert found.value == pytest.approx(GAMMA, rel=1e-6)
    assert found.low == pytest.approx(0.99 * GAMMA, rel=1e-3)
    assert found.high == pytest.approx(1.02 * GAMMA, rel=1e-3)


@pytest.mark.parametrize("sizes", [(), (1024,)])
def test_one_size_shows_no_slope(sizes: tuple[int, ...]) -> None:
    assert per_byte(reductions(*sizes)) is None


def test_the_machine_file_and_the_replay_have_it() -> None:
    machine = calibration(reductions(1024, 16384, 131072), name="m").machine
    assert machine.memory.reduction is not None
    assert machine.memory.reduction.base() == pytest.approx(150, rel=1e-5)
    assert replay_parameters(machine).beyond_loggp.reduction_ps_per_byte == pytest.approx(150, rel=1e-5)
    assert replay_parameters(calibration(reductions(), name="m").machine).beyond_loggp.reduction_ps_per_byte is None


def test_a_slope_that_is_no_time_is_refused() -> None:
    found = calibration(reductions(1024, 131072, gamma=-1e-13), name="m")
    assert found.machine.memory.reduction is None
    assert any("memory.reduction" in refusal.sentence() for refusal in found.refused)
