"""log_nP: special cases as chains, and the number of terms of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import ModelError, log3p, loggp, lognp, logp
from logpost.replay.models.lognp import Chain

from .strategies import parameters, sizes, times


def test_equation_1() -> None:
    # max(3, 5) + 1 + max(4, 2) + 0 = 10
    assert Chain(o=(3, 4), l=(1, 0), g=(5, 2)).time() == 10
    assert Chain(o=(3, 4), l=(1, 0)).time() == 8  # g = o
    np.testing.assert_allclose(Chain(o=(np.array([1.0, 2.0]), 4), l=(1, 0)).time(), [6, 7])


@given(parameters(), sizes, times)
def test_the_logp_family_are_chains_of_three(p: object, k: float, C: float) -> None:
    assert lognp.logp(p).time() == pytest.approx(logp.one_message(p))  # type: ignore[arg-type]
    assert lognp.loggp(p, k).time() == pytest.approx(loggp.one_message(p, k))  # type: ignore[arg-type]
    assert lognp.lopc(p, C).time() == pytest.approx(logp.one_message(p) + C)  # type: ignore[arg-type]
    assert {lognp.logp(p).n, lognp.loggp(p, k).n, lognp.lopc(p, C).n} == {3}  # type: ignore[arg-type]


@given(times, times, times)
def test_log3p_is_a_chain_of_three(o_mw: float, l_mw: float, o_net: float) -> None:
    chain = lognp.log3p(o_mw, l_mw, o_net)
    assert chain.n == 3
    assert chain.time() == pytest.approx(log3p.point_to_point(o_mw, l_mw, o_net))


def test_pram_costs_one() -> None:
    assert lognp.pram().time() == 1
    assert lognp.pram().n == 1


def test_memory_logp() -> None:
    chain = lognp.memory_logp(source=2, source_strided=3, L=10, target=1, target_strided=4)
    assert chain.time() == 20  # {2 + 3} + {10} + {1 + 4}
    assert chain.n == 3


def test_copy_transfer_takes_every_hop_at_its_rate() -> None:
    # 1000 B over 100, 50, 100 B/us: 10 + 20 + 10; strided at the ends 20 B/us: 50 + 20 + 50.
    assert lognp.copy_transfer(1000, [100, 50, 100]).time() == 40
    strided = lognp.copy_transfer(1000, [100, 50, 100], [20, 50, 20])
    assert strided.time() == 120
    assert strided.l == (40, 0, 40)


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
        (lambda: lognp.copy_transfer(10, [1, 1], [1]), r"2 contiguous and 1 strided bandwidths"),
        (lambda: lognp.copy_transfer(10, [1], [2]), r"strided_0 is above bandwidth_0"),
        (lambda: lognp.copy_transfer(10, [0]), r"bandwidth_0 = 0 must be greater than 0"),
        (lambda: lognp.terms([1], []), r"1 size counts and 0 distribution counts"),
        (lambda: lognp.terms([1], [-1]), r"cannot be negative"),
        (lambda: lognp.complexity("bsp"), r"no complexity known for 'bsp': choose lognp"),
    ],
)
def test_bad_chains(call: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()  # type: ignore[operator]
