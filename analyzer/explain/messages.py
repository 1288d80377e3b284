"""Explain messages, collective operations and transfers of a run under every model, from the run's own tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from logpost.analyzer.explain.collective import ExplainedCollective, explained_collectives, rows_of
from logpost.analyzer.explain.model_fits import fit_of
from logpost.analyzer.explain.piece import Piece, joined
from logpost.analyzer.explain.transfer import (
    ExplainedTransfer,
    TransferSplits,
    add_splits,
    explained_transfers,
    transfers_of,
)
from logpost.analyzer.findings.evidence.places import NOWHERE, Place, Places, places_of
from logpost.analyzer.machine.used import machine_values, values_for
from logpost.analyzer.pipeline.resplit import Report, Resplit, silent
from logpost.analyzer.report.data import ModelFit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Layout, MachineValue
from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.undivided import UNDIVIDED, merged
from logpost.analyzer.words.location_names import LocationNames
from logpost.errors import InputError
from logpost.replay.cost.message_models import MessageModel

_MESSAGE = re.compile(r"(\d+):(\d+)")
_OF_CANDIDATES = (
    *("send_location", "recv_location", "recv_number", "bytes", "protocol", "envelope_ps"),
    *("residual_ps", "deficit_ps", "recv_callpath"),
)
ROLES = ("send_call", "send_complete_call", "recv_post_call", "recv_call")
"""Columns of the table `messages` that name calls, in the order in which a message lists them."""


@dataclass(frozen=True)
class Split:
    """One message's partition under one model. The pieces follow each other without gap and fill the envelope."""

    model: MessageModel
    pieces: tuple[Piece, ...]
    deficit_ps: int
    rendezvous: bool
    undivided: tuple[str, ...] = ()
    """parts that the machine does not distinguish: they are in `pieces` under one name"""

    @property
    def parts_ps(self) -> dict[str, int]:
        """Every part with the sum of its pieces; together the envelope. What the machine does not divide is one."""
        sums = dict.fromkeys((*PARTS, UNDIVIDED), 0)
        for piece in self.pieces:
            sums[piece.part] += piece.end_ps - piece.begin_ps
        return {
            part: time for part, time in merged(sums, self.undivided).items() if part != UNDIVIDED or self.undivided
        }


@dataclass(frozen=True)
class Side:
    """A call that took part in a message."""

    role: str
    """what it did: one of `ROLES`"""
    call: int
    where: str
    """the rank, or the location's name"""
    place: Place
    enter_ps: int
    leave_ps: int


@dataclass(frozen=True)
class ExplainedMessage:
    """One message."""

    name: str
    """RECEIVER:NUMBER: recv_location and recv_number of the table `messages`"""
    sender: str
    receiver: str
    bytes: int
    layout: Layout | None
    locality: str
    hops: int
    tag: int
    any_source: bool
    """its receive named no sender, and took the first message that arrived"""
    clock_violation: bool
    begin_ps: int
    end_ps: int
    """of the envelope"""
    sides: tuple[Side, ...]
    splits: tuple[Split, ...]
    values: tuple[MachineValue, ...]
    """what the machine states for a message of this size and distance"""


@dataclass(frozen=True)
class Explanation:
    """Messages of one run under the models that the machine has values for."""

    run: str
    machine: str
    """as people know it"""
    fits: tuple[ModelFit, ...]
    """each model's error over all messages of the run, or what it lacks"""
    messages: tuple[ExplainedMessage, ...]
    left_out: int
    """messages of the call that are not among them"""
    collectives: tuple[ExplainedCollective, ...] = ()
    """collective operations that the call completes"""
    transfers: tuple[ExplainedTransfer, ...] = ()
    """one-sided transfers that the call starts or completes, the longest first"""
    transfers_left_out: int = 0
    """transfers of the call that are not among them"""


@dataclass(frozen=True)
class Candidate:
    """A message worth explaining."""

    name: str
    sender: str
    receiver: str
    bytes: int
    protocol: str
    envelope_ps: int
    residual_ps: int | None
    """None where the run's machine does not distinguish it from other transport"""
    deficit_ps: int
    region: str
    """of the call that received it"""


def candidates(run: Run, most: int, among: pl.LazyFrame | None = None) -> list[Candidate]:
    """The messages that the run's own model explains worst: the largest residual and deficit first, or the largest
    deficit and the longest message where the residual is not known.

    Args:
        run: a finished run.
        most: how many.
        among: some of its messages; None: all.

    Raises:
        InputError: the run has no message.
    """
    messages = run.table("messages") if among is None else among
    known = "residual" not in run.manifest.machine.undivided
    rows = (
        messages.select(*_OF_CANDIDATES, misfit=pl.col("deficit_ps") + (pl.col("residual_ps") if known else 0))
        .sort("misfit", "envelope_ps", "recv_location", "recv_number", descending=[True, True, False, False])
        .head(most)
        .collect()
    )
    if rows.is_empty():
        raise InputError(f"{run.path}: no message matched: there is nothing to explain")
    names = LocationNames(run.facts("locations").collect())
    places = _places(run)
    return [
        Candidate(
            name=f"{row['recv_location']}:{row['recv_number']}",
            sender=names[row["send_location"]],
            receiver=names[row["recv_location"]],
            bytes=row["bytes"],
            protocol=row["protocol"],
            envelope_ps=row["envelope_ps"],
            residual_ps=row["residual_ps"] if known else None,
            deficit_ps=row["deficit_ps"],
            region=places.get(row["recv_callpath"], NOWHERE).named,
        )
        for row in rows.iter_rows(named=True)
    ]


def explain(
    run: Run,
    target: str,
    *,
    machine: str | Path | None = None,
    models: Sequence[MessageModel] = tuple(MessageModel),
    most: int | None = None,
    report: Report = silent,
) -> Explanation:
    """A message, or every message that a call sent or received, every collective operation that it completes and every
    one-sided transfer that it starts or completes, under each of the models.

    Args:
        run: a finished run.
        target: a message as RECEIVER:NUMBER, or the number of a call.
        machine: name or file; None: the run's own.
        models: which ones.
        most: at most so many messages, and so many transfers, of a call; None: all.
        report: receives the progress.

    Raises:
        InputError: there is no such message or call, or the machine cannot be used.
    """
    rows = _rows(run, target)
    shown = rows.head(most) if most is not None else rows
    of_call = target.strip().isdecimal()
    operations = rows_of(run, int(target)) if of_call else None
    every = transfers_of(run, int(target)) if of_call else run.table("transfers").head(0).collect()
    transfers = every.head(most) if most is not None else every
    report("rebuilding the program", 0, 0)
    split = Resplit(run, machine)
    undivided = tuple(run.manifest.machine.undivided) if machine is None else ()
    numbers = list(shown.select("recv_location", "recv_number").iter_rows())
    fits: list[ModelFit] = []
    splits: list[list[Split]] = [[] for _ in numbers]
    of_transfers: TransferSplits = [[] for _ in range(transfers.height)]
    analyses = []
    for done, model in enumerate(models):
        report(f"splitting messages under {model.label}", done, len(models))
        try:
            analysis = split.under(model)
        except InputError as error:
            fits.append(ModelFit(model, None, str(error)))
            continue
        fits.append(fit_of(analysis, model, undivided))
        analyses.append((model, analysis))
        add_splits(of_transfers, transfers, model, analysis, undivided)
        for mine, (location, number) in zip(splits, numbers, strict=True):
            segments, deficit, rendezvous = analysis.segments(location, number)
            columns = (segments[name].tolist() for name in ("part", "begin_ps", "end_ps"))
            pieces = (Piece(PARTS[part], begin, end) for part, begin, end in zip(*columns, strict=True))
            mine.append(Split(model, joined(pieces, undivided), deficit, rendezvous, undivided))
    if not analyses:
        raise InputError(fits[0].reason)
    used = run.manifest.machine
    values = used.values if machine is None else machine_values(split.parameters)
    return Explanation(
        run=str(run.path),
        machine=used.label if machine is None else split.parameters.machine,
        fits=tuple(fits),
        messages=tuple(_explained(run, shown, splits, split, values)),
        left_out=rows.height - shown.height,
        collectives=()
        if operations is None
        else explained_collectives(
            run,
            operations,
            analyses,
            undivided,
            LocationNames(run.facts("locations").collect()),
            _places(run),
        ),
        transfers=explained_transfers(run, transfers, of_transfers),
        transfers_left_out=every.height - transfers.height,
    )


def _explained(
    run: Run, rows: pl.DataFrame, splits: list[list[Split]], split: Resplit, values: Sequence[MachineValue]
) -> list[ExplainedMessage]:
    names = LocationNames(run.facts("locations").collect())
    places = _places(run)
    wanted = pl.concat([rows[role] for role in ROLES]).unique()
    calls = run.facts("calls").filter(pl.col("call").is_in(wanted.implode())).collect()
    call_rows = {row["call"]: row for row in calls.iter_rows(named=True)}
    layouts = run.manifest.layouts
    receivers = rows["recv_location"].unique().implode()
    any_source = set(run.facts("any_source").filter(pl.col("location").is_in(receivers)).collect().iter_rows())
    found = []
    for row, mine in zip(rows.iter_rows(named=True), splits, strict=True):
        begin = min(row["send_enter_ps"] - row["clamped_ps"], row["recv_enter_ps"])
        found.append(
            ExplainedMessage(
                name=f"{row['recv_location']}:{row['recv_number']}",
                sender=names[row["send_location"]],
                receiver=names[row["recv_location"]],
                bytes=row["bytes"],
                layout=layouts[row["layout"]] if row["layout"] >= 0 else None,
                locality=row["locality"],
                hops=row["hops"],
                tag=row["tag"],
                any_source=(row["recv_location"], row["recv_number"]) in any_source,
                clock_violation=row["clock_violation"],
                begin_ps=begin,
                end_ps=row["recv_leave_ps"],
                sides=_sides(row, call_rows, names, places),
                splits=tuple(mine),
                values=values_for(values, split.parameters, row["locality"], row["bytes"]),
            )
        )
    return found


def _sides(
    row: dict[str, Any], calls: dict[int, dict[str, Any]], names: LocationNames, places: Places
) -> tuple[Side, ...]:
    """The calls of a message; one that both starts and completes an end is listed once."""
    found = []
    for role, same in zip(ROLES, (None, "send_call", "recv_call", None), strict=True):
        call = calls.get(row[role])
        if call is not None and (same is None or row[same] != row[role]):
            place = places.get(call["callpath"], NOWHERE)
            found.append(Side(role, call["call"], names[call["location"]], place, call["enter_ps"], call["leave_ps"]))
    return tuple(found)


def _places(run: Run) -> Places:
    return places_of({name: run.facts(name) for name in ("callpaths", "regions")})


def _rows(run: Run, target: str) -> pl.DataFrame:
    """Rows of the table `messages` that the target names."""
    messages = run.facts("messages")
    if match := _MESSAGE.fullmatch(target.strip()):
        location, number = int(match[1]), int(match[2])
        rows = messages.filter(pl.col("recv_location") == location, pl.col("recv_number") == number).collect()
        if rows.is_empty():
            raise InputError(f"{run.path}: {_no_message(run, location, number)}")
        return rows
    if not target.strip().isdecimal():
        raise InputError(
            f"{target} is neither a message (RECEIVER:NUMBER, e.g. 3:17) nor a call (its number in the table calls, "
            f"e.g. 120); `logpost explain {run.path}` lists messages"
        )
    call = int(target)
    rows = (
        messages.filter(pl.any_horizontal(pl.col(role) == call for role in ROLES))
        .sort("recv_location", "recv_number")
        .collect()
    )
    if rows.is_empty() and rows_of(run, call).is_empty() and transfers_of(run, call).is_empty():
        raise InputError(f"{run.path}: {_no_call(run, call)}")
    return rows


def _no_message(run: Run, location: int, number: int) -> str:
    """Why there is none."""
    locations = run.facts("locations").select(pl.len()).collect().item()
    if location >= locations:
        return f"there is no location {location}: the last one is {locations - 1}"
    unmatched = run.facts("unmatched").filter(pl.col("location") == location, pl.col("number") == number)
    if not unmatched.filter(pl.col("direction") == "recv").collect().is_empty():
        return f"request {number} of location {location} to receive has no message: the trace has no sender of it"
    last = run.facts("messages").filter(pl.col("recv_location") == location).select(pl.col("recv_number").max())
    known = last.collect().item()
    if known is None:
        return f"location {location} receives no message; `logpost explain {run.path}` lists messages"
    return f"there is no message {location}:{number}: the last one that location {location} receives is {known}"


def _no_call(run: Run, call: int) -> str:
    row = run.facts("calls").filter(pl.col("call") == call).collect()
    if row.is_empty():
        return f"there is no call {call}: the last one is {run.facts('calls').select(pl.len()).collect().item() - 1}"
    names = LocationNames(run.facts("locations").collect())
    place = _places(run).get(row["callpath"][0], NOWHERE)
    return (
        f"call {call} ({place.region} on {names[row['location'][0]]}) has no matched message and completes no "
        "collective operation and no one-sided transfer; "
        f"`logpost explain {run.path}` lists messages"
    )
