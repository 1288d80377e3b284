"""Scalars, NumPy arrays and polars columns are one kind of argument; bad ones are named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from logpost.replay.cost.arrays import ModelError, values


def test_scalars_stay_scalars_and_columns_become_arrays() -> None:
    assert values("B", 3) == 3.0
    assert isinstance(values("B", np.int64(3)), float)
    np.testing.assert_array_equal(values("B", pl.Series([1, 2, 3])), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(values("B", [1, 2]), [1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (-1.0, {}, r"L = -1 must be at least 0"),
        ([0.0, -2.0, -3.0], {}, r"L = -2 must be at least 0"),  # the first bad one
        (0.0, {"above": 0.0}, r"L = 0 must be greater than 0"),
        (2.0, {"at_most": 1.0}, r"L = 2 must be at most 1"),
        (float("inf"), {}, r"L = inf must be finite"),
        (float("nan"), {}, r"L is not a number \(NaN\)"),
        ("five", {}, "L must be a number .*, not 'five'"),
        (pl.Series([1.0, None]), {}, r"L is not a number \(NaN\)"),
    ],
)
def test_bad_values_are_refused_by_name(value: object, limits: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        values("L", value, **limits)  # type: ignore[arg-type]


def test_infinity_is_allowed_on_request() -> None:
    assert values("S", float("inf"), finite=False) == float("inf")
