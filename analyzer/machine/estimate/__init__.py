"""Estimate a machine from the trace itself when no machine is given, and say which of it the trace identifies.

With only contended or late messages, L + o_s + o_r has an upper bound, and nothing else is identifiable. Each
parameter is therefore an interval with its reason (`locality`); what the trace does not measure, the split must not
divide (`identify`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from logpost.analyzer.machine.estimate.interval import Interval
from logpost.analyzer.machine.estimate.locality import TOTAL, ClassEstimate, estimate_class, noise
from logpost.machines import LOCALITIES, Quality, RangeValues, ReplayParameters, assemble, estimated_parameters
from logpost.machines.parameters import PARAMETERS, UNLIMITED

__all__ = ["TOTAL", "ClassEstimate", "Estimate", "Interval", "estimate"]


Unknown = Literal["none", "largest", "all"]


def _limit(one: ClassEstimate, rendezvous: Unknown) -> int | None:
    """The largest size that is then eager; None: all are."""
    return {"none": None, "largest": max(one.proven, one.largest - 1), "all": one.proven}[rendezvous]


@dataclass(frozen=True)
class Estimate:
    """Every locality class that occurs in the trace."""

    trace: str
    classes: Mapping[str, ClassEstimate]
    notes: tuple[str, ...]

    def parameters(
        self, take: Mapping[str, float] | None = None, less: float = 0.0, *, rendezvous: Unknown = "none"
    ) -> ReplayParameters:
        """Parameters for the split; `take` and `less` as `ClassEstimate.ranges` has them.

        `rendezvous`: which of the messages whose protocol the trace does not show are no eager ones.
        """
        if not self.classes:
            zero = RangeValues(max_bytes=UNLIMITED, L_ps=0.0, o_s_ps=0.0, o_r_ps=0.0)
            return assemble(
                self.trace, "no message to estimate from", {"other_node": [zero]}, eager_limits={}, nics_per_node=1
            )
        return estimated_parameters(
            self.trace,
            {name: one.ranges(take, less) for name, one in self.classes.items()},
            {name: Quality(n=one.n, residual_ps=0.0) for name, one in self.classes.items()},
            eager_limits={
                name: limit
                for name, one in self.classes.items()
                if (limit := one.limit if one.limit is not None else _limit(one, rendezvous)) is not None
            },
        )

    def stated(self, locality: str, parameters: ReplayParameters) -> Iterator[tuple[str, float, Interval]]:
        """Name, value in the split, and interval (widened to a whole picosecond) of each parameter of a class."""
        row = int(parameters.class_start[LOCALITIES.index(locality)])
        value = {name: float(getattr(parameters, column)[row]) for name, column in PARAMETERS.items()}
        value[TOTAL] = value["L"] + value["o_s"] + value["o_r"]
        for name, known in self.classes[locality].stated.items():
            low, high = min(known.low, value[name]), max(known.high, value[name])
            yield name, value[name], replace(known, low=low, high=high, value=value[name])

    @property
    def protocol_unknown(self) -> bool:
        """Some messages are larger than what is known to be eager, and nothing shows that they are rendezvous."""
        return any(one.limit is None and one.largest > one.proven for one in self.classes.values())

    @property
    def transport_measured(self) -> bool:
        """In every class messages up to the largest size were seen undisturbed: L holds no queue."""
        return all(one.undisturbed for one in self.classes.values())

    @property
    def unmeasured(self) -> set[str]:
        """Parameters that some class only bounds."""
        return {
            name
            for one in self.classes.values()
            for name, known in one.stated.items()
            if known.bound_only and not name.endswith("per_byte")
        }


def estimate(
    trace: str, samples: Sequence[Mapping[str, Any]], tick_ps: float = 1.0, *, matched: bool = False
) -> Estimate:
    """Estimate every locality class that occurs in the trace.

    Args:
        trace: name for the machine.
        samples: one mapping per class of `LOCALITIES`, as `Program.samples` gives them.
        tick_ps: the clock's step.
        matched: the network matches both ends of a message that waits for its receiver: it crosses once.
    """
    classes: dict[str, ClassEstimate] = {}
    notes: list[str] = []
    # The clock is the same for all of them; times that are hardly longer than its noise don't show it.
    noise_ps = max((noise(row) for row in samples if row["messages"]), default=0.0)
    for name, row in zip(LOCALITIES, samples, strict=True):
        found = estimate_class(row, tick_ps, noise_ps, matched=matched) if row["messages"] else None
        if found is not None:
            classes[name] = found
        elif row["messages"]:
            notes.append(f"{name}: {row['messages']} messages, but none identifies a parameter")
    if notes and not classes:
        notes.append("the trace identifies no parameter of its machine: model values are 0, all transport is residual")
    return Estimate(trace, classes, tuple(notes))
