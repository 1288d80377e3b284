"""o(S,b), G(P,S), L(S) and the limits of the overlap model: from measured tables, or else from the LogGP ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from logpost.machines import Machine
from logpost.replay.cost.arrays import ModelError, Number, NumberLike, scalar_or_array
from logpost.replay.models.interface import Model
from logpost.replay.models.overlap import MODEL, is_interleaved
from logpost.replay.models.overlap_profile import (
    Curve,
    Level,
    OverlapProfile,
    Pattern,
    gap_tables,
    overhead_table,
)
from logpost.replay.models.units import PICOSECOND
from logpost.replay.predict.machine_values.locality import base, first_latency, locality_class
from logpost.replay.predict.machine_values.loggp import loggp_values

_PATTERNS = {"nearest-neighbour": "N", "cross-section": "C"}


@dataclass(frozen=True)
class OfRanges:
    """o = o_s + o_r (with parts per byte), G or the round-trip L of the LogGP range that a size falls into; ps."""

    machine: Machine
    locality: str
    name: str
    """"o", "G" or "L"."""

    def at(self, S: NumberLike) -> Number | None:
        """None where a range that S falls into does not give it."""
        found = loggp_values(MODEL, self.machine, {"S": np.asarray(S, dtype=np.float64)}, self.locality)
        if self.name == "o":
            return found["o_s"] + found["o_r"] if {"o_s", "o_r"} <= found.keys() else None
        if self.name == "L":
            return 2.0 * found["L"] if "L" in found else None
        return found.get(self.name)

    def anywhere(self) -> bool:
        """Whether some range gives it."""
        table = locality_class(self.machine, self.locality)
        if table is None:
            return False
        if self.name == "o":
            return any(r.o_s is not None and r.o_r is not None for r in table.range)
        if self.name == "L":
            return first_latency(self.machine, self.locality) is not None
        return any(r.G is not None for r in table.range)

    def __call__(self, S: NumberLike, other: NumberLike = 0.0) -> Number:
        """Of the sizes S, for every burst and P.

        Raises ModelError for sizes whose range does not give it. L is then that of the smallest messages that have one.
        """
        sizes = np.broadcast_arrays(np.asarray(S, dtype=np.float64), np.asarray(other, dtype=np.float64))[0]
        found = self.at(sizes)
        if found is not None:
            return found
        each = [(float(size), self.at(float(size))) for size in sizes.ravel()]
        rest = first_latency(self.machine, self.locality) if self.name == "L" else None
        lacking = [size for size, value in each if value is None]
        if rest is None:
            raise ModelError(
                f"machine {self.machine.name} gives no {self.name} for messages of {lacking[0]:g} bytes: give "
                f"{self.name}"
            )
        filled = [2.0 * rest if value is None else value for _, value in each]
        return scalar_or_array(np.asarray(filled, dtype=np.float64).reshape(sizes.shape))


def overlap_profile(machine: Machine, *, locality: str = "other_node") -> OverlapProfile | None:
    """The machine's o(S,b) and G(P,S) tables in ps; None when it has none. Raises ModelError without an L."""
    if not machine.overlap.o or not machine.overlap.G:
        return None
    if first_latency(machine, locality) is None:
        raise ModelError(f"machine {machine.name} has o(S,b) and G(P,S) but no L for {locality}")
    return profile_of(machine, locality)


def profile_of(machine: Machine, locality: str) -> OverlapProfile:
    """Tables where the machine has them, else the ranges, which raise for what they do not give."""
    o, G = machine.overlap.o, machine.overlap.G
    overhead: Curve = OfRanges(machine, locality, "o")
    if o:
        overhead = overhead_table((float(p.size_bytes), float(p.burst), p.o.base(machine.clock_hz)) for p in o)
    gap: Mapping[tuple[Pattern, Level], Curve] = {("N", "l"): OfRanges(machine, locality, "G")}
    if G:
        gap = gap_tables(
            (
                float(p.processors),
                float(p.size_bytes),
                cast(Pattern, _PATTERNS[p.pattern]),
                cast(Level, p.level[0]),
                p.G.base(machine.clock_hz),
            )
            for p in G
        )
    return OverlapProfile(
        overhead=overhead,
        gap=gap,
        L_roundtrip=OfRanges(machine, locality, "L"),
        unit=PICOSECOND,
        HD=base(machine, machine.overlap.HD) or float("inf"),
        outstanding_bytes=base(machine, machine.overlap.outstanding) or float("inf"),
    )


def overlap_values(
    model: Model, machine: Machine, given: Mapping[str, Any], offered: Mapping[str, Any], locality: str
) -> dict[str, Any]:
    """Round-trip L, the limits, and o and G from the tables, or else from LogGP: all that is offered to these models.

    overlap takes them at its S, with G_V at V; overlap-search at every S that it visits, from a profile.
    """
    found: dict[str, Any] = {}
    latency = OfRanges(machine, locality, "L")
    if latency.anywhere():
        found["L"] = latency(given.get("S", 0.0))
    for name, quantity in (("HD", machine.overlap.HD), ("outstanding", machine.overlap.outstanding)):
        value = base(machine, quantity)
        if value is not None:
            found[name] = value
    if {"o_s", "o_r"} <= offered.keys():
        found["o"] = offered["o_s"] + offered["o_r"]
    if "G" in offered:
        found["G"] = offered["G"]
    profile = profile_of(machine, locality)
    if model.name == "overlap-search":
        return _searched(machine, profile, given, found, locality)
    if "S" not in given:
        return found
    if machine.overlap.o:
        found["o"] = profile.o(given["S"], given.get("b", 1.0))
    if "G" in given:
        # One G for all sizes: the machine's at V would be another network's.
        return found
    P, interleaved = given.get("P", 1.0), is_interleaved(given.get("topology", ""))
    if machine.overlap.G:
        found["G"] = profile.G(P, given["S"], interleaved=interleaved)
        if "V" in given:
            found["G_V"] = profile.G(P, given["V"], interleaved=interleaved)
    elif "V" in given and (G_V := OfRanges(machine, locality, "G").at(given["V"])) is not None:
        found["G_V"] = G_V
    return found


def _searched(
    machine: Machine,
    profile: OverlapProfile,
    given: Mapping[str, Any],
    found: dict[str, Any],
    locality: str,
) -> dict[str, Any]:
    """The limits and a profile, where it and ``given`` have all; else what the machine has, so that the rest is named.

    L is separate from the profile where it is one number; nothing is left for the profile where o and G are given then.
    """
    ranges = {name: OfRanges(machine, locality, name) for name in ("o", "L", "G")}
    tables = {"o": bool(machine.overlap.o), "L": False, "G": bool(machine.overlap.G)}
    has = {name for name in ranges if tables[name] or ranges[name].anywhere()}
    if not {"o", "L", "G"} <= has | given.keys():
        return {name: value for name, value in found.items() if name not in ranges or name in has}
    # The limits are offered by name, so that given limits, or none, override them.
    offered: dict[str, Any] = {name: found[name] for name in ("HD", "outstanding") if name in found}
    if "L" in has:
        table = locality_class(machine, locality)
        ends = [float(r.up_to_bytes) for r in (table.range if table else ()) if r.up_to_bytes is not None]
        every = np.unique(np.asarray(ranges["L"]([*ends, max(ends, default=0.0) + 1.0])))
        if len(every) == 1:
            offered["L"] = float(every[0])
    if not {"o", "L", "G"} <= given.keys() | offered.keys():
        offered["profile"] = replace(profile, HD=float("inf"), outstanding_bytes=float("inf"))
    return offered
