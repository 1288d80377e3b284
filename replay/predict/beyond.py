"""Which of a machine's values are read beyond what was measured, and in how many rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.machines import Machine
from logpost.replay.cost.message import message_costs
from logpost.replay.models.interface import Model
from logpost.replay.predict.machine_values.locality import class_taken
from logpost.replay.predict.machine_values.loggp import OVERLAP
from logpost.replay.predict.machine_values.stated import stated

_BY_RANGE = ("L", "o_s", "o_r", "o", "g", "G", "O")


@dataclass(frozen=True)
class Beyond:
    """`names` are extrapolated in `rows` of the table, because of `why`."""

    names: tuple[str, ...]
    why: str
    rows: int

    def text(self, of: int) -> str:
        """A sentence for a table of `of` rows."""
        verb = "is" if len(self.names) == 1 else "are"
        where = "" if of == 1 else f" in {self.rows} of {of} rows"
        return f"{', '.join(self.names)} {verb} extrapolated {self.why}{where}"


def beyond(
    model: Model, machine: Machine, given: Mapping[str, Any], taken: Collection[str], locality: str, count: int
) -> tuple[Beyond, ...]:
    """For the values named `taken`, which come from the machine, in a table of `count` rows."""

    def rows(where: Any) -> int:
        return int(np.count_nonzero(np.broadcast_to(np.asarray(where, dtype=bool), (count,))))

    found = (
        Beyond(names, why, rows(where)) for names, why, where in _places(model, machine, given, set(taken), locality)
    )
    return tuple(one for one in found if one.names and one.rows)


Found = tuple[tuple[str, ...], str, NDArray[np.bool_]]


def _places(
    model: Model, machine: Machine, given: Mapping[str, Any], taken: set[str], locality: str
) -> Iterator[Found]:
    overlap = model.name in OVERLAP
    size = given.get("S" if overlap else "B")
    if size is None:
        return
    known = stated(machine, locality)
    from_tables = {"o"} if overlap and machine.overlap.o else set()
    from_tables |= {"G", "G_V"} if overlap and machine.overlap.G else set()
    last = float(known.up_to_bytes[-1])
    if class_taken(machine, locality) is not None and np.isfinite(last):
        names = tuple(name for name in _BY_RANGE if name in taken - from_tables)
        yield names, f"beyond the largest measured size, {size_text(last)}", np.asarray(size) > last
    for name in ("o_mw", "o_net", "T_mem"):
        if name in taken and name in known.lines:
            line = known.lines[name]
            yield (name,), f"beyond the largest measured size, {size_text(line.x[-1])}", line.read(size)[1]
    if "l_mw" in taken:
        cost = message_costs(known.parameters, size, block=given.get("block", 0.0), stride=given.get("stride", 0.0))
        yield ("l_mw",), "beyond the largest measured number of blocks", cost.beyond_sizes
        yield ("l_mw",), "from the largest measured stride", cost.beyond_strides
    if "o" in taken & from_tables:
        largest = max(point.size_bytes for point in machine.overlap.o)
        longest = max(point.burst for point in machine.overlap.o)
        yield ("o",), f"beyond the largest measured size, {size_text(largest)}", np.asarray(size) > largest
        yield ("o",), f"from the longest measured burst, {longest}", np.asarray(given.get("b", 1.0)) > longest
    if "G" in taken & from_tables:
        largest = max(point.size_bytes for point in machine.overlap.G)
        most = max(point.processors for point in machine.overlap.G)
        yield ("G",), f"from the largest measured size, {size_text(largest)}", np.asarray(size) > largest
        yield ("G",), f"from the most measured processors, {most}", np.asarray(given.get("P", 1.0)) > most


def size_text(size: float) -> str:
    """Bytes as people write them: 64 KiB, 1500 B."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size / factor:g} {unit}"
    return f"{size:.10g} B"
