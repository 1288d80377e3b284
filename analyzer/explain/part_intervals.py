"""How far the intervals of a machine's values move the parts that a model finds.

    upper = share + sqrt( sum_v max(share(v low) - share, share(v high) - share, 0)^2 )
    lower likewise, with the falls

v are the machine's values by name; those of all sizes and locality classes move together, because what disturbs a
measurement disturbs them alike. Each name is set to both ends of its 95 % interval, and the middle of the program,
REPLAYED messages, is split again. Values that state no uncertainty are taken as exact. What no value of the machine is,
the model's own error, is not in the intervals: it is residual and deficit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from logpost.analyzer.machine.estimate.identify import REPLAYED
from logpost.analyzer.pipeline.resplit import Resplit
from logpost.analyzer.report.data import Messages, ModelFit
from logpost.machines import Machine, replay_parameters
from logpost.machines.parameters import ReplayParameters
from logpost.machines.schema.places import Place, located
from logpost.machines.values.quantity import Quantity
from logpost.replay.predict.intervals import at, ends_of, replaced

TABLES = ("loggp", "logpc", "log3p", "overlap", "memory", "network", "topology")
"""Of a machine file, that a split reads."""
KINDS = ("messages", "transfers", "collectives")

Shares = Mapping[str, Mapping[str, float]]
"""Kind -> part, or deficit -> its share of the envelopes."""


@dataclass(frozen=True)
class AtEnds:
    """The middle of a run's program, and its machine with each name of values at both ends."""

    middle: Resplit
    ends: tuple[tuple[ReplayParameters, ...], ...]

    @classmethod
    def of(cls, split: Resplit, machine: Machine) -> AtEnds | None:
        """None where no value states an uncertainty."""
        ends = tuple(_ends(machine))
        return cls(split.middle(REPLAYED), ends) if ends else None

    def add(self, fit: ModelFit, again: Callable[[Resplit], ModelFit]) -> ModelFit:
        """The fit with the intervals of its shares; `again` makes it of a split."""
        centre = _shares(again(self.middle))
        falls, rises = ({kind: dict.fromkeys(parts, 0.0) for kind, parts in centre.items()} for _ in range(2))
        for both in self.ends:
            moved = [_shares(again(self.middle.on(one))) for one in both]
            for kind, parts in centre.items():
                for part, share in parts.items():
                    by = [one.get(kind, {}).get(part, 0.0) - share for one in moved]
                    rises[kind][part] = math.hypot(rises[kind][part], *([max(by)] if max(by) > 0.0 else []))
                    falls[kind][part] = math.hypot(falls[kind][part], *([min(by)] if min(by) < 0.0 else []))
        return replace(
            fit,
            **{
                kind: replace(
                    sums,
                    share_intervals={
                        part: (max(0.0, share - falls[kind].get(part, 0.0)), share + rises[kind].get(part, 0.0))
                        for part, share in _of(sums).items()
                    },
                )
                for kind in KINDS
                if (sums := getattr(fit, kind)) is not None and kind in centre
            },
        )


def _ends(machine: Machine) -> Iterator[tuple[ReplayParameters, ...]]:
    """For each name of values with an uncertainty the machines that have them at either end."""
    by_name: dict[str, list[tuple[Place, Quantity, tuple[float, float]]]] = {}
    for found in located(machine):
        ends = ends_of(found.quantity) if found.place[0] in TABLES else None
        if ends is not None and ends[0] < ends[1]:
            by_name.setdefault(str(found.place[-1]), []).append((found.place, found.quantity, ends))
    for some in by_name.values():
        both = []
        for end in (0, 1):
            moved = machine
            for place, quantity, ends in some:
                moved = replaced(moved, place, at(quantity, ends[end]))
            both.append(replay_parameters(moved))
        yield tuple(both)


def _shares(fit: ModelFit) -> dict[str, dict[str, float]]:
    return {kind: _of(sums) for kind in KINDS if (sums := getattr(fit, kind)) is not None and sums.envelope_ps}


def _of(sums: Messages) -> dict[str, float]:
    """The share of each part, and the deficit's."""
    whole = max(1, sums.envelope_ps)
    return {**{part: time / whole for part, time in sums.parts_ps.items()}, "deficit": sums.deficit_ps / whole}
