"""log_nP: special cases as chains, and the number of terms of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import ModelError, log3p, loggp, lognp, logp
from logpost.replay.models.lognp import Chain
from logpost.replay.models.parameters import LogGPParameters

from .strategies import parameters, sizes, times


def test_equation_1() -> None:
    # max(3, 5) + 1 + max(4, 2) + 0 = 10
    assert Chain(o=(3, 4), l=(1, 0), g=(5, 2)).time() == 10
    assert Chain(o=(3, 4), l=(1, 0)).time() == 8  # g = o
    np.testing.assert_allclose(Chain(o=(np.array([1.0, 2.0]), 4), l=(1, 0)).time(), [6, 7])


@given(parameters(), sizes, times)
def test_the_logp_family_are_chains_of_three(p: LogGPParameters, k: float, C: float) -> None:
    none = (0.0, 0.0, 0.0)
    assert Chain((p.o_s, p.L, p.o_r), none).time() == pytest.approx(logp.one_message(p))
    longer = p.o_s + loggp.serialization(p, k)
    assert Chain((longer, p.L, p.o_r), none).time() == pytest.approx(loggp.one_message(p, k))
    assert Chain((p.o_s, p.L, C + p.o_r), none).time() == pytest.approx(logp.one_message(p) + C)


@given(times, times, times)
def test_log3p_is_a_chain_of_three(o_mw: float, l_mw: float, o_net: float) -> None:
    chain = Chain((o_mw / 2, o_net, o_mw / 2), (l_mw / 2, 0.0, l_mw / 2))
    assert chain.time() == pytest.approx(log3p.point_to_point(o_mw, l_mw, o_net))


@pytest.mark.parametrize(
    ("model", "counts", "terms"),
    [
        ("logp", {}, 3),
        ("loggp", {}, 4),  # S_0 = 2
        ("lopc", {"contention_terms": 5}, 8),  # 3 + |C_n|
        ("logpc", {"contention_terms": 1}, 4),
        ("pram", {}, 1),
        ("log3p", {"S": 1, "D": 1}, 6),  # the FFT of section 4.3.4
        ("log3p", {"S": 3, "D": 4}, 45),  # 3 S (1 + D)
        ("memory-logp", {"S": 3, "D": 4}, 45),
        ("lognp", {"N": 5, "S": 3, "D": 4}, 75),  # N S (1 + D)
        ("copy-transfer", {"N": 5, "S": 3, "D": 4}, 75),
    ],
)
def test_terms(model: str, counts: dict[str, int], terms: int) -> None:
    assert lognp.complexity(model, **counts) == terms


@given(st.integers(1, 10), st.integers(1, 20), st.integers(0, 20))
def test_equal_hops_are_n_s_1_plus_d(N: int, S: int, D: int) -> None:
    assert lognp.terms([S] * N, [D] * N) == N * S * (1 + D)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Chain(o=(), l=()), r"at least one implicit transfer"),
        (lambda: Chain(o=(1,), l=(1, 2)), r"o, l and g differ in length \(1, 2, 0\)"),
        (lambda: Chain(o=(1,), l=(-1,)), r"l_0 = -1 must be at least 0"),
        (lambda: lognp.terms([1], []), r"1 size counts and 0 distribution counts"),
        (lambda: lognp.terms([1], [-1]), r"cannot be negative"),
        (lambda: lognp.complexity("bsp"), r"no complexity known for 'bsp': choose lognp"),
    ],
)
def test_bad_chains(call: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()  # type: ignore[operator]
