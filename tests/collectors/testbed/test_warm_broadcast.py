"""Broadcasts with warm caches last as long as their messages: no barrier, and no reply, is part of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from logpost.errors import InputError
from logpost.machines.schema import Machine
from logpost.testbed import run_on_testbed

Toy = Callable[..., Machine]
BYTES = 1024


@pytest.mark.parametrize(
    ("algorithm", "ranks", "expected"),
    [
        # One message: o_s + L + 1023 G + o_r = 1 + 5 + 4.092 + 2.
        ("linear", 2, 12.092),
        # The NIC sends a message every 1024 G = 4.096 us: the last of three starts 2 x 4.096 us later.
        ("linear", 4, 12.092 + 2 * 4.096),
        # Rank 0 sends to 2, and 2 to 3: two messages one after the other.
        ("binomial", 4, 2 * 12.092),
    ],
)
def test_a_warm_broadcast_is_its_messages(
    toy: Toy, tmp_path: Path, algorithm: str, ranks: int, expected: float
) -> None:
    machine = toy({"kind": "crossbar", "nodes": ranks, "per_hop": 0.0})
    given = ["--cache", "warm", "--algorithm", algorithm, "--bytes", str(BYTES), "--stride", "8", "--repeat", "3"]
    done = run_on_testbed(machine, workload="broadcast", ranks=ranks, arguments=given, output=tmp_path)
    mean_us, largest_us = map(float, re.findall(r"_us ([\d.]+)", done.output))
    assert mean_us == pytest.approx(expected, abs=0.01)
    assert largest_us == pytest.approx(expected, abs=0.01)


def test_of_the_librarys_the_last_receiver_is_unknown(toy: Toy, tmp_path: Path) -> None:
    given = ["--cache", "warm", "--algorithm", "library"]
    with pytest.raises(InputError, match="--algorithm linear or binomial"):
        run_on_testbed(
            toy({"kind": "crossbar", "nodes": 2}), workload="broadcast", ranks=2, arguments=given, output=tmp_path
        )
