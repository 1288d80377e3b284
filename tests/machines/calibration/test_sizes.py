"""o(n) and T(n) into LogGP ranges: the truth comes back, the switch divides, and what no machine does is refused."""

from __future__ import annotations

import pytest

from logpost.errors import InputError
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.sizes import size_ranges

SIZES = [2**k for k in range(3, 21)]
US, NS = 1e-6, 1e-9


def curve(fixed: float, per_byte: float, error: float = 0.01) -> dict[int, Estimate]:
    return {n: Estimate(fixed + per_byte * n, error * (fixed + per_byte * n), 100) for n in SIZES}


def test_one_range_where_everything_is_straight() -> None:
    # T(n) = o_s(n) + L + (n - 1) G + o_r(n) with L = 5 us, G = 1 ns/B: intercept 2 + 5 + 3 - 0.001 us, slope 1.6 ns/B.
    found, refused = size_ranges(
        curve(2 * US, 0.2 * NS),
        curve(3 * US, 0.4 * NS),
        curve(10 * US - 1 * NS, 1.6 * NS),
        place="loggp.other_node",
    )
    assert refused == []
    (only,) = found
    assert only.up_to_bytes is None
    for name, truth in (("L", 5 * US), ("o_s", 2 * US), ("o_r", 3 * US), ("G", NS), ("o_s_per_byte", 0.2 * NS)):
        estimate = getattr(only, name)
        assert estimate.value == pytest.approx(truth, rel=1e-6), name
        assert estimate.low < truth < estimate.high
    assert only.time(1000) == pytest.approx(10 * US - 1 * NS + 1600 * NS)


def test_the_switch_divides_and_the_receive_of_a_rendezvous_is_no_overhead() -> None:
    # Above 4096 B the receive waits for the transfer: 8 us + 1 ns/B; T(n) has 8 us more for the handshake.
    receive = curve(3 * US, 0.0)
    one_way = curve(10 * US - 1 * NS, 1.0 * NS)
    for n in SIZES:
        if n > 4096:
            receive[n] = Estimate(8 * US + n * NS, 0.1 * US)
            one_way[n] = Estimate(18 * US - 1 * NS + n * NS, 0.1 * US)
    found, refused = size_ranges(curve(2 * US, 0.0), receive, one_way, place="p", switch=4500)
    assert [r.up_to_bytes for r in found] == [4500, None]
    assert refused == []
    bulk = found[1]
    assert bulk.o_r == found[0].o_r
    assert bulk.o_r_per_byte is None
    assert bulk.L is not None
    # 18 us at no bytes are o_s, o_r, two control messages of o_s, and three crossings.
    assert bulk.L.value == pytest.approx((18 - 2 - 3 - 2 * 2) / 3 * US, rel=1e-3)
    assert bulk.G is not None
    assert bulk.G.value == pytest.approx(NS, rel=1e-3)
    assert "rendezvous" in bulk.notes["o_r"]
    # The split's parts of a message are those of T(n), whatever they are called.
    for n in (8192, 1 << 20):
        assert bulk.time(n) == pytest.approx(one_way[n].value, rel=1e-3)


def test_where_the_network_matches_both_ends_data_alone_cross_it() -> None:
    one_way = {n: Estimate((10 if n <= 4096 else 13) * US + n * NS, 0.01 * US) for n in SIZES}
    found, refused = size_ranges(curve(2 * US, 0.0), curve(3 * US, 0.0), one_way, place="p", switch=4500, crossings=1)
    assert refused == []
    assert [r.L.value if r.L else None for r in found] == pytest.approx([5 * US, 8 * US], rel=1e-3)
    assert found[1].time(1 << 20) == pytest.approx(one_way[1 << 20].value, rel=1e-3)


def test_a_rendezvous_shorter_than_its_overheads_has_no_latency_and_keeps_its_time() -> None:
    # 4 us at no bytes: o_s, two control messages of 1 us, and 1 us of the receiver's 3.
    one_way = {n: Estimate((6 if n <= 4096 else 4) * US + n * NS, 0.01 * US) for n in SIZES}
    found, refused = size_ranges(curve(1 * US, 0.0), curve(3 * US, 0.0), one_way, place="p", switch=4500)
    assert [r.place for r in refused] == ["p[1].L"] or refused[0].place == "p.L"
    bulk = found[1]
    assert bulk.L is not None
    assert bulk.o_r is not None
    assert (bulk.L.value, bulk.o_r.value) == pytest.approx((0.0, 1 * US), rel=1e-2)
    assert bulk.time(1 << 20) == pytest.approx(one_way[1 << 20].value, rel=1e-3)


def test_a_bend_begins_a_range() -> None:
    one_way = {n: Estimate((4 * US + n * NS) if n <= 8192 else (8.1 * US + 0.5 * n * NS), 0.01 * US) for n in SIZES}
    found, _ = size_ranges(curve(1 * US, 0.0), curve(1 * US, 0.0), one_way, place="p")
    assert [r.up_to_bytes for r in found] == [8192, None]
    assert found[0].G is not None
    assert found[1].G is not None
    assert found[0].G.value == pytest.approx(1 * NS, rel=1e-3)
    assert found[1].G.value == pytest.approx(0.5 * NS, rel=1e-3)


def test_copies_at_both_ends_at_once_leave_no_gap_and_keep_the_transfer_time() -> None:
    # o_s and o_r grow by 0.3 ns/B each, T(n) by 0.4: G would be -0.2.
    found, refused = size_ranges(curve(1 * US, 0.3 * NS), curve(1 * US, 0.3 * NS), curve(4 * US, 0.4 * NS), place="p")
    (only,) = found
    assert [r.place for r in refused] == ["p.G"]
    assert refused[0].value == pytest.approx(-0.2, rel=1e-2)  # ns/B
    assert "both ends copy at the same time" in refused[0].sentence()
    assert only.G is not None
    assert only.G.value == 0.0
    assert only.o_s_per_byte is not None
    assert only.o_r_per_byte is not None
    assert only.o_s_per_byte.value == pytest.approx(0.3 * NS, rel=1e-3)
    assert only.o_r_per_byte.value == pytest.approx(0.1 * NS, rel=1e-2)
    assert only.time(10**6) == pytest.approx(4 * US + 400 * US, rel=1e-3)


def test_a_line_without_a_start_takes_the_latency_of_the_smaller_messages() -> None:
    # Caches: above 64 KiB T(n) = -20 us + 2 ns/B.
    one_way = {n: Estimate(5 * US + n * NS if n <= 65536 else -20 * US + 2 * n * NS, 0.01 * US) for n in SIZES}
    found, refused = size_ranges(curve(1 * US, 0.0), curve(1 * US, 0.0), one_way, place="p")
    assert [r.up_to_bytes for r in found] == [65536, None]
    assert [r.place for r in refused] == ["p[1].L"]
    assert refused[0].value == pytest.approx(-22.0, rel=0.01)
    assert "L of the range before holds, " in refused[0].reason
    assert found[1].L == found[0].L
    assert found[0].L is not None
    assert found[0].L.value == pytest.approx(3 * US, rel=1e-2)
    # Through 5 us: (T(n) - 5 us)/n is 1.81, 1.90, 1.95, 1.98 ns/B at 128 KiB to 1 MiB.
    assert found[1].G is not None
    assert 1.81 * NS < found[1].G.value < 1.98 * NS


def test_overheads_that_cover_the_transfer_leave_no_latency_and_keep_its_time() -> None:
    # 3 + 3 us within a T(n) of 5 us at no bytes: both ends work at the same time, so o_r counts with 2 us.
    (only,), refused = size_ranges(curve(3 * US, 0.0), curve(3 * US, 0.0), curve(5 * US, 1 * NS), place="p")
    assert "so L is 0 and o_r what o_s does not cover" in refused[0].reason
    assert only.L is not None
    assert only.o_r is not None
    assert only.L.value == 0.0
    assert only.o_r.value == pytest.approx(2 * US)
    assert only.time(10**6) == pytest.approx(1005 * US, rel=1e-5)
    # A latency that is below zero by less than its interval is zero within it.
    near = {n: Estimate(5.99 * US + n * NS, 0.05 * US) for n in SIZES}
    (only,), refused = size_ranges(curve(3 * US, 0.0), curve(3 * US, 0.0), near, place="p")
    assert refused == []
    assert only.L is not None
    assert only.L.value == 0.0
    assert only.L.high > 0.0


def test_a_send_longer_than_its_transfer_leaves_the_receiver_nothing() -> None:
    # 6 us of sending within a T(n) of 5 us at no bytes, as where the kernel delivers in the sender's time: o_s counts
    # with 5 us, and o_r is 0 and not absent, so that the range can be analyzed with.
    (only,), refused = size_ranges(curve(6 * US, 0.0), curve(3 * US, 0.0), curve(5 * US, 1 * NS), place="p")
    assert "so L is 0 and o_r what o_s does not cover" in refused[0].reason
    assert only.o_s is not None
    assert only.o_r is not None
    assert only.L is not None
    assert only.o_s.value == pytest.approx(5 * US)
    assert (only.o_r.value, only.L.value) == (0.0, 0.0)
    assert only.time(10**6) == pytest.approx(1005 * US, rel=1e-5)


def test_an_overhead_that_falls_with_the_size_is_refused() -> None:
    falling = {n: Estimate(3 * US - 2e-12 * n, 0.01 * US) for n in SIZES}
    found, refused = size_ranges(falling, curve(1 * US, 0.0), curve(9 * US, 1 * NS), place="p")
    assert [r.place for r in refused] == ["p.o_s_per_byte"]
    assert found[0].o_s_per_byte is None
    assert found[0].o_s is not None
    assert 0.9 * US < found[0].o_s.value < 3 * US


def test_an_overhead_without_a_start_takes_that_of_the_smallest_message() -> None:
    steep = {n: Estimate(max(0.3 * US, -2 * US + 1 * NS * n), 0.01 * US) for n in SIZES}
    found, refused = size_ranges(steep, curve(1 * US, 0.0), curve(9 * US, 3 * NS), place="p")
    assert refused[0].place == "p[1].o_s"
    assert "has a positive part at no bytes" in refused[0].reason
    assert all(r.o_s is not None and r.o_s.value > 0 for r in found)


def test_two_sizes_make_no_line() -> None:
    few = {8: Estimate(1e-6, 1e-8), 16: Estimate(1e-6, 1e-8)}
    with pytest.raises(InputError, match=r"loggp.self: .* share 2 sizes; a line over sizes needs 3"):
        size_ranges(few, few, few, place="loggp.self")


def test_a_transfer_time_that_falls_with_the_size_leaves_no_cost_per_byte() -> None:
    # Other load early in the measurement: 100 us at no bytes, 48 us at 1 MiB. No machine does that.
    found, refused = size_ranges(
        curve(2 * US, 0.2 * NS), curve(3 * US, 0.4 * NS), curve(100 * US, -0.05 * NS), place="p"
    )
    assert [r.place for r in refused] == ["p.G"]
    for part in found:
        assert (part.o_s_per_byte, part.o_r_per_byte) == (None, None)
        assert part.G is not None
        assert part.G.value == 0.0
        assert part.notes["G"] == "T(n) does not grow over these sizes"


def test_messages_of_no_duration_are_left_out() -> None:
    broken = {**curve(10 * US, 1.0 * NS), 8: Estimate(0.0, 0.0), 64: Estimate(-1e-9, 0.0)}
    found, refused = size_ranges(curve(2 * US, 0.0), curve(3 * US, 0.0), broken, place="loggp.other_node")
    assert [refusal.place for refusal in refused] == ["loggp.other_node.T (8 B)", "loggp.other_node.T (64 B)"]
    assert found[0].first_bytes == 16
    with pytest.raises(InputError, match="share 0 sizes"):
        size_ranges(curve(2 * US, 0.0), curve(3 * US, 0.0), dict.fromkeys(SIZES, Estimate(0.0, 0.0)), place="x")


def test_the_first_range_has_no_latency_of_another() -> None:
    # T(n) = 1 ns/B n: no intercept, and no range before.
    found, refused = size_ranges(
        curve(0.1 * NS, 0.0), curve(0.1 * NS, 0.0), {n: Estimate(1e-9 * n - 1e-9, 1e-12) for n in SIZES}, place="x"
    )
    assert "L is 0, and the slope is fitted again" in refused[0].reason
    assert found[0].notes["L"].startswith("0: ")
