"""Values as people write them on the command line: 5us, 0.5cycle/B, 1MiB, 10GB/s, 50 %.

Times become picoseconds, times per byte picoseconds per byte, sizes bytes. A gap per byte may also be given as
a bandwidth, whose inverse it is. A number without a unit is in the unit of the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from logpost.machines.values.units import PS_PER_S, UNITS, to_base
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import Parameter

MOST_POINTS = 10**6
"""Points of a sweep, and rows of a table: more is a slip of the keyboard, and would not fit into memory."""

_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf)\s*(.*?)\s*")
_DIMENSION = {"time": "time", "time_per_byte": "time per byte", "bytes": "bytes", "count": "number", "ratio": "number"}
_SPELLED = {"µs": "us", "cycles": "cycle", "cycles/B": "cycle/B", "µs/B": "us/B", "": ""}


def parse_value(parameter: Parameter, text: str, *, time_unit: str, clock_hz: float | None) -> float | str:
    """``text`` as the parameter's value: ps, ps/B, bytes, a number, or the choice itself.

    Raises ModelError for what is no number or a negative one, for a unit of another dimension, and for cycles without
    a clock.
    """
    if parameter.kind == "choice":
        if text not in parameter.choices:
            raise ModelError(f"{parameter.name} = {text!r}: choose {' or '.join(parameter.choices)}")
        return text
    if parameter.kind == "table":
        raise ModelError(f"{parameter.name} comes from a machine's tables (--machine), not from --set")
    matched = _NUMBER.fullmatch(text)
    if matched is None:
        raise ModelError(f"{parameter.name} = {text!r} is not a number with a unit, e.g. {example(parameter)}")
    number, unit = float(matched[1]), _SPELLED.get(matched[2], matched[2])
    if number < 0.0:
        raise ModelError(f"{parameter.name} = {text!r} must be at least 0")
    if unit == "":
        unit = {"time": time_unit, "time_per_byte": f"{time_unit}/B", "bytes": "B"}.get(parameter.kind, "1")
    wanted = _DIMENSION[parameter.kind]
    if unit not in UNITS:
        known = [name for name, entry in UNITS.items() if entry.dimension == wanted]
        raise ModelError(f"{parameter.name} = {text!r}: {unit!r} is not a unit; use one of {', '.join(known)}")
    if unit.startswith("cycle") and clock_hz is None:
        raise ModelError(
            f"{parameter.name} = {text!r} needs the processor clock next to times in seconds: give it, e.g. "
            "--clock 20MHz"
        )
    found = UNITS[unit].dimension
    if parameter.kind == "time_per_byte" and found == "time":
        return to_base(number, f"{unit}/B", clock_hz)
    if parameter.kind == "time_per_byte" and found == "bandwidth":
        rate = to_base(number, unit, clock_hz)
        if not (rate > 0.0 and math.isfinite(rate)):
            raise ModelError(f"{parameter.name} = {text!r}: a bandwidth must be positive and finite")
        return PS_PER_S / rate
    if found != wanted:
        raise ModelError(f"{parameter.name} = {text!r} is a {found}, but it is a {wanted}, e.g. {example(parameter)}")
    return to_base(number, unit, clock_hz)


def example(parameter: Parameter) -> str:
    """How a value of the parameter may be written, e.g. L=5us."""
    return f"{parameter.name}=" + {"time": "5us", "time_per_byte": "0.1ns/B or 10GB/s", "bytes": "4KiB"}.get(
        parameter.kind, "8"
    )


def parse_sweep(parameter: Parameter, text: str, *, time_unit: str, clock_hz: float | None) -> NDArray[np.float64]:
    """FROM:TO:COUNT[:lin|log], or a list A,B,C. Geometric by default where both ends are positive.

    A list is taken as written. Between two ends, sizes and counts are rounded to whole numbers, and doubled points
    dropped; the ends themselves must then be whole.

    Raises ModelError for what parse_value refuses, for ends that are infinite, and for more than MOST_POINTS points.
    """

    def number(part: str) -> float:
        value = parse_value(parameter, part, time_unit=time_unit, clock_hz=clock_hz)
        if isinstance(value, str):
            raise ModelError(f"{parameter.name} is a choice: it cannot be swept")
        return value

    if ":" not in text:
        return np.asarray([number(part) for part in text.split(",")])
    what = f"--sweep {parameter.name}={text}"
    parts = text.split(":")
    if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3] not in ("lin", "log")):
        spans = {"time": "1us:100us:21", "time_per_byte": "0.1ns/B:10ns/B:21", "bytes": "1:1MiB:21"}
        raise ModelError(f"{what}: write FROM:TO:COUNT, e.g. {parameter.name}={spans.get(parameter.kind, '1:100:21')}")
    start, stop = number(parts[0]), number(parts[1])
    count = _points(what, parts[2])
    for end, written in ((start, parts[0]), (stop, parts[1])):
        if not math.isfinite(end):
            raise ModelError(
                f"{what}: {written} has no steps up to it; list the points, e.g. {parameter.name}=8,64,inf"
            )
        if parameter.kind in ("bytes", "count") and not _is_whole(end):
            raise ModelError(f"{what}: {written} is not whole, and the points between are; list them, as A,B,C")
    spacing = parts[3] if len(parts) == 4 else ("log" if start > 0.0 and stop > 0.0 else "lin")
    if spacing == "log":
        if not (start > 0.0 and stop > 0.0):
            raise ModelError(f"{what}: a geometric sweep needs ends above 0")
        return _whole(parameter, np.geomspace(start, stop, count))
    return _whole(parameter, np.linspace(start, stop, count))


def _points(what: str, written: str) -> int:
    if not (written.isascii() and written.isdecimal()) or not written.strip("0"):
        raise ModelError(f"{what}: {written!r} is not a number of points")
    # The digits are counted first: Python refuses to read thousands of them.
    if len(written.lstrip("0")) > len(str(MOST_POINTS)) or int(written) > MOST_POINTS:
        raise ModelError(f"{what}: a sweep has at most {MOST_POINTS} points; ask for fewer")
    return int(written)


def _is_whole(number: float) -> bool:
    """Whether it is a whole number, up to the rounding of a unit's factor (1.1 kB)."""
    return math.isclose(number, round(number), rel_tol=1e-12)


def _whole(parameter: Parameter, points: NDArray[np.float64]) -> NDArray[np.float64]:
    if parameter.kind not in ("bytes", "count"):
        return points
    rounded = np.rint(points)
    _, first = np.unique(rounded, return_index=True)
    return np.asarray(rounded[np.sort(first)])


def parse_assignments(assignments: Sequence[str], option: str) -> list[tuple[str, str]]:
    """NAME=VALUE texts as pairs. Raises ModelError for anything else."""
    pairs = []
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ModelError(f"{option} {text}: write NAME=VALUE, e.g. {option} L=5us")
        pairs.append((name.strip(), value.strip()))
    return pairs
