"""o(S,b), G(P,S) and the limits of the overlap model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from logpost.machines import Machine
from logpost.replay.models.arrays import ModelError, Number
from logpost.replay.models.interface import Model
from logpost.replay.models.machine_values.locality import base, first_latency
from logpost.replay.models.overlap import is_interleaved
from logpost.replay.models.overlap_profile import Level, OverlapProfile, Pattern
from logpost.replay.models.units import PICOSECOND


def overlap_profile(machine: Machine, *, locality: str = "other_node") -> OverlapProfile | None:
    """The machine's o(S,b) and G(P,S) tables in ps; None when it has none."""
    o, G = machine.overlap.o, machine.overlap.G
    if not o or not G:
        return None
    latency = first_latency(machine, locality)
    if latency is None:
        raise ModelError(f"machine {machine.name} has o(S,b) and G(P,S) but no L for {locality}")
    patterns = {"nearest-neighbour": "N", "cross-section": "C"}
    return OverlapProfile.from_tables(
        overhead=[(float(p.size_bytes), float(p.burst), p.o.base(machine.clock_hz)) for p in o],
        gap=[
            (
                float(p.processors),
                float(p.size_bytes),
                cast(Pattern, patterns[p.pattern]),
                cast(Level, p.level[0]),
                p.G.base(machine.clock_hz),
            )
            for p in G
        ],
        L_roundtrip=2.0 * latency,
        unit=PICOSECOND,
        HD=base(machine, machine.overlap.HD) or float("inf"),
        outstanding_bytes=base(machine, machine.overlap.outstanding) or float("inf"),
    )


def overlap_values(
    model: Model, machine: Machine, given: Mapping[str, Any], offered: Mapping[str, Any], locality: str
) -> dict[str, Any]:
    """Round-trip L, the limits, and o and G from the tables, or else from LogGP."""
    found: dict[str, Any] = {}
    if "L" in offered:
        found["L"] = 2.0 * offered["L"]
    for name, quantity in (("HD", machine.overlap.HD), ("outstanding", machine.overlap.outstanding)):
        value = base(machine, quantity)
        if value is not None:
            found[name] = value
    if {"o_s", "o_r"} <= offered.keys():
        found["o"] = offered["o_s"] + offered["o_r"]
    profile = overlap_profile(machine, locality=locality)
    if profile is None:
        return found
    if model.name == "overlap-search":
        # o and G come from the tables at every point of the search.
        return {**found, "profile": profile, "o": 0.0, "G": 1.0}
    if "S" in given:
        interleaved = is_interleaved(given.get("topology", ""))
        gap: Callable[[Any], Number] = lambda size: profile.G(given.get("P", 2.0), size, interleaved=interleaved)  # noqa: E731
        found.update(o=profile.o(given["S"], given.get("b", 1.0)), G=gap(given["S"]))
        if "V" in given:
            found["G_V"] = gap(given["V"])
    return found
