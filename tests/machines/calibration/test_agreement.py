"""Two machine files compared: what agrees, how far apart the rest is, and how many of each table."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.machines.calibration.virtual import Virtual

from logpost.collectors.calibration.simulated import Truth
from logpost.machines.calibration.agreement import Agreement, Count, Pair, agree
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.samples import Samples
from logpost.machines.schema import Machine

TRUTH = Truth(L=6.3e-6, o_s=1.4e-6, o_r=2.2e-6, g=7.6e-6, G=1e-9, o_s_per_byte=0.1e-9, o_r_per_byte=0.2e-9)


def machine(samples: Samples) -> Machine:
    return calibration(samples, name="any").machine


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Virtual(TRUTH).samples()


def test_how_far_apart_is_relative_to_the_larger_value() -> None:
    # Between 2.5 and 3 there is nothing: 0.5 of 4, whichever file is first.
    a, b = (2.0, 1.5, 2.5), (4.0, 3.0, 5.0)
    assert Pair("x", "us", a, b).apart == Pair("x", "us", b, a).apart == pytest.approx(0.125)
    assert Pair("x", "us", a, (2.4, 2.3, 2.6)).apart == 0.0
    # 0 here: all of the way from 0 to 3, of 4.
    assert Pair("x", "us", (0.0, 0.0, 0.0), b).apart == pytest.approx(0.75)
    assert Pair("x", "us", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)).apart == 0.0


def test_values_that_are_zero_here_are_a_finite_way_apart(samples: Samples) -> None:
    free = [
        replace(p, time=replace(p.time, minimum_s=0.0, median_s=0.0, mean_s=0.0, half_width_s=0.0, rounds_s=(0.0,)))
        if p.family == "message_overhead"
        else p
        for p in samples.points
    ]
    found = agree(machine(Samples(samples.host, tuple(free))), machine(samples))
    zero = [pair for pair in found.differing if pair.a[0] == 0.0]
    assert {"loggp.other_node.o_s (up to 16384 B)", "loggp.other_node.o_s (above 16384 B)"} <= {p.name for p in zero}
    assert all(0.0 < pair.apart <= 1.0 for pair in zero)
    assert json.dumps([pair.apart for pair in found.differing], allow_nan=False)


def test_each_table_is_counted_apart(samples: Samples) -> None:
    other = machine(Virtual(replace(TRUTH, L=9e-6)).samples())
    found = agree(machine(samples), other)
    counts = found.by_table()
    assert list(counts) == ["loggp", "overlap", "log3p", "memory", "observed"]
    # 14 of LogGP: the eager limit, L, o_s, o_s_per_byte, o_r, g and G of two ranges, and o_r_per_byte of the first one
    # (above the limit o_r is that of the smallest messages). The two L differ.
    assert counts["loggp"] == Count(agreeing=12, compared=14)
    assert counts["memory"] == Count(agreeing=1, compared=1)
    assert sum(count.compared for count in counts.values()) == len(found.pairs)
    assert sum(count.agreeing for count in counts.values()) == found.agreeing


def test_names_of_any_table_are_counted_by_their_first_part() -> None:
    one = (1.0, 1.0, 1.0)
    names = ("network.hops", "observed[name a.b].result", "log3p.point[size_bytes 8].o_mw", "loggp.other_node.L")
    found = Agreement(tuple(Pair(name, "us", one, one) for name in names), (), ())
    assert list(found.by_table()) == ["loggp", "log3p", "observed", "network"]
    assert Agreement((), (), ()).by_table() == {}


def test_sizes_of_a_range_in_words(samples: Samples) -> None:
    names = {pair.name for pair in agree(machine(samples), machine(samples)).pairs}
    assert {"loggp.other_node.G (up to 16384 B)", "loggp.other_node.G (above 16384 B)"} <= names
    only = tuple(p for p in samples.points if p.family in ("signature", "round_trip"))
    one = machine(Samples(samples.host, only))
    assert "loggp.other_node.L (any size)" in {pair.name for pair in agree(one, one).pairs}
