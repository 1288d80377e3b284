"""LOGP's signature of simulated machines, noise-free and noisy, gives the machine back; nonsense is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from logpost.collectors.calibration.simulated import Noise, Truth, signature
from logpost.errors import InputError
from logpost.machines import load_machine
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.signature import CostPoint, Signature, extract

BURSTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
DELTAS = (0.0, 2e-6, 4e-6, 8e-6, 12e-6, 16e-6, 24e-6, 32e-6)


def library(name: str) -> Truth:
    """A machine of LOGP from its file, in seconds."""
    found = load_machine(name).loggp.of("other_node")
    assert found is not None
    values = {key: getattr(found.range[0], key).base() * 1e-12 for key in ("L", "o_s", "o_r", "g")}
    return Truth(**values)


def points(costs: dict[float, np.ndarray], bursts: Sequence[int] = BURSTS) -> list[CostPoint]:
    """Medians of the batches with their 95 % half widths (1.253 standard errors of a mean: those of a median)."""
    found = []
    for delta, batches in costs.items():
        half = 1.96 * 1.253 * batches.std(axis=0) / np.sqrt(len(batches))
        for burst, cost, width in zip(bursts, np.median(batches, axis=0), half, strict=True):
            found.append(CostPoint(burst, delta, Estimate(float(cost), float(width), len(batches))))
    return found


def read(truth: Truth, noise: Noise | None = None, deltas: Sequence[float] = DELTAS) -> Signature:
    costs = signature(truth, BURSTS, deltas, noise=noise, batches=1 if noise is None else 25, seed=7)
    return extract(points(costs), Estimate(truth.round_trip(), 0.0), place="loggp.other_node")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paragon", "meiko_cs2", "myrinet_now"])
@pytest.mark.parametrize("noise", [None, Noise(width=0.05, rare=2e-4, delay=50e-6)], ids=["quiet", "noisy"])
def test_the_three_machines_of_the_paper_come_back_within_two_per_cent(name: str, noise: Noise | None) -> None:
    truth = library(name)
    found = read(truth, noise)
    for parameter in ("o_s", "o_r", "g", "L"):
        estimate = getattr(found, parameter)
        # exp(0.05 z) has the mean 1.00125, and an interrupt of 50 us in 5000 steps adds 0.01 us to each.
        assert estimate.value == pytest.approx(getattr(truth, parameter), rel=0.02), parameter
        assert estimate.half_width > 0.0
        assert estimate.low <= getattr(truth, parameter) * 1.01
        assert estimate.high >= getattr(truth, parameter) * 0.99
    assert found.refused == ()
    assert not found.overhead_limited


def test_the_regimes_are_where_the_paper_says() -> None:
    # Paragon: the first reply is there after 20.0 - 2.2 = 17.8 us, that is after 12 issues of 1.4 us: M = 12 is the
    # last burst that is only sending. Delta = 16: each issue takes 17.4, so the second sees no reply, the third does.
    found = read(library("paragon"))
    assert 6 <= found.curves[0].send_only_until <= 12
    slowest = found.curves[DELTAS.index(16e-6)]
    assert slowest.send_only_until <= 3
    # "g' = 19.6" at Delta = 16 (LOGP 3.3).
    assert slowest.steady.slope.value == pytest.approx(19.6e-6, rel=1e-3)
    assert found.curves[0].steady.slope.value == pytest.approx(7.6e-6, rel=1e-3)


def test_a_stream_shows_a_gap_between_one_overhead_and_both() -> None:
    # o_s + o_r = 5 us is all that requests show; a stream's messages follow each other in g = 4 us, above both.
    truth = Truth(L=10e-6, o_s=2e-6, o_r=3e-6, g=4e-6)
    costs = signature(truth, BURSTS, DELTAS, seed=7)
    trip = Estimate(truth.round_trip(), 0.0)
    assert (alone := extract(points(costs), trip, place="loggp.other_node").g) is not None
    assert alone.value == pytest.approx(5e-6, rel=0.01)
    found = extract(points(costs), trip, place="loggp.other_node", stream=Estimate(4e-6, 0.1e-6))
    assert found.g is not None
    assert (found.g.value, found.overhead_limited, found.bounded) == (4e-6, True, False)


def test_a_stream_as_fast_as_its_processors_bounds_the_gap() -> None:
    # The receiver needs o_r = 3 us a message. Any g up to that gives the same stream.
    truth = Truth(L=10e-6, o_s=2e-6, o_r=3e-6, g=1e-6)
    costs = signature(truth, BURSTS, DELTAS, seed=7)
    stream = Estimate(3.05e-6, 0.1e-6)
    found = extract(points(costs), Estimate(truth.round_trip(), 0.0), place="loggp.other_node", stream=stream)
    assert found.g is not None
    assert (found.g.value, found.bounded) == (0.0, True)
    assert found.g.high == pytest.approx(3.15e-6)


def test_rpc_shows_no_gap_of_its_own() -> None:
    # LOGP section 5: the first Delta raises the cost already, so g is o_s + o_r = 500 us.
    rpc = Truth(L=100e-6, o_s=300e-6, o_r=200e-6, g=50e-6)
    found = read(rpc, deltas=(0.0, 100e-6, 200e-6, 400e-6))
    assert found.overhead_limited
    assert found.g is not None
    assert found.g.value == pytest.approx(500e-6, rel=0.005)
    assert found.o_r is not None
    assert found.o_r.value == pytest.approx(200e-6, rel=0.02)


def test_bulk_requests_give_the_overhead_and_the_gap_of_their_size() -> None:
    # 4096 B at 10 ns/B: the interface is busy for 40.96 us; o_s = 2 + 4096 * 0.002 = 10.192.
    truth = Truth(L=11.1e-6, o_s=2.0e-6, o_r=2.6e-6, g=12.4e-6, G=10e-9, o_s_per_byte=2e-9)
    costs = signature(truth, BURSTS, (0.0, 20e-6, 40e-6, 60e-6), size=4096)
    found = extract(points(costs), None, place="bulk")
    assert found.o_s is not None
    assert found.g is not None
    assert found.o_s.value == pytest.approx(10.192e-6, rel=0.02)
    assert found.g.value == pytest.approx(40.96e-6, rel=0.02)
    assert found.L is None  # no round trip was given, so no L is made up


def test_a_delta_that_hides_in_the_gap_gives_no_receive_overhead() -> None:
    # Idle time of the Meiko: 13.6 - 3.3 = 10.3 us; 8 us change nothing.
    found = read(library("meiko_cs2"), deltas=(0.0, 2e-6, 8e-6))
    assert found.o_r is None
    assert found.L is None
    assert [refusal.place for refusal in found.refused] == ["loggp.other_node.o_r"]
    assert "Delta = 8 us does not raise the cost " in found.refused[0].reason


def test_a_round_trip_shorter_than_the_overheads_is_refused() -> None:
    truth = library("paragon")
    costs = signature(truth, BURSTS, DELTAS)
    found = extract(points(costs), Estimate(6e-6, 1e-7), place="loggp.other_node")
    assert found.L is None
    assert found.refused[0].value == pytest.approx(6 / 2 - 3.6, abs=0.02)  # in us
    assert found.refused[0].sentence().startswith("loggp.other_node.L = -600 ns ± ")
    assert found.refused[0].sentence().endswith("the round trip is shorter than o_s + o_r")


def test_what_is_no_signature_is_refused() -> None:
    some = [CostPoint(M, 0.0, Estimate(1e-6, 1e-8)) for M in (1, 2, 4)]
    with pytest.raises(InputError, match=r"Delta = 0 us has 3 bursts; .* need 4"):
        extract(some, None, place="x")
    late = [CostPoint(M, 1e-6, Estimate(1e-6, 1e-8)) for M in (1, 2, 4, 8)]
    with pytest.raises(InputError, match=r"signature has no curve .* Delta = 0; measure it"):
        extract(late, None, place="x")
