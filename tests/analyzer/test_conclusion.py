"""What a report concludes: of an estimated machine, the waiting is a lower bound."""

from __future__ import annotations

import pytest

from logpost.analyzer.reporting.conclusion import conclude
from logpost.analyzer.reporting.data import Largest, Share
from logpost.analyzer.undivided import UNDIVIDED


@pytest.mark.parametrize(
    ("category", "said"),
    [
        # Processor queueing and other waiting may be in what the machine does not tell apart.
        (UNDIVIDED, "50.0 % of their time in communication, at least 20.0 % waiting for others;"),
        ("latency", "50.0 % of their time in communication, 20.0 % waiting for others;"),
    ],
)
def test_waiting_that_may_be_more_is_a_bound(category: str, said: str) -> None:
    breakdown = [Share("compute", 50, 0.5), Share("late_sender", 20, 0.2), Share(category, 30, 0.3)]
    assert said in conclude(breakdown, Largest(category, 0.3, "MPI_Waitany"), [], oversubscribed=False)
