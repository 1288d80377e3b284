"""What a message costs: stories with derived numbers, and an independent oracle for random machines and messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.errors import InputError
from logpost.machines import LOCALITIES, load_machine, replay_parameters
from logpost.machines.schema import Machine
from logpost.replay.cost.message import MessageCosts, message_costs, range_of
from logpost.replay.cost.message_models import MessageModel
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.models import MODELS
from logpost.replay.predict.machine_values import machine_values

US = 10**6
KIB, MIB = 1024, 2**20


def machine(**tables: Any) -> Machine:
    """A file with the given tables; times in us."""
    return Machine.model_validate(
        {
            "format": 1,
            "name": "ours",
            "title": "a machine for tests",
            "date": "2020",
            "kind": "template",
            "source": "TEST",
            "units": ["us", "us/B"],
            "sources": {"TEST": {"kind": "paper", "text": "this test"}},
            "loggp": {"other_node": {"L": 5, "o_s": 1, "o_r": 2, "g": 3, "G": 0.5}},
            **tables,
        }
    )


def strided(points: Sequence[tuple[int, int, float]], block: int | None = 8) -> Machine:
    """l_mw in us over (size, stride), measured with blocks of `block` bytes."""
    stated = {} if block is None else {"block_bytes": block}
    return machine(
        log3p={"point": [{"size_bytes": s, "stride_bytes": d, "l_mw": time, **stated} for s, d, time in points]}
    )


def costs(of: Machine, size: Any, **message: Any) -> MessageCosts:
    return message_costs(native_parameters(replay_parameters(of)), size, **message)


# 64 us at 64 KiB, 1 us per KiB.
TABLE = strided([(KIB, 64, 1), (64 * KIB, 64, 64), (KIB, 1024, 4), (64 * KIB, 1024, 256)])


def l_mw(size: Any, of: Machine = TABLE, **layout: Any) -> Any:
    return np.asarray(costs(of, size, **layout).l_mw) / US


def test_loggp_s_terms() -> None:
    found = costs(machine(), 101)
    assert (found.o_s, found.L, found.serialization, found.o_r) == (US, 5 * US, 50 * US, 2 * US)
    assert found.service == 50.5 * US
    assert found.total == 58 * US
    assert found.extrapolated == 0


def test_l_mw_is_linear_in_size_between_the_points() -> None:
    assert l_mw(4 * KIB, stride=64) == pytest.approx(4)
    assert l_mw(4 * KIB, stride=1024) == pytest.approx(16)


def test_a_layout_that_was_measured_alone_has_its_own_value_and_gives_none_to_others() -> None:
    """40 KiB in blocks of 40 B, one every 200 B: measured alone, 7 us. The table has blocks of 8 and 64 B.

    40 KiB are 5120 blocks of 8 B at 1 ns and 640 of 64 B at 2 ns: 5.12 and 1.28 us. Between them l_mw is linear in the
    number of blocks, of 40 B 1024: 1.28 + (1024 - 640) / (5120 - 640) (5.12 - 1.28) = 1.609 us.
    """
    points = [
        {"size_bytes": 40 * KIB, "stride_bytes": 200, "block_bytes": block, "l_mw": time}
        for block, time in ((8, 5.12), (64, 1.28))
    ]
    alone = {"size_bytes": 40 * KIB, "stride_bytes": 200, "block_bytes": 40, "l_mw": 7, "alone": True}
    without, with_it = (machine(log3p={"point": found}) for found in (points, [*points, alone]))
    assert l_mw(40 * KIB, without, block=40, stride=200) == pytest.approx(1.609, abs=0.001)
    assert l_mw(40 * KIB, with_it, block=40, stride=200) == 7
    for size, block, stride in ((40 * KIB, 32, 200), (20 * KIB, 40, 200), (40 * KIB, 40, 400), (40 * KIB, 48, 200)):
        expected = l_mw(size, without, block=block, stride=stride)
        assert l_mw(size, with_it, block=block, stride=stride) == expected
    only = machine(log3p={"point": [alone]})
    assert l_mw(40 * KIB, only, block=np.array([40, 20]), stride=200).tolist() == [7, 0]


def test_large_strided_messages_grow_with_their_bytes_and_are_counted() -> None:
    found = costs(TABLE, np.array([4 * KIB, 64 * KIB, MIB, 8 * MIB]), stride=64)
    np.testing.assert_allclose(np.asarray(found.l_mw) / US, [4, 64, 1024, 8192])
    assert found.beyond_sizes.tolist() == [False, False, True, True]
    assert found.extrapolated == 2


def test_strides_beyond_the_largest_are_counted() -> None:
    found = costs(TABLE, 4 * KIB, stride=np.array([1024, 4096]))
    np.testing.assert_allclose(np.asarray(found.l_mw) / US, [16, 16])
    assert found.beyond_strides.tolist() == [False, True]
    assert found.extrapolated == 1


def test_data_without_gaps_have_no_l_mw() -> None:
    # No stride, a stride of the measured block, a stride up to a stated block, one block, nothing to send.
    assert l_mw(4 * KIB) == 0
    assert l_mw(4 * KIB, stride=8) == 0
    assert l_mw(4 * KIB, block=256, stride=np.array([128, 256])).tolist() == [0, 0]
    assert l_mw(256, block=256, stride=1024) == 0
    assert l_mw(0, stride=64) == 0


def test_the_number_of_blocks_counts() -> None:
    # 16 blocks of 64 KiB cost what 16 blocks of 8 B do: 128 B, where the line from one block (8 B, 0) to (1 KiB, 4 us)
    # has 4 * 120/1016. Four times the block at four times the size is the same number of blocks.
    assert l_mw(MIB, block=64 * KIB, stride=64 * KIB + 1024) == pytest.approx(4 * 120 / 1016)
    assert l_mw(16 * KIB, block=32, stride=64) == pytest.approx(float(l_mw(4 * KIB, block=8, stride=64)))


def test_between_blocks_l_mw_is_linear_in_their_number() -> None:
    # A block's price is 2 ns and 1/32 ns per byte. Of 8 KiB: 1024 blocks of 8 B at 2.25 ns, 128 of 64 B at 4 ns.
    points = [
        {"size_bytes": 8192, "stride_bytes": 4096, "block_bytes": b, "l_mw": t} for b, t in ((8, 2.304), (64, 0.512))
    ]
    sized = machine(log3p={"point": points})
    assert l_mw(8192, sized, block=8, stride=4096) == pytest.approx(2.304)
    assert l_mw(8192, sized, block=64, stride=4096) == pytest.approx(0.512)
    # 256 blocks of 32 B at 3 ns; and beyond the largest block, 8 of 1 KiB at 34 ns.
    assert l_mw(8192, sized, block=32, stride=4096) == pytest.approx(0.768)
    assert l_mw(8192, sized, block=1024, stride=4096) == pytest.approx(0.272)
    # Never more than the largest block's, nor below 0: 8 B blocks that are the cheaper ones say nothing of larger ones.
    points[0]["l_mw"] = 0.1
    assert l_mw(8192, machine(log3p={"point": points}), block=1024, stride=4096) == pytest.approx(0.512)
    # No stated block: the smallest.
    assert l_mw(8192, sized, stride=4096) == pytest.approx(2.304)


def test_a_table_without_stated_blocks_is_read_at_the_size() -> None:
    bare = strided([(KIB, 64, 1), (2 * KIB, 64, 2)], block=None)
    assert l_mw(1536, bare, block=32, stride=64) == 1.5
    assert l_mw(512, bare, stride=64) == 0.5


def test_a_burst_takes_its_own_overhead() -> None:
    points = [{"size_bytes": s, "burst": b, "o": o} for s, b, o in ((8, 1, 2), (8, 4, 1), (1032, 1, 4), (1032, 4, 3))]
    found = costs(machine(overlap={"o": points}), 520, burst=np.array([1, 2, 4, 64]))
    # Alone LogGP's o_s; halfway between 8 and 1032 B 3 and 2 us; 2 is halfway from 1 to 4 in log2.
    np.testing.assert_allclose(np.asarray(found.o_s) / US, [1, 2.5, 2, 2])


def test_the_processor_waits_for_the_dma_of_long_messages_alone() -> None:
    alewife = native_parameters(replay_parameters(load_machine("alewife")))
    cycle = 50_000
    found = message_costs(alewife, np.array([8, 100, 2000]))
    np.testing.assert_allclose(np.asarray(found.o_s) / cycle, [15, 25, 25])
    # 129 + 8/2 + 0.3625 B - (B - 1)/2: 119.75 at 100 B, hidden behind the bytes at 2000 B.
    np.testing.assert_allclose(np.asarray(found.o_r) / cycle, [122, 119.75, 0], rtol=1e-12)
    np.testing.assert_allclose(np.asarray(found.total)[1:] / cycle, [202.25, 1032.5], rtol=1e-12)


def test_hops_beyond_the_mean_add_their_latency() -> None:
    # 4 x 8 mesh: 4 hops to another node on average, 0.8 cycles each.
    alewife = native_parameters(replay_parameters(load_machine("alewife")))
    found = message_costs(alewife, 8, hops=np.array([-1.0, 4.0, 9.0, 1.0]))
    np.testing.assert_allclose(np.asarray(found.L) / 50_000, [21, 21, 25, 18.6])


def test_log3p_s_terms_add_up_to_its_equation() -> None:
    points = [{"size_bytes": s, "o_mw": o, "o_net": n, "T_mem": m} for s, o, n, m in ((1, 2, 10, 1), (1025, 4, 20, 3))]
    ours = replay_parameters(machine(log3p={"point": points}))
    log3p = native_parameters(ours, model=MessageModel.log3p)
    found = message_costs(log3p, 1025)
    assert (found.o_s, found.L, found.serialization, found.o_r) == (2 * US, 10 * US, 10 * US, 2 * US)
    assert message_costs(log3p, 1025, locality="self").total == 7 * US
    with pytest.raises(InputError, match=r"machine ours has no o_mw .* o_net: log3P .*; calibrate"):
        native_parameters(replay_parameters(machine()), model=MessageModel.log3p)


def test_a_size_falls_into_the_first_range_that_reaches_it() -> None:
    ranges = [{"up_to_bytes": 8, "L": 1, "o_s": 1, "o_r": 1, "G": 0}, {"L": 2, "o_s": 1, "o_r": 1, "G": 0}]
    ours = native_parameters(replay_parameters(machine(loggp={"other_node": {"range": ranges}})))
    assert range_of(ours, np.array([0, 8, 8.5, 9, 1e12])).tolist() == [0, 0, 1, 1, 1]


# The oracle: plain Python, one message at a time, from the machine file's own numbers.


def read_line(points: list[tuple[float, float]], x: float) -> float:
    points = sorted(points)
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    if len(points) == 1:
        return points[0][1]
    (x0, y0), (x1, y1) = points[-2:]
    return y1 + max(0.0, (y1 - y0) / (x1 - x0)) * (x - x1)


def oracle_l_mw(points: list[tuple[int, int, float]], measured: int, size: float, block: float, stride: float) -> float:
    block = block or measured
    if stride <= block or size <= block:
        return 0.0
    blocks = size / block
    strides = sorted({d for _, d, _ in points})
    lines = {d: [(float(measured), 0.0), *((float(s), t) for s, e, t in points if e == d)] for d in strides}
    read = {d: read_line(lines[d], blocks * measured) for d in strides}
    near = min(max(stride, strides[0]), strides[-1])
    below = max(d for d in strides if d <= near)
    above = min(d for d in strides if d >= near)
    if below == above:
        return read[below]
    share = (log2(near) - log2(below)) / (log2(above) - log2(below))
    return read[below] + share * (read[above] - read[below])


grid = st.sampled_from([16, 64, 256, 1024])
micros = st.integers(0, 10**6).map(lambda n: n / 1000)


@st.composite
def machines(draw: st.DrawFn) -> tuple[Machine, dict[str, list[dict[str, float]]], list[tuple[int, int, float]]]:
    classes: dict[str, list[dict[str, float]]] = {}
    for name in draw(st.lists(st.sampled_from(LOCALITIES), min_size=1, unique=True)):
        ends = sorted(draw(st.sets(st.integers(0, 10**6), max_size=3)))
        classes[name] = [
            {
                **({} if end is None else {"up_to_bytes": end}),
                **{p: draw(micros) for p in ("L", "o_s", "o_r", "g")},
                "G": draw(micros) / 1000,
                "o_s_per_byte": draw(micros) / 10**6,
                "o_r_per_byte": draw(micros) / 10**6,
            }
            for end in [*ends, None]
        ]
    keys = draw(st.lists(st.tuples(st.integers(9, 10**6), grid), min_size=2, max_size=8, unique=True))
    points = [(s, d, draw(micros)) for s, d in keys]
    log3p = [{"size_bytes": s, "stride_bytes": d, "block_bytes": 8, "l_mw": t} for s, d, t in points]
    ours = machine(loggp={name: {"range": r} for name, r in classes.items()}, log3p={"point": log3p})
    return ours, classes, points


@pytest.mark.slow
@given(machines(), st.integers(1, 10**8), st.integers(0, 10**5), st.integers(0, 10**5), st.sampled_from(LOCALITIES))
def test_oracle_predict_and_the_split_s_cost_are_one(
    drawn: tuple[Machine, dict[str, list[dict[str, float]]], list[tuple[int, int, float]]],
    size: int,
    block: int,
    stride: int,
    locality: str,
) -> None:
    ours, classes, points = drawn
    found = costs(ours, size, locality=locality, block=block, stride=stride)

    order = [*LOCALITIES[LOCALITIES.index(locality) :], *reversed(LOCALITIES[: LOCALITIES.index(locality)])]
    ranges = classes[next(name for name in order if name in classes)]
    r = next(r for r in ranges if size <= r.get("up_to_bytes", size))
    expected = {
        "o_s": r["o_s"] + r["o_s_per_byte"] * size,
        "o_r": r["o_r"] + r["o_r_per_byte"] * size,
        "L": r["L"],
        "serialization": (size - 1) * r["G"],
        "service": max(r["g"], size * r["G"]),
        "o_control": ranges[0]["o_s"],
        "l_mw": oracle_l_mw(points, 8, size, block, stride),
    }
    for name, value in expected.items():
        assert float(np.asarray(getattr(found, name))) == pytest.approx(value * US, abs=1, rel=1e-9), name

    given = {"B": float(size), "block": float(block), "stride": float(stride)}
    loggp = MODELS["loggp"].predict(
        B=float(size), **machine_values(MODELS["loggp"], ours, {"B": float(size)}, locality=locality)
    )
    assert loggp["T"] == pytest.approx(found.o_s + found.L + found.serialization + found.o_r, abs=1, rel=1e-12)
    assert loggp["interface_time"] == pytest.approx(found.service, abs=1, rel=1e-12)
    log3p = machine_values(MODELS["log3p"], ours, given, locality=locality)
    assert log3p["l_mw"] == pytest.approx(found.l_mw, abs=1, rel=1e-12)
