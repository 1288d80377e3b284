"""POP's efficiencies against their own identities and a closed example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.analyzer.report.efficiencies import NAMES, NO_COMPUTE, NO_IDEAL, NO_RANKS, efficiencies


def values(*arguments: object) -> dict[str, float | None]:
    return {e.name: e.value for e in efficiencies(*arguments)}  # type: ignore[arg-type]


def test_an_example() -> None:
    # 40, 60, 80 useful of 100; on an ideal network 90: LB = 60/80, CommE = 80/100 = 80/90 * 90/100, PE = 60/100.
    shown = values([40, 60, 80], 100, 90)
    assert list(shown) == list(NAMES)
    assert shown == pytest.approx(
        {
            "parallel_efficiency": 0.6,
            "load_balance": 0.75,
            "communication_efficiency": 0.8,
            "serialization": 80 / 90,
            "transfer": 0.9,
        }
    )


def test_serialization_and_transfer_are_never_guessed() -> None:
    found = {e.name: e for e in efficiencies([1], 2)}
    assert (found["serialization"].value, found["serialization"].reason) == (None, NO_IDEAL)
    assert (found["transfer"].value, found["transfer"].reason) == (None, NO_IDEAL)


def test_reasons_without_ranks_or_compute() -> None:
    assert {e.reason for e in efficiencies([], 100)} == {NO_RANKS}
    assert {e.reason for e in efficiencies([1], 0)} == {NO_RANKS}
    idle = {e.name: e for e in efficiencies([0, 0], 100)}
    assert (idle["load_balance"].value, idle["load_balance"].reason) == (None, NO_COMPUTE)
    assert idle["parallel_efficiency"].value == 0


@given(
    st.lists(st.integers(1, 10**15), min_size=1, max_size=50),
    st.floats(1.0, 5.0),
    st.floats(1.0, 5.0),
)
def test_products_hold(useful: list[int], stretch: float, network: float) -> None:
    ideal = int(max(useful) * stretch)
    shown = values(useful, int(ideal * network), ideal)
    assert all(value is not None and 0 < value <= 1 + 1e-12 for value in shown.values())
    parallel, balance, communication, serialization, transfer = (shown[name] or 0 for name in NAMES)
    assert parallel == pytest.approx(balance * communication)
    assert communication == pytest.approx(serialization * transfer)
