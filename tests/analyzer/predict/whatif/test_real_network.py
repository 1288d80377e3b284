"""A ping-pong over TCP, recorded on one network, predicted for a tenfold delay, and run there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.real_network import Link, NoNetworkError
from tests.real_network.trial import Program, length_ps, predictions, run, traffic

RECORDED, PLANNED = Link(100, 1000), Link(2000, 1000)
ROUNDS = 50


@pytest.mark.alone
@pytest.mark.mpi
def test_a_longer_delay_is_foreseen(tmp_path: Path) -> None:
    """50 round trips, 100 messages, of 1.9 ms more each: 190 ms. Times on a busy machine: half of that is the bound."""
    try:
        program = Program(2, (str(traffic(tmp_path)), "pingpong", "1024", str(ROUNDS)))
        before, _ = run(program, RECORDED, tmp_path / "recorded")
        after, carried = run(program, PLANNED, tmp_path / "planned")
    except (NoNetworkError, FileNotFoundError) as reason:
        pytest.skip(f"no network of its own here: {reason}")
    assert carried.carried["dropped"] == 0
    (prediction,) = predictions(before, RECORDED, [PLANNED])
    found, (low, high) = prediction.predicted_ps, prediction.interval_ps
    assert low <= found <= high
    change = 2 * ROUNDS * 1.9e9
    assert found - length_ps(before) == pytest.approx(change, rel=0.3)
    assert abs(found - length_ps(after)) < abs(length_ps(before) - length_ps(after)) / 2
