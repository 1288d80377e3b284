"""Parameters estimated from observations that were made with known ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.analyzer.estimate import Line, eager_limit, estimate, lower_envelope
from logpost.machines.parameters import UNLIMITED


def none() -> tuple[Any, Any]:
    return np.array([], dtype=np.uint64), np.array([], dtype=np.int64)


def column(sizes: Any, times: Any) -> tuple[Any, Any]:
    return np.asarray(sizes, dtype=np.uint64), np.rint(np.asarray(times)).astype(np.int64)


def no_messages() -> dict[str, Any]:
    names = ("end_to_end", "send_call", "receive_call", "early_complete", "late_complete")
    return {**{name: none() for name in names}, "messages": 0}


def test_the_envelope_of_exact_times_is_their_line() -> None:
    sizes = np.array([8, 64, 512, 4096] * 50)
    line = lower_envelope(*column(sizes, 1000 + 3 * sizes))
    assert line.constant == pytest.approx(1000)
    assert line.slope == pytest.approx(3)
    assert line.n == 200


def test_waits_do_not_move_the_envelope() -> None:
    # One message in ten is undisturbed, the others wait up to 50 times as long.
    random = np.random.default_rng(1)
    sizes = random.choice([8, 64, 512, 4096], 20_000)
    waits = np.where(random.random(20_000) < 0.1, 0, random.exponential(50_000, 20_000))
    line = lower_envelope(*column(sizes, 1000 + 3 * sizes + waits))
    assert line.constant == pytest.approx(1000, rel=0.01)
    assert line.slope == pytest.approx(3, rel=0.01)


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**50)), max_size=60))
def test_an_envelope_is_never_negative(points: list[tuple[int, int]]) -> None:
    line = lower_envelope(*column([size for size, _ in points], [time for _, time in points]))
    assert line.constant >= 0
    assert line.slope >= 0
    assert line == Line() or line.n == len(points)


def test_the_eager_limit_needs_proof_below_and_evidence_above() -> None:
    early = column([8, 1024, 4096], [1, 1, 1])
    assert eager_limit(early, column([8192] * 5, [1] * 5)) == 4096
    assert eager_limit(early, column([8192] * 4, [1] * 4)) is None  # too few to judge by
    assert eager_limit(early, column([64] * 50, [1] * 50)) is None  # a wait at a size that is proven to be eager
    assert eager_limit(none(), column([8192] * 5, [1] * 5)) == 0


def observations(*, o_s: float, o_r: float, L: float, G: float, limit: int) -> dict[str, Any]:
    """What a trace shows of a LogGP machine: eager messages up to `limit` bytes, rendezvous above, some disturbed."""
    random = np.random.default_rng(7)
    sizes = random.choice([8, 256, 1024, 4096, 65536, 262144], 40_000)
    eager = sizes <= limit
    crossings = np.where(eager, 1, 3)
    control = np.where(eager, 0, 2 * o_s)
    disturbed = np.where(random.random(sizes.size) < 0.5, random.exponential(1e6, sizes.size), 0)
    whole = o_s + crossings * L + control + (sizes - 1) * G + o_r + disturbed
    return {
        "end_to_end": column(sizes, whole),
        "send_call": column(sizes[eager], np.full(eager.sum(), o_s)),
        "receive_call": column(sizes[eager], np.full(eager.sum(), o_r)),
        "early_complete": column(sizes[eager], np.ones(eager.sum())),
        "late_complete": column(sizes[~eager], np.ones((~eager).sum())),
        "messages": sizes.size,
    }


def test_known_parameters_come_back() -> None:
    given_values = {"o_s": 200e3, "o_r": 300e3, "L": 1500e3, "G": 250.0}
    samples = [no_messages(), no_messages(), no_messages(), observations(**given_values, limit=4096)]
    found, notes = estimate("test", samples)
    assert notes == []
    assert found.eager_limit("other_node") == 4096
    assert found.max_bytes.tolist()[-2:] == [4096, UNLIMITED]
    for row in (-2, -1):
        assert found.o_s_ps[row] == pytest.approx(200e3, rel=0.01)
        assert found.o_r_ps[row] == pytest.approx(300e3, rel=0.01)
        assert found.L_ps[row] == pytest.approx(1500e3, rel=0.01)
        assert found.G_ps_per_byte[row] == pytest.approx(250, rel=0.01)
    assert found.quality["other_node"].n == 40_000
    assert found.errors["L_ps"][-1] < 0.05 * 1500e3


def test_what_the_trace_does_not_show_is_said() -> None:
    bare = {**no_messages(), "end_to_end": column([8] * 20, [1000] * 20), "messages": 20}
    found, notes = estimate("test", [no_messages(), no_messages(), bare, no_messages()])
    assert found.L_ps[-1] == 1000
    assert notes == [
        "same_node: G is not identifiable from this trace: its 0 is what the envelope leaves, not a measurement",
        "same_node: no send completed before its receive was posted: o_s is set to 0 and is part of L",
        "same_node: no message was waiting for its receive: o_r is set to 0 and is part of L",
    ]


def test_a_value_of_zero_is_said_to_be_no_measurement() -> None:
    """All sends are over at once: o_s is 0 in every part of the samples, and would read as 0 ± 0."""
    samples = [no_messages(), no_messages(), no_messages()]
    found, notes = estimate("test", [*samples, observations(o_s=0.0, o_r=300e3, L=1500e3, G=250.0, limit=4096)])
    assert (found.o_s_ps[-1], found.errors["o_s_ps"][-1]) == (0, 0)
    assert notes == [
        "other_node: o_s is not identifiable from this trace: its 0 is what the envelope leaves, not a measurement"
    ]


def test_a_trace_without_messages_has_a_machine_of_zeros_that_says_so() -> None:
    found, notes = estimate("test", [no_messages()] * 4)
    assert found.source == "no message to estimate from"
    assert not found.L_ps.any()
    assert notes == ["the trace identifies no parameter of its machine: model values are 0, all transport is residual"]
