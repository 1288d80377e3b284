"""The overlap model: each equation by hand, constraints, monotony in b, and what the paper says of (10) and (11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from logpost.replay.models import MODELS, ModelError, OverlapProfile, overlap
from logpost.replay.models.overlap import Decomposition
from logpost.replay.models.units import MICROSECOND

# 4096 B in 8 messages of 512 B, bursts of 4: N = 8, n_b = 2. Communication 4096 us/10 = 409.6, computation 160.
COMM = Decomposition(V=4096, S=512, b=4, t_V=160, o=2, L=10, G_S=0.1, G_V=0.1)
COMP = replace(COMM, t_V=800)
FORMS: tuple[overlap.Form, ...] = ("tight", "pipelined", "balanced")


def test_decomposition() -> None:
    assert (COMM.N, COMM.n_b, COMM.t_S) == (8, 2, 20)  # t_S = 160/8
    assert COMM.communication == pytest.approx(409.6)
    assert not COMM.computation_bound
    assert COMP.computation_bound


def test_equations_by_hand() -> None:
    assert overlap.blocking(COMM) == pytest.approx(8 * (2 + 10 + 51.2) + 160)
    assert overlap.communication_bound_tight(COMM) == pytest.approx(12 * 2 + 409.6 + 2 * 20)  # (1)
    assert overlap.communication_bound_pipelined(COMM) == pytest.approx(12 + 409.6 + 20)  # (4)
    assert overlap.balanced_pipelined(COMM) == pytest.approx(12 * 2 * 160 / 409.6 + 409.6 + 20)  # (5)
    assert overlap.computation_bound_tight(COMP) == pytest.approx((12 + 51.2 + 4 * 100) * 2)  # (6)
    assert overlap.computation_bound_pipelined(COMP) == pytest.approx(63.2 + 4 * 100 * 2 + 0)  # (7), n_b = 2
    # (7) with bursts of 2: n_b = 4, the initiations of all but two bursts of 2 show: 2 * 2 * (4 - 2)
    assert overlap.computation_bound_pipelined(replace(COMP, b=2)) == pytest.approx(63.2 + 2 * 100 * 4 + 2 * 2 * 2)


def test_the_regime_selects_the_equation() -> None:
    assert overlap.point_to_point(COMM, "tight") == overlap.communication_bound_tight(COMM)
    assert overlap.point_to_point(COMP, "tight") == overlap.computation_bound_tight(COMP)
    assert overlap.point_to_point(COMM, "pipelined") == overlap.communication_bound_pipelined(COMM)
    assert overlap.point_to_point(COMP, "pipelined") == overlap.computation_bound_pipelined(COMP)
    assert overlap.equation(COMM, "balanced") == overlap.balanced_pipelined(COMM)
    assert overlap.point_to_point(COMP, "balanced") == overlap.computation_bound_pipelined(COMP)
    both = replace(COMM, t_V=np.array([160.0, 800.0]))
    for form in FORMS:
        one = np.array([overlap.point_to_point(d, form) for d in (COMM, COMP)])
        np.testing.assert_allclose(np.asarray(overlap.point_to_point(both, form)), one)


def test_five_is_a_time_where_communication_and_computation_are_alike() -> None:
    # t_V = 400 against 409.6: (5) is 12 * 2 * 400/409.6 + 409.6 + 50 = 483.04, above (4), 12 + 409.6 + 50 = 471.6
    assert overlap.point_to_point(replace(COMM, t_V=400)) == pytest.approx(12 * 2 * 400 / 409.6 + 459.6)
    # t_V = 160: 12 * 2 * 160/409.6 = 9.4 of initiation and latency, less than the o + L = 12 of the first message
    assert overlap.balanced_pipelined(COMM) < 12 + 409.6 + 20
    assert overlap.point_to_point(COMM) == pytest.approx(12 + 409.6 + 20)


@pytest.mark.parametrize(
    ("given", "five", "time"),
    [
        # One burst of 32: (5) is 6 * 500/209.7 + 209.7 + 15.6, without the computation. (7) is 1 + 5 + 6.55 + 500, but
        # the processor computes and initiates 32 messages: 500 + 32.
        ({"V": 2**20, "S": 2**15, "b": 32, "t_V": 500, "o": 1, "L": 5, "G_S": 2e-4, "G_V": 2e-4}, 239.645, 532),
        # 16 bursts of one: (5) takes 11 * 16 * 1000/1.024; (7) is 1 + 10 + 0.064 + 1000 + 14
        ({"V": 1024, "S": 64, "b": 1, "t_V": 1000, "o": 1, "L": 10, "G_S": 1e-3, "G_V": 1e-3}, 171_938.5, 1025.064),
    ],
)
def test_computation_bound_programs_take_seven(given: dict[str, float], five: float, time: float) -> None:
    d = Decomposition(**given)
    assert overlap.balanced_pipelined(d) == pytest.approx(five, rel=1e-5)
    assert overlap.point_to_point(d) == pytest.approx(time)
    assert d.t_V <= overlap.point_to_point(d) <= overlap.blocking(d)
    # OVL chooses by (5) all the same.
    assert overlap.ranking(d) == overlap.balanced_pipelined(d)


def test_no_time_is_below_that_of_the_parts() -> None:
    # 8 messages of 512 B at twice the G of the whole: 819.2 of link for 500 of computation, 62.5 for each message. By
    # G_V V = 409.6 the program is computation bound, (7) 12 + 102.4 + 500; its messages are not: 12 + 819.2 + 62.5.
    slow = replace(COMM, t_V=500, G_S=0.2)
    assert overlap.computation_bound_pipelined(slow) == pytest.approx(614.4)
    assert overlap.point_to_point(slow) == overlap.point_to_point(slow, "pipelined") == pytest.approx(893.7)
    # Tight, two bursts: (1) 12 * 2 + 819.2 + 2 * 62.5, (6) (12 + 102.4 + 250) * 2
    assert overlap.point_to_point(slow, "tight") == pytest.approx(968.2)
    # At half the G the other way round: 320 of computation below 409.6, but 40 for each message of 25.6.
    fast = replace(COMM, t_V=320, G_S=0.05)
    assert overlap.communication_bound_pipelined(fast) == pytest.approx(12 + 204.8 + 40)
    assert overlap.point_to_point(fast, "pipelined") == pytest.approx(12 + 25.6 + 320)
    # (2) fails, 409.6 - 160 < 8 * 50: the processor's 160 + 400 is more than (4), 60 + 409.6 + 20.
    assert overlap.point_to_point(replace(COMM, o=50), "pipelined") == pytest.approx(560)


def test_short_messages_may_carry_their_bytes_within_the_overhead() -> None:
    # G_S = 0 in 512 messages of 8 B, o = 2, t_V = 160 against G_V V = 409.6: the processor's 160 + 512 * 2. By (5)
    # 12 * 128 * 160/409.6 + 0.3125, and blocking 512 * 12 + 160. (2) fails: 249.6 of the link are left for 1024.
    short = replace(COMM, S=8, G_S=0)
    assert overlap.balanced_pipelined(short) == pytest.approx(600.3125)
    assert overlap.point_to_point(short) == pytest.approx(1184)
    assert overlap.blocking(short) == pytest.approx(6304)
    assert not overlap.constraints(short).hides_initiation


def test_one_burst_has_no_negative_term() -> None:
    # (7) with b = N = 8: n_b - 2 = -1 would take o b = 16 us away.
    one = replace(COMP, b=8)
    assert overlap.computation_bound_pipelined(one) == pytest.approx(63.2 + 800)


def test_peers() -> None:
    one = overlap.communication_bound_tight(COMM)
    burst = 4 * 51.2
    assert overlap.with_peers(COMM, "point-to-point", 4, "tight") == pytest.approx(one)
    assert overlap.with_peers(COMM, "multi-contiguous", 4, "tight") == pytest.approx(4 * one)
    assert overlap.with_peers(COMM, "multi-interleaved", 4, "tight") == pytest.approx(4 * one)  # at its own G
    assert overlap.with_peers(COMM, "end-point", 4, "tight") == pytest.approx(one + 3 * burst)  # (9)
    assert overlap.with_peers(COMM, "all-to-all-same", 4, "tight") == pytest.approx(4 * (one + 3 * burst))
    # All the bytes of 64 peers need 64 * 409.6 = 26214.4 through one link: as printed (9) counts 63 bursts only.
    many = overlap.with_peers(COMM, "end-point", 64, "tight")
    assert many == pytest.approx(one + 63 * burst)
    assert many < 64 * 409.6
    # (10), and (11) with n_b b G S: on (5), here with t_V = 400 (483.04, see above), or on (7) where computation bound.
    alike = replace(COMM, t_V=400)
    for d, base in ((alike, overlap.balanced_pipelined(alike)), (COMP, overlap.computation_bound_pipelined(COMP))):
        for form in FORMS:
            assert overlap.with_peers(d, "all-to-all-contiguous", 4, form) == pytest.approx(base + 3 * 2 * burst)
            assert overlap.with_peers(d, "all-to-all-interleaved", 4, form) == pytest.approx(base + 409.6)


def test_ranking_is_by_the_equations_as_printed() -> None:
    burst = 4 * 51.2
    for d in (COMM, COMP):
        five = overlap.balanced_pipelined(d)
        assert overlap.ranking(d) == five
        assert overlap.ranking(d, "multi-contiguous", 4) == pytest.approx(4 * five)
        assert overlap.ranking(d, "end-point", 4) == pytest.approx(five + 3 * burst)
        assert overlap.ranking(d, "all-to-all-contiguous", 4, "tight") == pytest.approx(five + 3 * 2 * burst)
        assert overlap.ranking(d, "all-to-all-interleaved", 4, "tight") == pytest.approx(five + 409.6)
    # With o = 50 the printed (7) has two bursts' initiations for nothing: 50 + 10 + 51.2 + 800.
    costly = replace(COMP, o=50)
    assert overlap.ranking(costly, form="pipelined") == pytest.approx(911.2)
    assert overlap.point_to_point(costly, "pipelined") == pytest.approx(800 + 8 * 50)


def test_constraints_one_by_one() -> None:
    # (2): 409.6 - 160 = 249.6 > 8 * 2; (3): 10 + 51.2 > 3 * 2; (8): 4 < 32; 2048 B outstanding.
    assert overlap.constraints(COMM, 32, 4 * 2**20).all()
    assert not overlap.constraints(replace(COMM, o=32)).hides_initiation  # 249.6 < 256
    # (2) counts the whole volume at its own bandwidth: 0.05 * 4096 - 160 = 44.8 against 44 and 45.6
    assert overlap.constraints(replace(COMM, G_V=0.05, o=5.5)).hides_initiation
    assert not overlap.constraints(replace(COMM, G_V=0.05, o=5.7)).hides_initiation
    assert not overlap.constraints(replace(COMM, o=21)).hides_burst  # 61.2 < 63
    assert not overlap.constraints(COMM, HD=4).below_queue_depth  # b < HD, not <=
    assert not overlap.constraints(COMM, outstanding_bytes=2047).below_outstanding
    assert overlap.constraints(COMM, outstanding_bytes=2048).below_outstanding


def test_computation_bound_programs_hide_everything_anyway() -> None:
    held = overlap.constraints(replace(COMP, o=1000), HD=32)
    assert held.hides_initiation
    assert held.hides_burst


positive = st.floats(0.01, 1e4)


@st.composite
def decompositions(draw: st.DrawFn) -> Decomposition:
    messages = 2 ** draw(st.integers(1, 13))
    V = float(messages * draw(st.integers(1, 2**10)))
    return Decomposition(
        V=V,
        S=V / messages,
        b=1.0,
        t_V=draw(positive),
        o=draw(positive),
        L=draw(positive),
        G_S=draw(st.floats(1e-4, 1)),
        G_V=draw(st.floats(1e-4, 1)),
    )


@given(decompositions(), st.integers(0, 12))
def test_longer_bursts_never_cost_more_at_constant_overhead(d: Decomposition, power: int) -> None:
    """OVL: "the total time monotonically decreases with the increase in burst length"; holds for (1), (4) to (7)."""
    b = 2.0**power
    assume(2 * b <= d.N)
    for form in (
        overlap.communication_bound_tight,
        overlap.communication_bound_pipelined,
        overlap.balanced_pipelined,
        overlap.computation_bound_tight,
    ):
        assert form(replace(d, b=2 * b)) <= form(replace(d, b=b)) * (1 + 1e-12)
    # (7) for as long as there are two bursts: with n_b < 2 the clamp has taken over.
    if d.N / (2 * b) >= 2:
        seven = overlap.computation_bound_pipelined
        assert seven(replace(d, b=2 * b)) <= seven(replace(d, b=b)) * (1 + 1e-12)


@given(decompositions(), st.integers(2, 512), st.floats(0, 100))
def test_times_are_positive_and_grow_with_the_machine_s_costs(d: Decomposition, P: int, more: float) -> None:
    for topology in overlap.TOPOLOGIES:
        base = overlap.with_peers(d, topology, P)
        assert base > 0
        for change in ({"o": d.o + more}, {"L": d.L + more}, {"G_S": d.G_S + more}):
            assert overlap.with_peers(replace(d, **change), topology, P) >= base * (1 - 1e-12)


@given(decompositions(), st.integers(0, 13), st.integers(1, 512), st.sampled_from(FORMS))
def test_no_time_is_below_the_computation_or_the_bytes_or_above_blocking(
    d: Decomposition, power: int, P: int, form: overlap.Form
) -> None:
    d = replace(d, b=min(2.0**power, d.N))
    floor = max(d.t_V, d.communication, d.N * d.o) * (1 - 1e-12)
    for topology in overlap.TOPOLOGIES:
        assert overlap.with_peers(d, topology, P, form) >= floor
    assert overlap.point_to_point(d, form) <= overlap.blocking(d) * (1 + 1e-12)


@given(decompositions(), st.integers(2, 64))
def test_interleaved_all_to_all_falls_with_the_burst(d: Decomposition, P: int) -> None:
    """The paper says that (11) is smallest at b = 1; its last term n_b b G S = N G S does not depend on b."""
    assume(d.N >= 2)
    one, two = (overlap.ranking(replace(d, b=b), "all-to-all-interleaved", P) for b in (1.0, 2.0))
    assert two <= one * (1 + 1e-12)


def test_contiguous_all_to_all_is_least_at_a_burst_above_one() -> None:
    """The paper says that (10) is smallest at b = 1 for any S."""
    d = Decomposition(V=2**20, S=2**7, b=1, t_V=5e4, o=2, L=10, G_S=0.1, G_V=0.1)
    best = 24.7  # b* of (10) with (5): sqrt(12 * 8192 * 5e4/104857.6 / (2 * 3 * 12.8))
    times = [
        float(overlap.with_peers(replace(d, b=b), "all-to-all-contiguous", 4)) for b in (1, best / 2, best, best * 2)
    ]
    assert times[2] == min(times)
    assert times[0] > times[2]


def test_loss() -> None:
    assert overlap.loss(110, 100, 200) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"S": 8192.0, "b": 1.0}, r"S = 8192 is larger than V = 4096: .*take S up to V"),
        ({"b": 16.0}, "b = 16 is longer than .* = 8 messages .*: take b"),
        ({"b": 0.5}, r"b = 0.5 must be at least 1"),
        ({"G_S": -0.1}, r"G_S = -0\.1 must be at least 0"),
        ({"G_V": 0.0}, r"G_V = 0 must be greater than 0"),
        ({"t_V": -1.0}, r"t_V = -1 must be at least 0"),
    ],
)
def test_bad_decompositions(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        replace(COMM, **changes)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("overlap", {"b": 1.5}, r"b = 1.5 must be a whole number"),
        ("overlap", {"P": [2.0, 2.5]}, r"P = 2.5 must be a whole number"),
        ("overlap", {"G": 0}, r"^G = 0 must be greater than 0"),
        ("overlap", {"G": 0, "G_V": 0}, r"^G_V = 0 must be greater than 0"),
        ("overlap-search", {"P": 2.5}, r"P = 2.5 must be a whole number"),
        ("overlap-search", {"G": 0}, r"^G = 0 must be greater than 0"),
    ],
)
def test_bad_parameters_are_named_as_they_were_given(name: str, changes: dict[str, Any], message: str) -> None:
    stated = {"V": 4096, "t_V": 160, "o": 2, "L": 10, "G": 0.1, **({"S": 512} if name == "overlap" else {})}
    with pytest.raises(ModelError, match=message):
        MODELS[name].predict(**{**stated, **changes})


def test_bad_forms_and_topologies() -> None:
    for function in (overlap.point_to_point, overlap.equation):
        with pytest.raises(ModelError, match=r"form = 'loose': choose tight, pipelined or balanced"):
            function(COMM, "loose")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"topology = 'ring': choose point-to-point"):
        overlap.with_peers(COMM, "ring", 2)  # type: ignore[arg-type]


PROFILE = OverlapProfile.from_tables(
    overhead=[(8, 1, 2.0), (1024, 1, 4.0), (8, 4, 1.0), (1024, 4, 2.0)],
    gap=[(2, 8, "N", "l", 0.1), (64, 8, "N", "l", 0.2), (64, 8, "C", "l", 0.8), (64, 8, "C", "h", 0.3)],
    L_roundtrip=10,
    unit=MICROSECOND,
    HD=32,
)


def test_profile() -> None:
    assert PROFILE.o(1024, 4) == 2
    assert PROFILE.o(516, 2) == pytest.approx(2.25)  # halfway in size (3 and 1.5), halfway from 1 to 4 in log2
    assert PROFILE.L("get") == 10
    assert PROFILE.L("put") == 5  # one way
    assert PROFILE.G(64, 8) == 0.2  # contiguous peers: G_N^l
    assert PROFILE.G(64, 8, interleaved=True) == 0.8  # G_C^l
    assert PROFILE.G(2, 8) == 0.1


def test_the_latency_may_depend_on_the_size() -> None:
    sized = replace(PROFILE, L_roundtrip=lambda S: np.where(np.asarray(S) > 100, 30.0, 10.0))
    np.testing.assert_array_equal(sized.L("get", np.array([8.0, 1024.0])), [10, 30])
    np.testing.assert_array_equal(sized.L("put", np.array([8.0, 1024.0])), [5, 15])


def test_a_profile_without_the_neighbour_pattern_takes_the_best_cross_bandwidth() -> None:
    bare = OverlapProfile(PROFILE.overhead, {k: v for k, v in PROFILE.gap.items() if k[0] == "C"}, 10, MICROSECOND)
    assert bare.G(64, 8) == 0.3  # G_C^h, OVL section 4
    with pytest.raises(ModelError, match=r"no G table"):
        OverlapProfile(PROFILE.overhead, {}, 10, MICROSECOND)


def test_an_overlap_profile_of_one_pattern_serves_every_schedule() -> None:
    highest = OverlapProfile.from_tables(
        overhead=[(1, 1, 1)], gap=[(2, 1, "N", "h", 0.25)], L_roundtrip=1, unit=MICROSECOND
    )
    assert highest.G(2, 100) == highest.G(2, 100, interleaved=True) == 0.25
