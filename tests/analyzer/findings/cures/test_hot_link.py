"""Waits in the network are a finding: hot links are named, and its messages are replayed without these waits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.cures import hot_link
from logpost.analyzer.findings.cures.offered import Proposal
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence


def proposed(*loads: tuple[int, int, int, int], network: int = 10 * MS) -> list[Proposal]:
    """Rank 1 waits 20 ms in a receive, for `network` of it in the network; of two messages, it is the first one's.

    `loads`: from, to, bytes, granted ps.
    """
    story = Story(2, 100 * MS)
    receive = story.path("main", "MPI_Recv")
    story.call(1, 0, 20 * MS, receive, latency=20 * MS - network, network_contention=network)
    times = {"begin_ps": 0, "end_ps": 100 * MS, "contention_ps": 1.0, "excess_ps": network, "granted_ps": network}
    story.rows["traffic"].append({"traffic_phase": 0, "messages": 10, "bytes": 1000, "utilisation": 0.5, **times})
    for start, end, carried, granted in loads:
        ends: dict[str, Any] = {"traffic_phase": 0, "from_vertex": start, "to_vertex": end, "messages": 10}
        story.rows["links"].append(ends | {"bytes": carried, "utilisation": carried / 1000, "granted_ps": granted})
    program = SimpleNamespace(measured=lambda *_: np.array([network, 0]))
    return list(hot_link.propose(Evidence(story.tables(), story.manifest()), cast(Program, program)))


def test_a_hot_link_is_named_and_its_messages_are_there_earlier() -> None:
    # Mean load (900 + 3 * 100) / 4 = 300: the first link has three times as much.
    (found,) = proposed((0, 1, 900, 8 * MS), (1, 2, 100, 0), (2, 3, 100, 0), (3, 4, 100, 0))
    numbers = {one.name: one.value for one in found.numbers}
    assert (numbers["from_node"], numbers["to_node"], numbers["hot_links"]) == (0, 1, 1)
    assert numbers["load_over_mean"] == 3
    assert numbers["waited_over_it"] == pytest.approx(0.8)
    assert found.change.more_latency_ps is not None
    assert found.change.more_latency_ps.tolist() == [-10 * MS, 0]


def test_an_even_load_names_the_busiest_link_and_is_less_certain() -> None:
    (found,) = proposed((0, 1, 400, 6 * MS), (1, 2, 300, 2 * MS), (2, 3, 300, 2 * MS))
    numbers = {one.name: one.value for one in found.numbers}
    assert (numbers["from_node"], numbers["hot_links"], found.confidence) == (0, 0, 0.3)


def test_without_a_known_network_or_waits_nothing_is_proposed() -> None:
    assert proposed() == []
    assert proposed((0, 1, 900, 8 * MS), network=0) == []
