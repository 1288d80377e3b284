"""Numbers, NumPy arrays and polars columns as one kind of argument.

Every model formula is written once and works on a scalar and on a column: arguments pass through
:func:`values`, which turns a polars Series into a NumPy array, leaves a scalar a float, and refuses what no
formula can use. Results are floats for scalars and NumPy arrays for columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from logpost.errors import InputError

if TYPE_CHECKING:  # a column is an array to NumPy
    import polars as pl

Number: TypeAlias = "float | NDArray[np.float64]"
NumberLike: TypeAlias = "float | int | NDArray[Any] | pl.Series | Sequence[float]"


class ModelError(InputError):
    """A model got a value outside its validity range; the message names the value.

    Args:
        text: the message; with `times`, a format string whose fields are their names.
        times: in the unit that the model was given. The model does not know it: `in_unit` writes them in the caller's.
    """

    def __init__(self, text: str, **times: float) -> None:
        self._text, self._times = text, times
        super().__init__(self._formatted("{:g}".format))

    def in_unit(self, time_text: Callable[[float], str]) -> ModelError:
        """The same error, its times written by `time_text`."""
        return ModelError(self._formatted(time_text))

    def _formatted(self, time_text: Callable[[float], str]) -> str:
        if not self._times:
            return self._text
        return self._text.format(**{name: time_text(time) for name, time in self._times.items()})


def values(
    name: str,
    value: NumberLike,
    *,
    at_least: float = 0.0,
    above: float | None = None,
    at_most: float | None = None,
    finite: bool = True,
) -> Number:
    """``value`` as a float or a float64 array, checked.

    Parameters
    ----------
    name: the symbol as the user knows it; messages name it.
    at_least, above, at_most: the admissible range (``above`` excludes its end).
    finite: refuse infinities (NaN is always refused).

    Raises
    ------
    ModelError: not a number, not finite, or outside the range; the first offending value is printed.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} must be a number or a column of numbers, not {value!r}") from None
    if np.isnan(array).any():
        raise ModelError(f"{name} is not a number (NaN): give a value for every row")
    if finite:
        _refuse(name, array, ~np.isfinite(array), "must be finite")
    if above is not None:
        _refuse(name, array, array <= above, f"must be greater than {above:g}")
    else:
        _refuse(name, array, array < at_least, f"must be at least {at_least:g}")
    if at_most is not None:
        _refuse(name, array, array > at_most, f"must be at most {at_most:g}")
    return float(array) if array.ndim == 0 else array


def _refuse(name: str, array: NDArray[np.float64], bad: NDArray[np.bool_], rule: str) -> None:
    if bad.any():
        raise ModelError(f"{name} = {float(array[bad].flat[0]):g} {rule}")


def whole(name: str, value: NumberLike, *, at_least: float = 0.0) -> Number:
    """``value`` checked as :func:`values` does, and that it counts something: 2.5 nodes are refused, not cut to 2."""
    number = values(name, value, at_least=at_least)
    array = np.asarray(number)
    _refuse(name, array, array != np.rint(array), "must be a whole number")
    return number


def scalar_or_array(value: Any) -> Number:
    """A NumPy result as the caller expects it: 0-d becomes a float, the rest stays an array."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
