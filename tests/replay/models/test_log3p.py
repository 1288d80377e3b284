"""log_3P: Titan's printed point, and extraction from measurements."""

from __future__ import annotations

import pytest
from hypothesis import given

from logpost.replay.models import ModelError, log3p

from .strategies import times


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
