"""log_3P: Titan's printed point, extraction, tables over size and stride, stages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import Log3P, Log3PTable, Messages, ModelError, log3p
from logpost.replay.models.tables import Line, Surface
from logpost.replay.models.units import MICROSECOND

from .strategies import times

KB = 1024.0
TABLE = Log3PTable.from_points(
    contiguous=[(1, 2, 10), (KB, 4, 20), (16 * KB, 29, 131)],
    strided=[(KB, 64, 8), (16 * KB, 64, 100), (KB, 1024, 30), (16 * KB, 1024, 420)],
    unit=MICROSECOND,
)


def test_titan_16_kb_with_stride_1_kb() -> None:
    """Printed: o_mw 29, l_mw 420, T_mem 3, o_net 131 us -> 580 remote, 452 to oneself."""
    assert log3p.point_to_point(29, 420, 131) == 580
    assert log3p.send_to_self(29, 420, 3) == 452


def test_extraction_gives_titan_s_parameters_back() -> None:
    # T00 = 29 + 3, T01 = 29 + 131, T00(s,d) = 29 + 420 + 3
    assert log3p.extract(T00=32, T01=160, T00_strided=452, T_mem=3) == log3p.Measured(o_mw=29, l_mw=420, o_net=131)


@given(times, times, times, times)
def test_extraction_inverts_the_model(o_mw: float, l_mw: float, o_net: float, T_mem: float) -> None:
    # Whole numbers, so that the differences are exact.
    o_mw, l_mw, o_net, T_mem = (float(round(t)) for t in (o_mw, l_mw, o_net, T_mem))
    found = log3p.extract(
        T00=o_mw + T_mem,
        T01=o_mw + o_net,
        T00_strided=float(log3p.send_to_self(o_mw, l_mw, T_mem)),
        T_mem=T_mem,
    )
    assert (found.o_mw, found.l_mw, found.o_net) == (o_mw, l_mw, o_net)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"T00": 2.0}, r"o_mw = T00\(s\) - T_mem = -1 is negative: the memory copy is slower"),
        ({"T01": 28.0}, r"o_net = T01\(s\) - o_mw = -1 is negative: the remote send is faster"),
        ({"T00_strided": 31.0}, r"l_mw = T00\(s,d\) - o_mw - T_mem = -1 is negative: strided data is faster"),
    ],
)
def test_measurements_that_do_not_belong_together(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        log3p.extract(**{"T00": 32.0, "T01": 160.0, "T00_strided": 452.0, "T_mem": 3.0, **changes})


def test_at_the_points_of_the_table() -> None:
    assert TABLE.point_to_point(16 * KB, 1024) == 580
    assert TABLE.point_to_point(KB, 64) == 32  # 4 + 8 + 20
    np.testing.assert_allclose(TABLE.point_to_point(np.array([KB, 16 * KB]), np.array([0.0, 1024.0])), [24, 580])


def test_between_the_points() -> None:
    # Halfway in size (8.5 KB): o_mw 16.5, o_net 75.5; stride 256 is halfway from 64 to 1024 in log2: (54 + 225)/2.
    assert TABLE.o_mw(8.5 * KB) == pytest.approx(16.5)
    assert TABLE.latency_of_stride(8.5 * KB, 256) == pytest.approx(139.5)
    assert TABLE.point_to_point(8.5 * KB, 256) == pytest.approx(231.5)


@given(st.floats(1, 1e6))
def test_unit_stride_is_the_contiguous_form(s: float) -> None:
    assert TABLE.latency_of_stride(s, 0) == 0.0
    assert TABLE.point_to_point(s, 0) == TABLE.o_mw(s) + TABLE.o_net(s)
    assert TABLE.point_to_point(s, 64) >= TABLE.point_to_point(s)


def test_blocks_that_lie_side_by_side_are_contiguous() -> None:
    blocks = Log3PTable.from_points(
        contiguous=[(KB, 4, 20)], strided=[(KB, 16, 5), (KB, 64, 8)], unit=MICROSECOND, block=8
    )
    # Doubles 8 B apart have no gaps; from 16 B on the table holds.
    np.testing.assert_allclose(blocks.point_to_point(KB, np.array([0.0, 1.0, 8.0, 16.0, 64.0])), [24, 24, 24, 29, 32])


def test_beyond_the_table_costs_per_byte_persist() -> None:
    # Last segment of o_net: 111 us per 15 KB; at 31 KB 131 + 111. Below the first size the first value holds.
    assert TABLE.o_net(31 * KB) == pytest.approx(242)
    assert TABLE.o_net(0) == 10


def test_a_falling_last_segment_is_not_continued() -> None:
    falling = Line.through([(1, 10), (2, 1)], what="o")
    assert falling(100) == 1.0
    assert Line.through([(1, 10), (2, 1)], what="o", extrapolate=False)(100) == 1.0


def test_crossover_between_middleware_and_network() -> None:
    """LOG3P reads crossovers off its graphs (512 KB, 32 KB, 8 KB); here from a table with known ones."""
    # o_mw 1 -> 100, o_net 50 throughout: linear in between, equal at 1 + 1023 * 49/99.
    table = Log3PTable.from_points(
        contiguous=[(1, 1, 50), (1024, 100, 50)], strided=[(1, 16, 60), (1024, 16, 60)], unit=MICROSECOND
    )
    assert table.crossover() == pytest.approx(1 + 1023 * 49 / 99)
    assert table.crossover(16) == 1.0  # strides move it to the left: here below the table
    assert TABLE.crossover() == float("inf")  # o_mw < o_net throughout
    assert TABLE.crossover(1024) == 1.0  # 2 + 30 > 10 at the first size


def test_strided_messages_need_a_table() -> None:
    bare = Log3PTable.from_points(contiguous=[(1, 2, 10)], unit=MICROSECOND)
    assert bare.point_to_point(1) == 12
    with pytest.raises(ModelError, match=r"no l_mw over size and stride: strided messages cannot be"):
        bare.point_to_point(1, 64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Line.through([], what="o_mw"), r"o_mw: the table has no points"),
        (lambda: Line.through([(1, 2), (1, 3)], what="o_mw"), r"o_mw: two values for the same size 1"),
        (lambda: Line.through([(1, -2)], what="o_mw"), r"o_mw = -2 must be at least 0"),
        (lambda: Surface.through([], what="l_mw"), r"l_mw: the table has no points"),
        (lambda: Surface.through([(1, 0, 2)], what="l_mw"), r"l_mw: the second axis must be positive, not 0"),
    ],
)
def test_bad_tables(call: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()  # type: ignore[operator]


def test_stages_split_the_middleware_evenly() -> None:
    stages = Log3P(TABLE).stages(Messages(size=np.array([16 * KB, 16 * KB]), stride=np.array([0.0, 1024.0])))
    np.testing.assert_allclose(stages.send_overhead, [14.5, 14.5])
    np.testing.assert_allclose(stages.send_middleware, [0, 210])
    np.testing.assert_allclose(stages.recv_middleware, [0, 210])
    np.testing.assert_allclose(stages.latency, [10, 10])  # o_net of the first byte
    np.testing.assert_allclose(stages.serialization, [121, 121])
    np.testing.assert_allclose(stages.total, [160, 580])
