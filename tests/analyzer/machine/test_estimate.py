"""Parameters estimated from observations that were made with known ones; times in ps."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.said import facts

from logpost.analyzer.machine.estimate import Estimate, Interval, estimate
from logpost.analyzer.machine.estimate.interval import bounded, measured
from logpost.analyzer.machine.estimate.lines import Lines, groups, lines, point
from logpost.analyzer.machine.estimate.machine_file import estimated_machine
from logpost.machines import load_machine, replay_parameters
from logpost.machines.parameters import COLUMNS

PAIRS = (
    "whole",
    "undisturbed_nonblocking",
    "undisturbed_blocking",
    "undisturbed_synchronous",
    "send_at_once",
    "send_blocking",
    "send_among_others",
    "receive",
    "burst",
    "spacing",
    "collective",
    "early_complete",
    "late_complete",
    "unanswered",
    "answered",
)


def column(*observed: tuple[int, float]) -> tuple[Any, Any]:
    """Observations of (bytes, ps)."""
    return (
        np.array([size for size, _ in observed], dtype=np.uint64),
        np.array([round(time) for _, time in observed], dtype=np.int64),
    )


def samples(
    slack: tuple[int, ...] = (), sent_apart: tuple[int, ...] = (), **columns: tuple[Any, Any]
) -> dict[str, Any]:
    """What a trace shows of one class; a slack for each receive; receivers that no processor
    spaced; a processor that was away needs a quarter of that once it is back."""
    messages = columns["whole"][0].size if "whole" in columns else 0
    none = {name: column() for name in PAIRS}
    rest = columns["unanswered"][1] // 4 if "unanswered" in columns else np.zeros(0, dtype=np.int64)
    of_receives = np.array(slack, dtype=np.int64)
    return {
        **none,
        **columns,
        "unanswered_rest": rest,
        "spacing_of_sends": np.array(sent_apart, dtype=np.int64),
        "spacing_calls": np.full(len(sent_apart), np.iinfo(np.int64).max),
        "receive_slack": of_receives,
        "receive_sends": np.zeros_like(of_receives),
        "messages": messages,
    }


def between_nodes(row: dict[str, Any], tick_ps: float = 1.0) -> Estimate:
    return estimate("test", [samples(), samples(), samples(), row], tick_ps)


def ends(known: Interval) -> tuple[float, float]:
    return known.low, known.high


# o_s = 100, L = 500, o_r = 200, G = 2: S(B) = 800 + 2 (B - 1), so 802 at 2 B, 1000 at 101 B and 2800 at 1001 B.
WHOLE = ((2, 802), (101, 1000), (1001, 2800))


def test_a_trace_with_witnesses_of_everything_but_g_measures_everything_but_g() -> None:
    found = between_nodes(
        samples(
            slack=(5000,) * 6,
            whole=column(*WHOLE * 6),
            undisturbed_blocking=column(*WHOLE * 6),
            send_blocking=column(*((size, 100) for size, _ in WHOLE * 6)),
            receive=column(*((size, 200) for size in (2, 1001) * 3)),
            burst=column((101, 350)),
        )
    )
    one = found.classes["other_node"]
    # Two stamps of 1 ps each: every time is known to 2 ps, and L, the difference of three, to 6 ps; lines that reach
    # from 2 B back to none by a hundredth more.
    assert ends(one.o_s) == pytest.approx((98, 102), abs=0.01)
    assert (one.o_s.n, one.o_s.reason) == (18, "18 sends that returned at once")
    assert ends(one.o_r) == pytest.approx((198, 202), abs=0.01)
    assert (one.o_r.n, one.o_r.reason) == (6, "6 receives that found their message")
    assert ends(one.L) == pytest.approx((494, 506), abs=0.03)
    assert one.L.value == pytest.approx(500)
    assert one.G.value == pytest.approx(2)
    assert one.G.low <= 2 <= one.G.high <= 2.01
    assert one.g == bounded(352, "bursts: at most their time per message")
    assert found.unmeasured == {"g"}


def test_messages_that_all_queued_bound_their_sum_and_show_nothing_else() -> None:
    found = between_nodes(samples(whole=column((8, 5000), (8, 3000), (8, 9000))))
    one = found.classes["other_node"]
    assert ends(one.total) == (0, 3002)
    assert ends(one.L) == ends(one.o_s) == ends(one.o_r) == (0, 3002)
    assert ends(one.G) == pytest.approx((0, 3002 / 7))
    assert found.unmeasured == {"L", "o_s", "o_r", "g", "G", "L + o_s + o_r"}
    # What nothing measured is in L: the split then needs no queue that nothing showed.
    parameters = found.parameters()
    assert (parameters.L_ps[-1], parameters.o_s_ps[-1], parameters.o_r_ps[-1]) == (3002, 0, 0)


def test_collective_operations_bound_g_per_byte_where_no_message_shows_it() -> None:
    one = between_nodes(
        samples(whole=column((8, 5000), (8, 3000)), collective=column((4096, 20_000), (4096, 9000)))
    ).classes["other_node"]
    assert ends(one.G) == pytest.approx((0, 9002 / 4096))
    assert one.G.bound_only
    assert ends(one.g) == (0, 3002)  # their messages are not known: nothing of g


def test_a_receive_is_a_witness_only_when_its_message_had_been_sent_for_longer_than_a_message_takes() -> None:
    eager = column((8, 10))
    late = samples(slack=(999,), whole=column((8, 1000)), receive=column((8, 40)), early_complete=eager)
    assert between_nodes(late).classes["other_node"].o_r.bound_only
    there = samples(slack=(1003,), whole=column((8, 1000)), receive=column((8, 40)), early_complete=eager)
    one = between_nodes(there).classes["other_node"]
    # Of 8 B alone: o_r with 8 times its value per byte.
    assert ends(one.o_r) == (0, 42)
    assert ends(one.o_r_per_byte) == (0, 42 / 8)
    assert facts(one.o_r.reason) == ["1", "8", "38", "42 ps"]
    assert (one.o_r.value, one.o_r_per_byte.value) == (40, 0)
    assert not one.o_r.bound_only


def test_what_a_byte_costs_receivers_is_no_gap_where_receives_show_it_and_may_be_where_they_do_not() -> None:
    # o_s = 100 + B, o_r = 200 + 2 B, L = 500, G = 10: S(B) = 800 + 3 B + 10 (B - 1).
    sizes = (2, 101, 1001) * 6
    shown = {
        "whole": column(*((size, 800 + 3 * size + 10 * (size - 1)) for size in sizes)),
        "send_at_once": column(*((size, 100 + size) for size in sizes)),
        "early_complete": column((1001, 1)),
    }
    shown["undisturbed_nonblocking"] = shown["whole"]
    every = samples(slack=(10**5,) * 18, receive=column(*((size, 200 + 2 * size) for size in sizes)), **shown)
    one = between_nodes(every).classes["other_node"]
    for name, true in (("o_s", 100), ("o_s_per_byte", 1), ("o_r", 200), ("o_r_per_byte", 2), ("G", 10)):
        known = one.stated[name]
        assert known.low <= true <= known.high, name
        assert known.value == pytest.approx(true, rel=0.01), name
    assert one.G.high - one.G.low < 0.1
    # Receives of 101 B last 402: of that o_r is at most all, and what a byte costs 402 / 101 or less, as G may be.
    single = samples(slack=(10**5,) * 6, receive=column(*((101, 402),) * 6), **shown)
    one = between_nodes(single).classes["other_node"]
    for name, true in (("o_s", 100), ("o_s_per_byte", 1), ("o_r", 200), ("o_r_per_byte", 2), ("G", 10)):
        known = one.stated[name]
        assert known.low <= true <= known.high, name
    assert one.G.value == pytest.approx(12, rel=0.01)
    assert "with what a byte costs both processors 12.996 to 13.004" in one.G.reason
    assert not one.G.bound_only


def test_a_receive_of_unknown_protocol_may_hold_a_handshake() -> None:
    row = samples(slack=(5000,), whole=column((8, 1000)), receive=column((8, 400)))
    assert between_nodes(row).classes["other_node"].o_r.bound_only


def test_a_send_that_took_most_of_its_message_is_no_witness() -> None:
    # A rendezvous of o_s = 100, L = 500, o_r = 200: the send takes 3 · 100 + 2 · 500 = 1300 of 300 + 1500 + 200 = 2000.
    row = samples(whole=column((8, 2000)), undisturbed_blocking=column((8, 2000)), send_blocking=column((8, 1300)))
    one = between_nodes(row).classes["other_node"]
    assert one.o_s.bound_only
    assert one.o_s.high == 1302


def test_synchronous_messages_measure_three_latencies() -> None:
    # 3 o_s + 3 L + (B - 1) G + o_r = 300 + 1500 + 200 = 2000 and 2 (B - 1) with the machine above.
    handshakes = tuple((size, time + 1200) for size, time in WHOLE)
    found = between_nodes(
        samples(
            slack=(5000,) * 3,
            whole=column(*handshakes, *((8, 2000),) * 3),
            undisturbed_synchronous=column(*handshakes),
            send_at_once=column((8, 100), (16, 100), (8, 100)),
            receive=column((8, 200), (1, 200), (8, 200)),
            early_complete=column((16, 1)),
        )
    )
    one = found.classes["other_node"]
    assert one.L.value == pytest.approx(500)
    assert one.L.low <= 500 <= one.L.high
    # NICs that reply independently spare two overheads of 100: L may be longer by 200 / 3 than the value.
    assert one.L.high == pytest.approx(500 + 200 / 3, abs=4)


def test_synchronous_messages_cross_once_where_the_network_matches() -> None:
    # o_s + L + (B - 1) G + o_r = 100 + 500 + 200 and 2 (B - 1) with the machine above.
    row = samples(
        slack=(5000,) * 3,
        whole=column(*WHOLE, *((8, 800),) * 3),
        undisturbed_synchronous=column(*WHOLE),
        send_at_once=column((8, 100), (16, 100), (8, 100)),
        receive=column((8, 200), (1, 200), (8, 200)),
        early_complete=column((16, 1)),
    )
    one = estimate("test", [samples(), samples(), samples(), row], 1.0, matched=True).classes["other_node"]
    assert one.L.value == pytest.approx(500)
    assert one.L.low <= 500 <= one.L.high


def test_the_eager_limit_needs_proof_below_and_evidence_above() -> None:
    proof = column((8, 1), (4096, 1))

    def limit(late: tuple[Any, Any]) -> int | None:
        row = samples(whole=column((8192, 1000)), early_complete=proof, late_complete=late)
        return between_nodes(row).classes["other_node"].limit

    assert limit(column(*((8192, 1),) * 5)) == 4096
    assert limit(column(*((8192, 1),) * 4)) is None  # too few to judge by
    assert limit(column(*((64, 1),) * 50)) is None  # a wait at a size that is proven to be eager


def test_a_time_indistinguishable_from_zero_is_no_measurement() -> None:
    found = between_nodes(samples(whole=column((8, 1000)), send_at_once=column((8, 0), (8, 0), (8, 0))))
    o_s = found.classes["other_node"].o_s
    assert o_s == Interval(0, 2, 0, 0, o_s.reason)
    assert facts(o_s.reason) == ["3", "0"]
    assert "o_s" in found.unmeasured


def test_the_machine_file_has_the_intervals_and_says_what_is_a_bound(tmp_path: Path) -> None:
    found = between_nodes(
        samples(whole=column((8, 3000)), send_at_once=column(*((size, 100) for size in (1, 8, 1, 8))))
    )
    text = estimated_machine(found.parameters(), found, ["a note"], datetime.date(2026, 11, 22))
    (tmp_path / "machine.toml").write_text(text)
    machine = load_machine(tmp_path / "machine.toml")
    table = machine.loggp.of("other_node")
    assert table is not None
    values = table.range[0]
    o_s, o_r = values.o_s, values.o_r
    assert o_s is not None
    assert o_r is not None
    # From 98 to 102 at 1 B and at 8 B: a line between them may fall short of 98 by a slope of 4 / 7 at 0 B.
    assert o_s.interval == pytest.approx((98 - 4 / 7, 102))
    assert o_s.note == "4 sends that returned at once"
    assert o_r.interval == pytest.approx((0, 3002))
    assert o_r.note is not None
    assert o_r.note.startswith("a bound only, not a measurement: ")
    assert any("L + o_s + o_r between 97.4286 and 3002 ps" in note for note in machine.notes)
    read = replay_parameters(machine)
    for name in COLUMNS:
        assert getattr(read, name).tolist() == getattr(found.parameters(), name).tolist()


def test_a_trace_without_messages_has_a_machine_of_zeros_and_nothing_to_say() -> None:
    found = estimate("test", [samples()] * 4)
    assert found.notes == ()
    assert not found.parameters().L_ps.any()


def test_messages_that_contradict_causality_are_said_to_show_nothing() -> None:
    found = between_nodes({**samples(), "messages": 7})
    between, none = found.notes
    assert between == "other_node: 7 messages, but none identifies a parameter"
    assert none.startswith("the trace identifies no parameter")


def test_all_lines_through_two_intervals() -> None:
    # Through [9, 11] at 0 and [29, 31] at 10: slopes from (29 - 11) / 10 to (31 - 9) / 10, constants from 9 to 11.
    found = lines([point(g, 1.0) for g in groups(column((0, 10), (10, 30)))])
    assert found is not None
    assert found.constant == pytest.approx((9, 10, 11))
    assert found.slope == pytest.approx((1.8, 2.0, 2.2))


def test_one_size_says_nothing_of_the_slope() -> None:
    found = lines([point(g, 1.0) for g in groups(column((8, 10), (8, 10)))])
    assert found is not None
    assert not found.sloped
    assert found.constant == (9, 10, 11)


def test_times_that_fit_no_line_widen_their_interval() -> None:
    # 10, 30, 10 at 0, 1, 2 B: a flat line misses by 10 at best; twice that is added to the clock's 1.
    found = lines([point(g, 1.0) for g in groups(column((0, 10), (1, 30), (2, 10)))])
    assert found is not None
    assert found.constant[0] <= 10
    assert found.constant[2] >= 20


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**50)), min_size=1, max_size=40))
def test_ends_enclose_values_and_are_in_order(observed: list[tuple[int, int]]) -> None:
    found = lines([point(g, 1.0) for g in groups(column(*observed))])
    assert found is not None
    for low, value, high in (found.constant, found.slope):
        assert low <= value <= high
    assert found.n == len(observed)


def test_an_interval_that_does_not_hold_its_value_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0 <= 3 <= 2 <= 4 does not hold: why"):
        Interval(3, 4, 2, 1, "why")


def test_a_bound_below_all_of_an_interval_contradicts_it() -> None:
    known = measured(90, 110, 100, 5, "x")
    assert known.at_most(95) == Interval(90, 95, 95, 5, "x")
    assert known.at_most(80) == Interval(0, 110, 0, 0, "x exceeded the parameter's bound")
    assert known.at_most(200) is known


def test_a_receive_longer_than_every_other_had_not_found_its_message() -> None:
    """What had been sent for long arrived late behind traffic that the trace does not show: o_r is at most 40 ps, and a
    call of 400 ps measures nothing."""
    whole, eager = column(*WHOLE), column((2, 100), (101, 100), (1001, 100))
    receive = column((8, 400), *((8, 40),) * 6)
    row = samples(
        slack=(5000, *(-1,) * 6), whole=whole, undisturbed_blocking=whole, send_blocking=eager, receive=receive
    )
    one = between_nodes(row).classes["other_node"]
    assert one.o_r.bound_only
    assert ends(one.o_r) == (0, 402)
    # L then holds what o_r does not.
    assert one.L.bound_only
    assert one.L.low <= 660 <= one.L.high


def test_a_whole_longer_than_every_message_measures_no_latency() -> None:
    """Messages of 101 and 1001 B give 800 ps without data; one of 8 B had only 500 ps."""
    row = samples(
        whole=column(*WHOLE[1:], (8, 500)), undisturbed_nonblocking=column(*WHOLE[1:]), early_complete=column((1001, 1))
    )
    one = between_nodes(row).classes["other_node"]
    assert one.total.bound_only
    assert ends(one.total) == (0, 502)


def test_calls_that_start_sends_of_several_classes_only_bound_o_s() -> None:
    one = between_nodes(samples(whole=column((8, 3000)), send_among_others=column((8, 310)))).classes["other_node"]
    assert one.o_s == bounded(312, one.o_s.reason)
    assert facts(one.o_s.reason) == []


def test_sends_that_spread_more_than_others_bound_o_s_by_their_own_spread() -> None:
    """Sends of 8 B all last 1000 ps; those of 64 B spread from 900 to 1000 ps, which bounds no o_s at 902 ps."""
    wide = ((64, 900),) * 2 + ((64, 1000),) * 18
    row = samples(whole=column((8, 5000)), send_at_once=column(*((8, 1000),) * 20, *((16, 1000),) * 20, *wide))
    assert between_nodes(row).classes["other_node"].o_s.high >= 1000


def test_g_is_the_spacing_of_queued_messages_that_their_bytes_do_not_explain() -> None:
    """Messages of 8 B arrive 50 ps apart, sent 10 apart; 900 B lasted 1000 ps, so that G is at most 1.2 ps/B."""
    known = {"whole": column((8, 300), (901, 1000)), "early_complete": column((1000, 1))}
    found = between_nodes(samples(**known, sent_apart=(10,) * 6, spacing=column(*((8, 50),) * 6)))
    g = found.classes["other_node"].g
    assert (g.low, g.value, g.high, g.n) == (48, 50, 52, 6)  # two ticks to both sides
    assert facts(g.reason) == ["6"]
    # Sent as far apart as they arrive, they may not have met: g is at most that.
    apart = between_nodes(samples(**known, sent_apart=(50,) * 6, spacing=column(*((8, 50),) * 6)))
    assert apart.classes["other_node"].g.bound_only
    # 100 B can last 50 ps by their bytes alone.
    large = between_nodes(samples(**known, sent_apart=(10,) * 6, spacing=column(*((100, 50),) * 6)))
    assert large.classes["other_node"].g.bound_only
    assert large.classes["other_node"].g.high <= 52


def test_messages_that_end_only_when_an_away_side_is_back_ask_first() -> None:
    """Six messages of 64 KiB whose sender was away for 200 ps ended 50 ps after its return: no eager message does."""
    whole = column(*((65536, 300),) * 6)
    away = column(*((65536, 200),) * 6)
    handshake = between_nodes(samples(whole=whole, unanswered=away)).classes["other_node"]
    assert handshake.limit == 0
    # 50 ps are a CTS and the payload's flight: with two ticks, all that L + o_s + o_r can be.
    assert handshake.total.high == 52
    # One that ended before its sender was back had no handshake, or its NIC replied.
    some = between_nodes(samples(whole=whole, unanswered=away, answered=column((65536, 200)))).classes["other_node"]
    assert some.limit is None
    assert some.total.high > 250


def test_the_clock_s_noise_is_that_of_the_class_that_shows_it() -> None:
    """Between nodes sends last 1000 ps and spread by 50; within a node they have no duration that this clock shows."""
    sends = column(*((8, time) for time in (*(950,) * 5, *(1000,) * 10, *(1050,) * 5)))
    far = samples(whole=column((8, 5000)), send_at_once=sends)
    near = samples(whole=column((8, 40)), send_at_once=column(*((8, 0),) * 20))
    found = estimate("test", [samples(), samples(), near, far]).classes
    # Two ticks and twice 50 ps beyond what was seen.
    assert found["same_node"].o_s.high == 0 + 2 + 100
    assert estimate("test", [samples(), samples(), near, samples()]).classes["same_node"].o_s.high == 2


def test_noise_that_makes_times_nothing_is_read_above_their_median() -> None:
    """A clock that errs by 50 ps to both sides shows half of the calls that take nothing as 0."""
    (seen,) = groups(column(*((8, time) for time in (*(0,) * 11, *range(10, 100, 10)))))
    assert seen.quantile(0.5) == seen.shortest == 0
    assert seen.spread == 80
    (lifted,) = groups(column(*((8, 1000 + time) for time in (*(0,) * 11, *range(10, 100, 10)))))
    assert lifted.spread == 0


@pytest.mark.parametrize("delayed", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("count", [700, 5000])
def test_delays_of_most_calls_are_not_their_noise(delayed: float, count: int) -> None:
    """Normal noise of 50 ps, whose 5 % quantile is 82 below its median, and delays of up to 1 µs."""
    chance = np.random.default_rng(count)
    delays = chance.uniform(0, 1e6, count) * (chance.random(count) < delayed)
    (seen,) = groups(column(*((8, 1000 + time) for time in chance.normal(0, 50, count) + delays)))
    assert 82 / 2 < seen.noise < 4 * 82
    assert delayed < 0.5 or seen.spread > 1e5


def test_points_of_one_size_show_no_slope() -> None:
    """Of 0 and 1 B neither has a gap: (k - 1) G. 8 B last 7 ps more."""
    rng = np.random.default_rng(7)
    times = {size: 1000.0 + max(0, size - 1) + rng.uniform(0, 1e-3, 30) for size in (0, 1, 8)}

    def through(*of: int) -> Lines:
        sizes = np.repeat(np.array(of, dtype=float), 30)
        found = lines([point(g, 0.5, before=1.0) for g in groups((sizes, np.concatenate([times[one] for one in of])))])
        assert found is not None
        return found

    three = through(0, 1, 8)
    assert three.sloped
    assert three.slope[0] <= 1.0 <= three.slope[2]
    two = through(0, 1)
    assert not two.sloped
    assert two.constant[0] <= 1000.0 <= two.constant[2]
