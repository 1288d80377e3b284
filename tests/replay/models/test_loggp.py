"""LogGP and LogGOPS: bytes, properties, and their relation to LogP."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from logpost.replay.models import LogGPParameters, ModelError, loggops, loggp, logp
from logpost.replay.models.units import MICROSECOND

from .strategies import counts, gaps_per_byte, parameters, sizes, times

P = LogGPParameters(L=5, o_s=1, o_r=2, g=3, G=0.5, unit=MICROSECOND)


def test_a_message_of_eleven_bytes() -> None:
    assert loggp.one_message(P, 11) == 13  # 1 + 5 + 10 * 0.5 + 2
    assert loggp.messages(P, 11, 3) == 29  # 1 + 3 * 5 + 2 * 3 + 5 + 2
    assert loggp.bandwidth(P, 26) == pytest.approx(26 / 20.5)  # 1 + 5 + 12.5 + 2


def test_a_column_of_sizes_gives_a_column_of_times() -> None:
    sizes = pl.Series("bytes", [1, 2, 1025])
    np.testing.assert_allclose(loggp.one_message(P, sizes), [8.0, 8.5, 520.0])  # 8 + (B-1)/2
    frame = pl.DataFrame({"bytes": sizes}).with_columns(pl.Series("time_us", np.asarray(loggp.one_message(P, sizes))))
    assert frame["time_us"].to_list() == [8.0, 8.5, 520.0]


def test_an_empty_message_costs_what_its_header_costs() -> None:
    assert loggp.one_message(P, 0) == loggp.one_message(P, 1) == 8
    assert loggp.bandwidth(P, 0) == 0.0


def test_bandwidth_without_any_cost() -> None:
    free = LogGPParameters(L=0, o_s=0, o_r=0, unit=MICROSECOND)
    assert loggp.bandwidth(free, 1) == float("inf")
    assert loggp.bandwidth(free, 0) == 0.0


@given(parameters(), counts)
def test_one_byte_is_logp(p: LogGPParameters, n: float) -> None:
    assert loggp.one_message(p, 1) == logp.one_message(p)
    assert loggp.messages(p, 1, n) == logp.messages(p, n)


@given(parameters(), sizes, times, gaps_per_byte)
def test_monotone_in_every_parameter_and_in_the_size(
    p: LogGPParameters, B: float, more: float, per_byte: float
) -> None:
    base = loggp.one_message(p, B), loggp.messages(p, B, 7), loggops.point_to_point(p, B)
    for name, by in (("L", more), ("o_s", more), ("o_r", more), ("g", more), ("G", per_byte)):
        q = replace(p, **{name: getattr(p, name) + by})
        slower = loggp.one_message(q, B), loggp.messages(q, B, 7), loggops.point_to_point(q, B)
        assert all(b >= a >= 0.0 for a, b in zip(base, slower, strict=True))
    assert loggp.one_message(p, B + more) >= base[0]


@given(parameters(), sizes)
def test_loggops_without_its_own_letters_is_loggp(p: LogGPParameters, B: float) -> None:
    assert loggops.point_to_point(replace(p, O=0.0), B) == loggp.one_message(p, B)


def test_rendezvous_above_the_eager_limit() -> None:
    p = replace(P, O=0.25, S=100)
    # eager: 1 + 5 + 99 * 0.5 + 2 + 2 * 100 * 0.25 = 107.5
    assert loggops.point_to_point(p, 100) == 107.5
    # one byte more: + 0.5 on the wire, + 0.5 on the CPUs, and the handshake 2 (5 + 1)
    assert loggops.point_to_point(p, 101) == 107.5 + 1.0 + 12.0


def test_there_is_no_half_of_a_message() -> None:
    with pytest.raises(ModelError, match=r"n = 2.5 must be a whole number"):
        loggp.messages(LogGPParameters(L=1, o_s=1, o_r=1, g=1, G=1, unit=MICROSECOND), 8, 2.5)
