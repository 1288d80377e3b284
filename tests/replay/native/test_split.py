"""The labelled partition of single messages: stories with derived numbers, and the identities on random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.machines import RangeValues, ReplayParameters, assemble
from logpost.machines.parameters import UNLIMITED
from logpost.replay import _native
from logpost.replay.cost.parameters import native_parameters

PARTS = (
    "late_sender",
    "send_overhead",
    "middleware",
    "endpoint_contention",
    "latency",
    "serialization",
    "network_contention",
    "late_receiver",
    "processor_queueing",
    "recv_overhead",
    "residual",
)
WAITS = ("send_endpoint", "recv_endpoint", "cpu_queue", "network", "receiver_busy", "held_until")


def machine(
    *, limit: int | None = None, L: float = 100, o_s: float = 10, o_r: float = 20, G: float = 2
) -> ReplayParameters:
    """Times in ps: o_s = 10, L = 100, G = 2 ps/B, o_r = 20; rendezvous above `limit` bytes."""
    values = RangeValues(max_bytes=UNLIMITED, L_ps=L, o_s_ps=o_s, o_r_ps=o_r, G_ps_per_byte=G)
    limits = {} if limit is None else {"other_node": limit}
    return assemble("test", "this test", {"other_node": [values]}, eager_limits=limits, nics_per_node=1)


def split(times: dict[str, int], *, size: int = 51, on: ReplayParameters | None = None, **waits: int) -> dict[str, int]:
    """Parts of one message, zero ones left out, plus its deficit."""
    t = {"s0": 0, "s1": 0, **times}
    t.setdefault("sw0", t["s0"])
    t.setdefault("r0", t["rw0"])
    one = {name: np.array([t[name]], dtype=np.int64) for name in ("s0", "s1", "sw0", "r0", "rw0", "rw1")}
    parts, deficit = _native.split(
        native_parameters(on or machine()),
        **one,
        bytes=np.array([size], dtype=np.uint64),
        locality=np.array([3], dtype=np.uint8),
        stride=np.array([0], dtype=np.int64),
        block=np.array([0], dtype=np.uint64),
        waits=np.array([[waits.get(name, 0) for name in WAITS]], dtype=np.int64),
    )
    found = {name: int(value) for name, value in zip(PARTS, parts[0], strict=True) if value}
    envelope = t["rw1"] - min(min(t["s0"], t["rw1"]), t["rw0"])
    assert sum(found.values()) == envelope
    assert all(value > 0 for value in found.values())
    return {**found, "deficit": int(deficit[0])} if deficit[0] else found


def test_a_message_that_finds_its_receiver_waiting_is_overhead_latency_and_serialization() -> None:
    # 51 B: o_s 10 + L 100 + 50 * 2 + o_r 20 = 230; the rest of the 250 is residual.
    assert split({"s1": 15, "rw0": 0, "rw1": 250}) == {
        "send_overhead": 10,
        "latency": 100,
        "serialization": 100,
        "recv_overhead": 20,
        "residual": 20,
    }


def test_a_receiver_that_enters_first_waits_for_the_late_sender() -> None:
    # The receive is entered 300 before the send.
    parts = split({"s0": 300, "s1": 315, "rw0": 0, "rw1": 530})
    assert parts == {"late_sender": 300, "send_overhead": 10, "latency": 100, "serialization": 100, "recv_overhead": 20}


def test_an_eager_message_waits_for_the_late_receiver_after_its_arrival() -> None:
    # Arrival at 10 + 100 + 100 = 210; the receive is posted at 1000 and needs 20.
    parts = split({"s1": 15, "rw0": 1000, "rw1": 1020})
    assert parts == {
        "send_overhead": 10,
        "latency": 100,
        "serialization": 100,
        "late_receiver": 790,
        "recv_overhead": 20,
    }


def test_after_the_post_the_receivers_processor_is_what_the_message_waits_for() -> None:
    # Posted at 400 (Irecv), waited for at 1000: late_receiver ends at 400, then the processor computes.
    parts = split({"s1": 15, "r0": 400, "rw0": 1000, "rw1": 1020})
    assert parts["late_receiver"] == 190
    assert parts["processor_queueing"] == 600


def test_time_in_which_the_receiver_served_other_messages_is_processor_queueing() -> None:
    parts = split({"s1": 15, "rw0": 1000, "rw1": 1020}, receiver_busy=300)
    assert parts["processor_queueing"] == 300
    assert parts["late_receiver"] == 490


def test_queues_at_the_endpoints_are_before_the_residual() -> None:
    # 250 measured, 230 planned, queues of 15 and 40: 20 are left for them, shared 15 : 40 with the later tier at 0.
    parts = split({"s1": 15, "rw0": 0, "rw1": 250}, send_endpoint=15, recv_endpoint=40)
    assert parts == {
        "send_overhead": 10,
        "endpoint_contention": 20,
        "latency": 100,
        "serialization": 100,
        "recv_overhead": 20,
        "deficit": 35,
    }


def test_a_model_that_predicts_more_than_was_measured_is_a_deficit_outside_the_sum() -> None:
    # 30 between the overheads instead of the 200 that the model wants: shared 100 : 100.
    parts = split({"s1": 10, "rw0": 0, "rw1": 60})
    assert parts == {"send_overhead": 10, "latency": 15, "serialization": 15, "recv_overhead": 20, "deficit": 170}


def test_a_call_shorter_than_its_overhead_gives_only_what_it_has() -> None:
    parts = split({"s1": 4, "rw0": 0, "rw1": 250})
    assert parts["send_overhead"] == 4
    assert parts["deficit"] == 6


def test_a_message_received_before_it_was_sent_is_clamped_and_not_fitted() -> None:
    assert split({"s0": 500, "s1": 510, "rw0": 100, "rw1": 300}) == {"late_sender": 200}


def test_the_wait_for_other_requests_of_the_call_is_not_residual() -> None:
    # Arrived at 210 in a Waitall whose last message arrives at 900; o_r ends the call at 950.
    parts = split({"s1": 15, "r0": 0, "rw0": 0, "rw1": 950}, held_until=900)
    assert parts["processor_queueing"] == 690
    assert parts["residual"] == 30


def test_a_rendezvous_waits_for_the_receive_and_crosses_three_times() -> None:
    # Request: 10 + L 100 = 110. Receive entered at 500: late receiver 390. Control o 10, L 100 -> 610; control o 10,
    # L 100 + 100 serialization -> 820, o_r 20 -> 840.
    parts = split({"s1": 900, "rw0": 500, "rw1": 840}, on=machine(limit=16))
    assert parts == {
        "send_overhead": 20,
        "latency": 300,
        "serialization": 100,
        "late_receiver": 390,
        "recv_overhead": 30,
    }


def test_a_rendezvous_waits_for_a_sender_that_computes_before_its_wait() -> None:
    # Isend until 20, Wait from 2000: clear-to-send is there at 10 + 100 + 10 + 100 = 220, the sender at 2000.
    parts = split({"s1": 20, "sw0": 2000, "rw0": 0, "rw1": 2230}, on=machine(limit=16))
    assert parts["processor_queueing"] == 1780
    assert "residual" not in parts


def test_half_of_the_middleware_latency_is_at_each_end() -> None:
    from logpost.machines import Log3PTable

    table = Log3PTable(
        sizes=np.array([51]),
        o_mw_ps=np.array([np.nan]),
        o_net_ps=np.array([np.nan]),
        T_mem_ps=np.array([np.nan]),
        l_mw=np.array([[51.0, 64.0, 0.0, 40.0]]),
    )
    values = RangeValues(max_bytes=UNLIMITED, L_ps=100, o_s_ps=10, o_r_ps=20, G_ps_per_byte=2)
    strided = assemble("test", "this test", {"other_node": [values]}, eager_limits={}, nics_per_node=1, log3p=table)
    arguments: dict[str, Any] = {
        name: np.array([value], dtype=np.int64)
        for name, value in {"s0": 0, "s1": 50, "sw0": 0, "r0": 0, "rw0": 0, "rw1": 270}.items()
    }
    parts, deficit = _native.split(
        native_parameters(strided),
        **arguments,
        bytes=np.array([51], dtype=np.uint64),
        locality=np.array([3], dtype=np.uint8),
        stride=np.array([64], dtype=np.int64),
        block=np.array([0], dtype=np.uint64),
        waits=np.zeros((1, 6), dtype=np.int64),
    )
    assert dict(zip(PARTS, map(int, parts[0]), strict=True))["middleware"] == 40
    assert int(parts.sum()) == 270
    assert int(deficit[0]) == 0


times = st.integers(0, 10_000)


@given(st.data())
def test_parts_are_never_negative_and_add_up_whatever_was_measured(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))

    def draw() -> npt.NDArray[np.int64]:
        return np.array(data.draw(st.lists(times, min_size=n, max_size=n)), dtype=np.int64)

    s0, r0 = draw(), draw()
    s1, rw0 = s0 + draw(), r0 + draw()
    blocking = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    sw0 = np.where(blocking, s0, s1 + draw())
    rw1 = rw0 + draw()
    on = machine(
        limit=data.draw(st.sampled_from([None, 0, 1000])),
        L=data.draw(st.integers(0, 5000)),
        o_s=data.draw(st.integers(0, 5000)),
        o_r=data.draw(st.integers(0, 5000)),
        G=data.draw(st.floats(0, 3)),
    )
    waits = np.stack([draw() for _ in WAITS], axis=1)
    parts, deficit = _native.split(
        native_parameters(on, asynchronous_progress=data.draw(st.booleans())),
        s0=s0,
        s1=s1,
        sw0=sw0,
        r0=r0,
        rw0=rw0,
        rw1=rw1,
        bytes=draw().astype(np.uint64),
        locality=np.full(n, 3, dtype=np.uint8),
        stride=np.zeros(n, dtype=np.int64),
        block=np.zeros(n, dtype=np.uint64),
        waits=waits,
    )
    assert (parts >= 0).all()
    assert (deficit >= 0).all()
    assert (parts.sum(axis=1) == rw1 - np.minimum(np.minimum(s0, rw1), rw0)).all()


@given(st.integers(0, 10**15), st.lists(st.tuples(st.integers(0, 10**15), st.integers(0, 3)), max_size=12))
def test_fit_serves_lower_tiers_first_and_loses_nothing(duration: int, stages: list[tuple[int, int]]) -> None:
    wanted, tiers = [w for w, _ in stages], [t for _, t in stages]
    granted, residual, deficit = _native.fit(duration, wanted, tiers)
    assert sum(granted) + residual == duration
    assert all(0 <= g <= w for g, w in zip(granted, wanted, strict=True))
    assert residual * deficit == 0
    assert deficit == max(0, sum(wanted) - duration)
    for tier in range(3):
        short = any(g < w for g, w, t in zip(granted, wanted, tiers, strict=True) if t == tier)
        if short:
            assert not any(g for g, t in zip(granted, tiers, strict=True) if t > tier)


@pytest.mark.parametrize(
    ("duration", "wanted", "granted"),
    # 10 over 3 : 3 : 3 are 3.33 each: the remainders tie, the earlier stage gets the picosecond that is left.
    # 7 over 5 : 9 are 2.5 and 4.5: again a tie.
    [(10, [5, 5, 5], [4, 3, 3]), (7, [5, 9], [3, 4]), (0, [5], [0]), (5, [], [])],
)
def test_fit_scales_by_largest_remainder(duration: int, wanted: list[int], granted: list[int]) -> None:
    assert _native.fit(duration, wanted, [0] * len(wanted))[0] == granted


@given(st.integers(0, 2**62), st.lists(st.integers(0, 2**60), min_size=1, max_size=6), st.integers(0, 60))
def test_fit_is_exact_at_any_length(duration: int, wanted: list[int], shorter: int) -> None:
    """Products of short times fit into 64 bits, those of long ones do not."""
    duration, wanted = duration >> shorter, [time >> shorter for time in wanted]
    total = sum(wanted)
    granted, _, _ = _native.fit(duration, wanted, [0] * len(wanted))
    if total <= duration:
        assert granted == wanted
        return
    shares = [time * duration // total for time in wanted]
    by_remainder = sorted(range(len(wanted)), key=lambda i: (-(wanted[i] * duration % total), i))
    for i in by_remainder[: duration - sum(shares)]:
        shares[i] += 1
    assert granted == shares
