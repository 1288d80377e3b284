"""Queueing in the charts of traffic."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.matrix import MEASURES
from logpost.dashboards.figures.queueing import QUEUEING, QUEUES, first_view
from logpost.dashboards.selection.queues import queues
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection


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


def test_transfers_in_flight_together_wait_longer_than_one_rank_runs() -> None:
    """Three transfers that one call completes have waited 2^62 ps each."""
    tables = {
        "messages": pl.LazyFrame(
            schema={"recv_location": pl.Int32, "window": pl.Int32} | dict.fromkeys(QUEUES, pl.Int64())
        ),
        "transfers": pl.LazyFrame(
            {"target": [1, 1, 1], "window": [0, 0, 0]} | {"processor_queueing_ps": [2**62] * 3},
        )
        .with_columns(endpoint_contention_ps=pl.lit(0, pl.Int64), target=pl.col("target").cast(pl.Int32))
        .with_columns(pl.col("window").cast(pl.Int32)),
    }
    run = cast(Run, SimpleNamespace(table=tables.__getitem__))  # nothing else of a run is read
    assert queues(run).collect().rows() == [(1, 0, 3 * 2**62)]


def test_transfers_load_the_endpoints_that_their_bytes_leave_and_reach() -> None:
    """A put of 7 B from rank 0 to 1, and a get of 5 B by rank 0 from rank 1: the table `load` counts messages alone."""
    kinds: dict[str, Any] = {"location": pl.Int32, "direction": pl.Enum(["send", "recv"]), "window": pl.Int32}
    kinds |= {"bytes": pl.UInt64, "busy_ps": pl.Int64}
    tables = {
        "load": pl.LazyFrame(
            {"location": [2], "direction": ["recv"], "window": [0], "bytes": [9], "busy_ps": [3]}, schema=kinds
        ),
        "transfers": pl.LazyFrame(
            {"location": [0, 0, 0], "target": [1, 1, -1], "window": [2, 3, 3], "bytes": [7, 5, 4]}
            | {"kind": ["put", "get", "put"]}
        ),
    }
    run = cast(Run, SimpleNamespace(table=tables.__getitem__))  # nothing else of a run is read
    found = SelectedRun(run, Selection()).load().sort("location", "window").collect()
    assert found.rows() == [
        (0, "send", 2, 7, 0),
        (0, "recv", 3, 5, 0),
        (1, "recv", 2, 7, 0),
        (1, "send", 3, 5, 0),
        (2, "recv", 0, 9, 3),
    ]


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
