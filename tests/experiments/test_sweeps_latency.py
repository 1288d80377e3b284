"""SENS Fig. 9 and 10: what the quick form of the latency sweep must show, and the machine that it changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result
from logpost.experiments.support.sens import INTERRUPTS, POLLING, SHARED, machine_for
from logpost.machines.schema import Machine

NAME = "latency-sweep"
BASE, FAR = "15 cycles", "100 cycles"


def added(result: Result, mechanism: str) -> float:
    """Thousands of cycles that EM3D takes more at 100 cycles than at 15."""
    times = table(result, "Fig. 9 and 10")
    return number(times, f"EM3D, {mechanism}", FAR) - number(times, f"EM3D, {mechanism}", BASE)


def test_shared_memory_pays_for_every_round_trip(quick_result: Callable[[str], Result]) -> None:
    # The slowest rank loads no less than the mean, and each load waits for a request and for its data: it loses at
    # least 2 x 85 cycles for the mean number of loads. 1,600 nodes have 22.1 kB of loads
    # of 8 bytes (a test of Fig. 5 has them): 86 per rank, 14.7 thousand cycles, and as much again to invalidate.
    lost = added(quick_result(NAME), "shared memory")
    assert lost > 2 * 14.7 * 0.95


def test_prefetching_hides_some_and_messages_most(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    assert added(result, "shared memory, prefetching") < 0.8 * added(result, "shared memory")
    assert added(result, "messages, polling") < 0.5 * added(result, "shared memory, prefetching")


def test_a_mechanism_changes_the_machine_as_the_paper_says() -> None:
    def values(name: str, machine: Machine) -> list[float]:
        """Of 0, 1 and 2 words, and of long messages."""
        assert machine.loggp.other_node is not None
        ranges = {one.up_to_bytes: one for one in machine.loggp.other_node.range}
        return [getattr(ranges[up_to_bytes], name).number() for up_to_bytes in (0, 4, 8, None)]

    # LOGPC Table 1 and 2: o_s 9, 12, 15, 25; o_r 117, 119, 122, 129; L 21, 21, 21, 8.
    assert values("o_r", machine_for(INTERRUPTS)) == [117, 119, 122, 129]
    # 117 - 0.35 (9 + 117) = 72.9; 119 - 0.35 x 131; 122 - 0.35 x 137; 129 - 0.35 x 154.
    assert values("o_r", machine_for(POLLING)) == pytest.approx([72.9, 73.15, 74.05, 75.1])
    assert values("o_s", machine_for(POLLING)) == [9, 12, 15, 25]
    assert values("o_s", machine_for(SHARED)) == values("o_r", machine_for(SHARED)) == [0, 0, 0, 0]
    assert values("L", machine_for(SHARED, 35.0)) == [56, 56, 56, 43]
