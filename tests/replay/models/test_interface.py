"""What every closed form does with its columns: one length for all, none of them of no rows, unique names."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from logpost.replay.models import MODELS, Model, ModelError, model
from logpost.replay.models.lognp import Chain

# One call per model evaluated row by row, and two that are not.
CALLS: dict[str, dict[str, Any]] = {
    "diamond-dag": {"n_tasks": 8, "P": 2, "b": 2, "task": 1, "L": 1, "o_s": 1, "G": 1, "kx": 4, "ky": 4},
    "locality": {"kx": 8, "ky": 4},
    "complexity": {"N": 3, "S": 2},
    "lopc-servers": {"clients": 2, "servers": 1, "L": 5, "o": 1},
    "log3p-extract": {"T00": 32, "T01": 160, "T00_strided": 452, "T_mem": 3},
    "logp-benchmark": {"L": 5, "o": 1, "g": 3, "M": 4, "delta": 2},
    "logp-extract": {"o_s": 1.4, "g": 7.6, "cost": 19.6, "delta": 16, "RTT": 20},
    "overlap-search": {"V": 64, "t_V": 40, "o": 0.1, "L": 1, "G": 0.01},
    "logp": {"L": 5, "o": 1, "k": 3},
    "logpc-network": {"B": 16, "T": 137, "G": 0.5, "kx": 8, "ky": 4},
}
NUMBERS = [(name, parameter) for name, given in CALLS.items() for parameter in given]


@pytest.mark.parametrize(("name", "parameter"), NUMBERS)
@pytest.mark.parametrize("empty", [np.array([]), pl.Series([], dtype=pl.Float64), []], ids=["numpy", "polars", "list"])
def test_a_column_of_no_rows_gives_columns_of_no_rows(name: str, parameter: str, empty: Any) -> None:
    one = MODELS[name]
    found = one.predict(**{**CALLS[name], parameter: empty})
    assert found.keys() >= one.predict(**CALLS[name]).keys()
    for output, column in found.items():
        assert isinstance(column, np.ndarray), output
        assert (column.shape, column.dtype) == ((0,), np.float64), output


def test_no_rows_with_a_table_of_two_dimensions() -> None:
    assert model("logp").predict(L=np.ones((2, 1)), o=np.empty((0,)))["T"].shape == (2, 0)
    assert model("locality").predict(kx=np.full((2, 1), 8.0), ky=np.empty((0,)))["neighbours"].shape == (2, 0)


def test_what_was_given_is_no_result_of_no_rows() -> None:
    given = {**CALLS["diamond-dag"], "B": np.array([])}
    assert "B" not in MODELS["diamond-dag"].predict(**given)


@pytest.mark.parametrize(("name", "parameter"), NUMBERS)
def test_columns_of_different_length_are_named(name: str, parameter: str) -> None:
    given = {key: np.full(2, float(value)) for key, value in CALLS[name].items() if key != parameter}
    other = {} if "o" in {p.name for p in MODELS[name].parameters} else {"o": "o_[sr]"}
    names = "|".join(other.get(key, key) for key in given)
    three = other.get(parameter, parameter)
    message = rf"different length: (({names}) has 2 and {three} has 3|{three} has 3 and ({names}) has 2) values; give"
    with pytest.raises(ModelError, match=message):
        MODELS[name].predict(**given, **{parameter: np.full(3, float(CALLS[name][parameter]))})


def test_columns_of_one_length() -> None:
    """A scalar or a column of one value fits any column; two fit no other number of rows."""
    logp = model("logp")
    # o_s + L + o_r = 1 + 5 + 1, and the same with o = 2
    assert logp.predict(L=5, o=[1, 2])["T"].tolist() == logp.predict(L=[5], o=[1, 2])["T"].tolist() == [7, 9]
    with pytest.raises(ModelError, match=r"L has 2 and o_s has 0 values"):
        logp.predict(L=[5, 6], o=[])
    with pytest.raises(ModelError, match=r"L has 2 x 2 and o_s has 3 values"):
        logp.predict(L=np.ones((2, 2)), o=[1, 2, 3])


def test_chains_and_messages_have_columns_of_one_length_too() -> None:
    assert Chain(o=(np.array([1.0, 2.0]), 3.0), l=(0.0, np.array([1.0, 1.0]))).time().tolist() == [5, 6]  # type: ignore[union-attr]
    with pytest.raises(ModelError, match=r"columns of different length: o_1 has 2 .* l_0 has 3"):
        Chain(o=(1.0, np.ones(2)), l=(np.ones(3), 0.0))
    with pytest.raises(ModelError, match=r"o_0 has 2 and g_0 has 3 values"):
        Chain(o=(np.ones(2),), l=(0.0,), g=(np.ones(3),))


@pytest.mark.parametrize("column", [np.array(["mesh", "torus"]), pl.Series(["mesh", "torus"]), 1.0, None])
def test_a_choice_is_one_for_all_rows(column: Any) -> None:
    with pytest.raises(ModelError, match=r"topology is one choice .*: mesh .*torus .*unidirectional_torus$"):
        model("kary-ncube").predict(kx=8, ky=4, B=8, topology=column)


@pytest.mark.parametrize("one", MODELS.values(), ids=lambda one: one.name)
def test_a_result_has_no_required_parameter_s_name(one: Model) -> None:
    """It would be a second column of that name in every table."""
    assert not {output.name for output in one.outputs} & {p.name for p in one.parameters if not p.optional}


@pytest.mark.parametrize("name", CALLS)
def test_a_column_with_nulls_is_refused(name: str) -> None:
    parameter, value = next(iter(CALLS[name].items()))
    for column in (pl.Series([value, None]), pl.Series([None, None])):
        with pytest.raises(ModelError, match=r" is not a number \(NaN\): .* every row"):
            MODELS[name].predict(**{**CALLS[name], parameter: column})
