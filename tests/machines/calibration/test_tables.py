"""The switch, o(S, b) with HD, G(P, S) and log3P's tables, and what of them is refused."""

from __future__ import annotations

import pytest

from logpost.machines.calibration.bursts import BurstPoint, Depth, blocking_depth, overheads, steady_depth
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.layouts import Layout, LayoutTimes, tables
from logpost.machines.calibration.patterns import PairTimes, gaps
from logpost.machines.calibration.protocol import Switch, SwitchPoint, eager_limit

US = 1e-6


def sends(*times: float) -> list[SwitchPoint]:
    return [SwitchPoint(1024 * 2**i, 1000 * US, t * US) for i, t in enumerate(times)]


def test_the_limit_is_the_largest_send_that_does_not_wait() -> None:
    assert eager_limit(sends(1, 2, 3, 1003, 1010), place="p") == (Switch(4096, 8192), [])
    assert eager_limit(sends(1, 2, 3), place="p") == (None, [])
    assert eager_limit([], place="p") == (None, [])


def test_a_send_that_was_held_up_does_not_move_the_limit() -> None:
    times = [1.0, 2.0, 16000.0, *[3.0] * 7, *[1004.0] * 3]
    assert eager_limit(sends(*times), place="p") == (Switch(1024 * 2**9, 1024 * 2**10, (4096,)), [])


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ((1001, 1002), "smallest send, 1024 B, waits for its receive"),
        ((1, 1002, 3), "sizes whose sends wait (2048 B) do not divide"),
        ((1, 2, 1002, 3, 1005, 1006), "sends wait (4096, 16384, 32768 B) do not divide"),
    ],
)
def test_a_switch_that_does_not_divide_is_refused(times: tuple[float, ...], reason: str) -> None:
    found, refused = eager_limit(sends(*times), place="p")
    assert found is None
    assert reason in refused[0].sentence()


def burst(b: int, o: float, size: int = 8) -> BurstPoint:
    return BurstPoint(size, b, Estimate(o * US, 0.01 * o * US))


def test_the_depth_is_where_one_more_initiation_costs_more() -> None:
    # Up to 32 each costs 1 us; from there on each waits 4 us: o(64) = (32 + 32 * 5) / 64 = 3 us.
    row = [burst(b, 1.0) for b in (1, 2, 4, 8, 16, 32)] + [burst(64, 3.0), burst(128, 4.0)]
    assert blocking_depth(row) == Depth(32, 64)
    assert blocking_depth([burst(b, 1.0 + 0.3 / b) for b in (1, 2, 4, 8, 16, 32, 64)]) is None
    # A single slow burst is no queue: it has to stay slow.
    assert blocking_depth([burst(1, 1.0), burst(2, 1.0), burst(4, 2.0), burst(8, 1.0), burst(16, 1.0)]) is None
    # The smallest over the sizes, as OVL's HD holds for every message.
    assert blocking_depth([*row, burst(1, 1.0, 64), burst(4, 1.0, 64), burst(8, 4.0, 64), burst(16, 6.0, 64)]) == Depth(
        4, 8
    )


@pytest.mark.parametrize(
    ("depths", "depth"),
    [
        ([8, 8, 9, 8, 8, 8], 8),
        # Of 20 visits an interval leaves out two at either end: so many may have missed it, and no more.
        ([0] * 2 + [4] * 9 + [5] * 9, 4),
        ([0] * 3 + [4] * 17, 0),
        # What one of five visits saw is no queue.
        ([0, 0, 0, 0, 1], 0),
        ([7, 0], 0),
        ([0, 0, 0], 0),
    ],
)
def test_a_queue_blocks_at_every_visit(depths: list[int], depth: int) -> None:
    assert steady_depth(depths) == depth


def test_an_initiation_in_no_time_is_refused() -> None:
    kept, refused = overheads([burst(1, 1.0), BurstPoint(8, 2, Estimate(-0.1 * US, 0.2 * US))], place="overlap")
    assert [p.burst for p in kept] == [1]
    assert refused[0].sentence().startswith("overlap.o (S = 8 B, b = 2) = -100 ns ± 200 ns is refused: ")


def test_pairs_give_two_gaps_and_crossed_pairs_none() -> None:
    good = PairTimes("nearest-neighbour", 2, 1000, Estimate(3 * US, 0.1 * US), Estimate(2 * US, 0.1 * US))
    crossed = PairTimes("cross-section", 2, 1000, Estimate(1 * US, 0.1 * US), Estimate(2 * US, 0.1 * US))
    found, refused = gaps([good, crossed], place="overlap")
    # 3 us / 1000 B = 3 ns/B, and P = 4 processes make 2 pairs.
    assert [(g.level, g.processors) for g in found] == [("lowest", 4), ("highest", 4)]
    assert [g.G.value for g in found] == pytest.approx([3e-9, 2e-9])
    assert len(refused) == 2
    assert "slowest pair is faster than the fastest" in refused[0].reason


SIZE, STRIDED = Layout(16384), Layout(16384, 1024, 8)


def us(value: float) -> Estimate:
    return Estimate(value * US, 0.01 * value * US)


def test_log3p_of_titan() -> None:
    # LOG3P Fig. 4, 16 KB, stride 1 KB: o_mw 29, l_mw 420, T_mem 3, o_net 131 us; 452 to oneself, 580 to another.
    times = LayoutTimes(
        to_self={SIZE: us(32), STRIDED: us(452)},
        remote={SIZE: us(160)},
        memory={SIZE: us(3)},
        packed_to_self={STRIDED: us(300)},
        packed_remote={},
    )
    found, refused = tables(times, place="log3p")
    assert refused == []
    (row,), (gap,) = found.sizes, found.strided
    assert row.o_mw is not None
    assert row.o_net is not None
    assert gap.l_mw is not None
    assert gap.packed is not None
    assert row.o_mw.value == pytest.approx(29 * US)
    assert row.o_net.value == pytest.approx(131 * US)
    assert gap.l_mw.value == pytest.approx(420 * US)
    assert gap.packed.value == pytest.approx(268 * US)
    # (6): 29 + 420 + 131 = 580 us, from messages to oneself alone.
    assert (row.o_mw + gap.l_mw + row.o_net).value == pytest.approx(580 * US)
    # sqrt(0.32^2 + 0.03^2) us
    assert row.o_mw.half_width == pytest.approx(0.3214 * US, rel=1e-3)


def test_what_a_stride_costs_between_processes_is_taken_from_them() -> None:
    # The receiver unpacks while the sender packs: 350 instead of 580 us to another process.
    times = LayoutTimes(
        to_self={SIZE: us(32), STRIDED: us(452)},
        remote={SIZE: us(160), STRIDED: us(350)},
        memory={SIZE: us(3)},
        packed_to_self={STRIDED: us(300)},
        packed_remote={STRIDED: us(400)},
    )
    (gap,) = tables(times, place="log3p")[0].strided
    assert gap.remote
    assert gap.l_mw is not None
    assert gap.packed is not None
    assert gap.to_self is not None
    assert gap.l_mw.value == pytest.approx(190 * US)
    assert gap.packed.value == pytest.approx(240 * US)
    assert gap.to_self.value == pytest.approx(420 * US)


def test_log3p_refuses_what_the_paper_refuses() -> None:
    slow_copy, refused = tables(LayoutTimes({SIZE: us(2)}, {SIZE: us(9)}, {SIZE: us(3)}, {}, {}), place="log3p")
    assert slow_copy.sizes[0].o_mw is None
    assert slow_copy.sizes[0].o_net is None  # nothing is computed from a refused value
    assert refused[0].place == "log3p.o_mw (s = 16384 B)"
    assert "copy is slower than sending to oneself" in refused[0].reason


def test_a_stride_that_costs_nothing_is_zero_and_said_to_be_refused() -> None:
    # Contiguous data is sent by a rendezvous, strided data in fragments, which is faster by 2 +- 0.05 us.
    times = LayoutTimes({}, {SIZE: us(4), STRIDED: us(2)}, {}, {}, {})
    found, refused = tables(times, place="log3p")
    assert found.strided[0].l_mw == Estimate(0.0, 0.0)
    assert refused[0].sentence().startswith("log3p.l_mw (s = 16384 B, d = 1024 B) = -2 ")
    assert "strided data is faster than contiguous; " in refused[0].reason
    # Within its interval it is zero up to the interval's end.
    near = LayoutTimes({}, {SIZE: us(4), STRIDED: us(3.98)}, {}, {}, {})
    found, refused = tables(near, place="log3p")
    assert refused == []
    assert found.strided[0].l_mw is not None
    assert found.strided[0].l_mw.value == 0.0
    assert found.strided[0].l_mw.high == pytest.approx(0.0365 * US, rel=0.01)
