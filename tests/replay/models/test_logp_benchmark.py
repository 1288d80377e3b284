"""Culler's micro-benchmark: regimes of the signature, extraction, bulk transfers, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logpost.replay.models import LogGPParameters, ModelError, logp
from logpost.replay.models import logp_benchmark as benchmark
from logpost.replay.models.papers.logp import MEIKO, MYRINET, PARAGON
from logpost.replay.models.units import MICROSECOND


@pytest.mark.parametrize("p", [PARAGON, MEIKO, MYRINET], ids=["Paragon", "Meiko", "Myrinet"])
def test_regimes_of_the_signature(p: LogGPParameters) -> None:
    rtt = float(logp.round_trip(p))
    # M < RTT/o_s (less the receive, which ends the round trip): nothing has come back, the cost of an issue is o_s.
    sends_only = int((rtt - p.o_r) / p.o_s)
    assert benchmark.cost(p, sends_only) == pytest.approx(p.o_s)
    # M large: a reply must be drained before each request, one per gap.
    assert benchmark.cost(p, 50_000) == pytest.approx(p.g, rel=2e-3)
    # Delta above the idle time g - o_s - o_r: the CPU is the bottleneck.
    assert benchmark.cost(p, 50_000, 16.0) == pytest.approx(p.o_s + p.o_r + 16.0, rel=2e-3)
    # Delta within the idle time costs nothing.
    idle = float(p.g - p.o_s - p.o_r)
    assert benchmark.cost(p, 50_000, 0.5 * idle) == pytest.approx(p.g, rel=2e-3)
    assert np.asarray(benchmark.steady_state_cost(p, np.array([0.0, 16.0]))).tolist() == [p.g, p.o_s + p.o_r + 16.0]


@pytest.mark.parametrize("p", [PARAGON, MEIKO, MYRINET], ids=["Paragon", "Meiko", "Myrinet"])
def test_the_played_benchmark_gives_the_parameters_back(p: LogGPParameters) -> None:
    """Not printed, derived: all parameters of the three machines within 1.1 %."""
    found = benchmark.extract(
        o_s=float(np.mean([benchmark.cost(p, M) for M in (1, 2, 3, 4)])),
        g=benchmark.cost(p, 20_000),
        cost_with_delay=benchmark.cost(p, 20_000, 16.0),
        delta=16.0,
        rtt=float(logp.round_trip(p)),
        unit=MICROSECOND,
    )
    for name in ("o_s", "o_r", "g", "L"):
        assert getattr(found, name) == pytest.approx(getattr(p, name), rel=0.011), name


def test_a_small_network_stalls_the_sender_before_the_first_reply() -> None:
    # Window 2: the third issue waits for the first reply, at 19.8 - 2.2 = 17.6 us, and takes 2.2 + 1.4 more: 21.2/3.
    assert benchmark.cost(PARAGON, 3, window=2) == pytest.approx(21.2 / 3)


def test_rpc_is_limited_by_its_overhead() -> None:
    # LOGP section 5: the first Delta already raises the cost, so g is o_s + o_r.
    rpc = LogGPParameters(L=100, o_s=300, o_r=200, g=50, unit=MICROSECOND)
    assert benchmark.steady_state_cost(rpc, 0) == 500
    assert benchmark.cost(rpc, 5_000, 10.0) > benchmark.cost(rpc, 5_000)


def test_paragon_by_hand() -> None:
    # o_r = 19.6 - 16 - 1.4 = 2.2; L = 20.0/2 - 1.4 - 2.2 = 6.4, and 6.35 .. 6.45 for the printed 19.9 .. 20.1.
    p = benchmark.extract(o_s=1.4, g=7.6, cost_with_delay=19.6, delta=16, rtt=20.0, unit=MICROSECOND)
    assert p.o_r == pytest.approx(2.2)
    assert p.L == pytest.approx(6.4)


def test_meiko_and_myrinet_need_the_largest_round_trip() -> None:
    meiko = benchmark.extract(o_s=1.7, g=13.6, cost_with_delay=19.3, delta=16, rtt=21.6, unit=MICROSECOND)
    assert meiko.L == pytest.approx(7.5)  # 10.8 - 3.3; the smallest, 20.3, gives 6.85
    myrinet = benchmark.extract(o_s=2.0, g=12.4, cost_with_delay=20.6, delta=16, rtt=31.5, unit=MICROSECOND)
    assert myrinet.L == pytest.approx(11.15)  # 15.75 - 4.6: printed 11.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cost_with_delay": 17.0}, r"o_r = g' - Delta - o_s = -0.4 is negative.*take a larger Delta"),
        ({"cost_with_delay": 3.7, "delta": 1.0}, "g' = 3.7 is not above g = 7.6: Delta = 1 is hidden"),
        ({"rtt": 6.0}, "L = RTT/2 - o_s - o_r = -0.6 is negative: .* 6 is too short"),
    ],
)
def test_nonsense_is_refused_with_its_reason(changes: dict[str, float], message: str) -> None:
    given_ = {"o_s": 1.4, "g": 7.6, "cost_with_delay": 19.6, "delta": 16.0, "rtt": 20.0, **changes}
    with pytest.raises(ModelError, match=message):
        benchmark.extract(**given_, unit=MICROSECOND)


def test_no_requests_no_benchmark() -> None:
    for M in (0, 10**7):
        with pytest.raises(ModelError, match=rf"M = {M} must be at least 1 and at most 1000000"):
            benchmark.cost(PARAGON, M)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.0, 50), st.floats(0.0, 50), st.floats(0.0, 50))
def test_the_cost_lies_between_sending_only_and_the_steady_state(
    o_s: float, o_r: float, g: float, L: float, delta: float
) -> None:
    p = LogGPParameters(L=L, o_s=o_s, o_r=o_r, g=g, unit=MICROSECOND)
    cost = benchmark.cost(p, 300, delta)
    assert o_s + delta <= cost * (1 + 1e-9)
    assert cost <= float(benchmark.steady_state_cost(p, delta)) * (1 + 1e-9) + 1e-9


def test_bulk_transfers_of_the_myrinet() -> None:
    # 4096 B in 298 us with 143 us of overhead (LOGP 4.2): 13.7 MB/s, 52 % of the time can be overlapped.
    assert benchmark.delivered_bandwidth(4096, 298) == pytest.approx(13.7, abs=0.05)
    assert benchmark.overlappable_share(143, 298) == pytest.approx(0.52, abs=0.005)


def test_bulk_edges_are_refused() -> None:
    with pytest.raises(ModelError, match=r"o\(n\) is larger than T\(n\)"):
        benchmark.overlappable_share(np.array([1.0, 5.0]), np.array([2.0, 4.0]))


def test_variants_change_what_the_paper_says() -> None:
    # Myrinet10: o_s 3.6, o_r 4.0 raise the CPU-bound cost by 3.0 us and leave g alone.
    slow = replace(MYRINET, o_s=3.6, o_r=4.0)
    faster, slower = benchmark.steady_state_cost(MYRINET, 16), benchmark.steady_state_cost(slow, 16)
    assert slower - faster == pytest.approx(3.0)
