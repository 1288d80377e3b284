"""Queueing in the charts of traffic."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import polars as pl

from logpost.analyzer.run import Run
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.matrix import MEASURES
from logpost.dashboards.figures.queueing import QUEUEING, first_view
from logpost.dashboards.selection.queues import queues


def test_queueing_is_of_the_rank_that_a_message_or_transfer_is_for() -> None:
    """Two messages for rank 1 wait 5 + 2 ps and 1 ps, a transfer that it must serve 10 ps; one for rank 0 nothing."""
    tables = {
        "messages": pl.LazyFrame(
            {
                "recv_location": [1, 1, 0],
                "window": [0, 3, 0],
                "endpoint_contention_ps": [5, 0, 0],
                "network_contention_ps": [0, 1, 0],
                "processor_queueing_ps": [2, 0, 0],
            }
        ),
        "transfers": pl.LazyFrame(
            {"target": [1, -1], "window": [3, 3], "endpoint_contention_ps": [0, 9], "processor_queueing_ps": [10, 9]}
        ),
    }
    run = cast(Run, SimpleNamespace(table=tables.__getitem__))  # nothing else of a run is read
    found = queues(run).sort("location", "window").collect()
    assert found.rows() == [(0, 0, 0), (1, 0, 7), (1, 3, 11)]


def test_charts_start_with_the_queues_where_the_finding_is_a_crowd() -> None:
    measures = [measure for measure, _ in MEASURES]
    assert [measures[first_view(measures, kind)].label for kind in ("hot_receiver", "late_sender_chain")] == [
        "Queueing",
        "Bytes",
    ]


def test_only_the_largest_waits_have_a_colour() -> None:
    """Logarithms would make 1 ms of rank 1 look like 1 s of rank 0."""
    waits = heat(np.array([[1e12, 1e9]]), QUEUEING, lambda i, j: "")
    sizes = heat(np.array([[1e12, 1e9]]), Measure("Bytes", "bytes", str, 2), lambda i, j: "")
    assert waits["z"] == [[1e12, 1e9]]
    assert sizes["z"] == [[12, 9]]
