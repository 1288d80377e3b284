"""A run of the analysis compared with the truth of the simulation that its archive came from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import CATEGORIES, PARTS, TRANSFER_PARTS

NAMES_THE_SAME = {"hot_sender": ("serial_distribution", "shared_nic"), "hot_receiver": ("destination_order",)}
"""Kinds that name the same cause by its cure: the rank that sends all, the order in which all crowd at a rank."""


@dataclass(frozen=True)
class Labels:
    """How far the labels of a run are from the truth; shares are fractions."""

    category: str
    """The message part that is off most."""
    category_error: float
    """By how much of all message time."""
    errors: dict[str, float]
    """Every part: (ours - truth) over all message time."""
    worst_rank: float
    """Of the rank with the lowest value: the share of its time in MPI that has the right label."""
    all_ranks: float
    """The same over all ranks together."""


@dataclass(frozen=True)
class Verdict:
    """What the analysis says first, and the cause that is known."""

    expected: str
    kind: str
    right: bool
    gain: float
    """As stated: fraction of the time saved at most."""
    gain_low: float | None
    gain_high: float | None
    """Its interval; None: no end is stated."""
    true_gain: float
    """1 - time without the cause / time with it."""


def span_of(verdict: Verdict) -> str:
    """The interval of its gain: `(18.0 to 24.0)`; empty where none is stated."""
    if verdict.gain_low is None or verdict.gain_high is None:
        return ""
    return f"({100 * verdict.gain_low:.1f} to {100 * verdict.gain_high:.1f})"


def truth_of(place: Path) -> dict[str, Any]:
    """The simulation's own account of a case."""
    truth: dict[str, Any] = json.loads((place / "truth.json").read_text())
    return truth


def parts_of(run: Run) -> dict[str, int]:
    """Every part of messages and transfers of a run; ps."""
    found: dict[str, int] = {}
    for table, parts in (("messages", PARTS), ("transfers", TRANSFER_PARTS)):
        sums = run.table(table).select(*(pl.col(f"{part}_ps").sum() for part in parts)).collect()
        for part in parts:
            found[part] = found.get(part, 0) + int(sums[f"{part}_ps"][0] or 0)
    return found


def true_parts(truth: dict[str, Any]) -> dict[str, int]:
    """The same of the simulation."""
    found: dict[str, int] = {}
    for one in (*truth["messages"], *truth["transfers"]):
        for part, time in one["parts"].items():
            found[part] = found.get(part, 0) + time
    return found


def labels(run: Run, truth: dict[str, Any]) -> Labels:
    """Compares the parts of all messages and transfers and the time of all ranks with the truth."""
    ours, true = parts_of(run), true_parts(truth)
    whole = max(1, sum(true.values()))
    errors = {part: (ours.get(part, 0) - true.get(part, 0)) / whole for part in sorted({*ours, *true})}
    worst = max(errors, key=lambda part: abs(errors[part]))

    rows = run.table("accounting").group_by("location", "category").agg(pl.col("exposed_ps").sum()).collect()
    mine = {(location, str(category)): int(time) for location, category, time in rows.iter_rows()}
    shares = []
    right_time = mpi_time = 0
    for rank, account in enumerate(truth["accounts"]):
        in_mpi = sum(time for category, time in account.items() if category != "compute")
        right = sum(
            min(account.get(category, 0), mine.get((rank, category), 0))
            for category in CATEGORIES
            if category != "compute"
        )
        shares.append(right / in_mpi if in_mpi else 1.0)
        right_time += right
        mpi_time += in_mpi
    return Labels(
        category=worst,
        category_error=abs(errors[worst]),
        errors=errors,
        worst_rank=min(shares, default=1.0),
        all_ranks=right_time / mpi_time if mpi_time else 1.0,
    )


def verdict(run: Run, truth: dict[str, Any], cured: dict[str, Any] | None) -> Verdict:
    """Compares the first finding with the cause, and its gain with what the cure really saves."""
    found = run.table("findings").collect()
    gain_column = "gain" if "gain" in found.columns else "share"
    first = found.row(0, named=True) if found.height else None
    kind = str(first["kind"]) if first else ""
    ranks = first["ranks"] if first else []
    expected = truth["finding"]
    right = kind == expected or kind in NAMES_THE_SAME.get(expected, ())
    if right and truth["culprits"] and isinstance(ranks, list):
        right = set(truth["culprits"]) <= set(ranks)
    return Verdict(
        expected=expected,
        kind=kind,
        right=right,
        gain=float(first[gain_column]) if first else 0.0,
        gain_low=first["gain_low"] if first else None,
        gain_high=first["gain_high"] if first else None,
        true_gain=1 - cured["end_ps"] / truth["end_ps"] if cured else 0.0,
    )
