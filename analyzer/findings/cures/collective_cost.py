"""Collective operations that last longer than they must, once all members that they need have entered.

Two cures, by what is at the call path:

* **Fused**: operations that directly follow one of their kind (`successive`) could be one with all values in one
  buffer. In the graph they last only as long as their bytes need, and wait for none; the first of each row stays. At
  the other ends of the gain, their bytes are moved in each round, or the code between them, which a loop over one
  operation does not need, is gone with them. One call of a reduction has one operator and one datatype (MPI 4.1,
  section 6.9.1), which no trace states: values with different ones need an operator of the program's own. At a further
  end they are nonblocking operations in flight together, whose messages still cost the processors their overheads.
* **As short as its rounds**: less data, or another algorithm. In the graph an operation ends so long after the members
  that it needs have entered as `ceil(log2 p)` messages without data last, p - 1 where each member has data for each
  other one (Thakur, Rabenseifner & Gropp, 2005). At the other end of the gain it keeps its bytes: B G, with B the bytes
  that one member moves at least (`part_bytes.least_moved`).

Where the machine's L is only bounded, a round lasts as long as in the shortest operation of the run. Operations that
are completed in another call than they are started in, and fences, which complete transfers too, stay as they are. What
is no longer than its rounds and bytes together could only be cured by less data, which is worth a word where it is
worth more than noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.every_root import turns
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.two_as_one import second_halves
from logpost.analyzer.findings.evidence.machine_values import measures, most_ps, value_ps
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.part_bytes import least_moved
from logpost.analyzer.findings.evidence.rounds import rounds, shortest_round
from logpost.analyzer.findings.evidence.successive import Successive, successive, with_follows
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import HIGH, LOW, MEDIUM, MIN_SAMPLES, NOISE, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.before_last import FROM_ROOT, TO_ROOT
from logpost.analyzer.run.phases import program as in_program
from logpost.analyzer.run.schema import HANDLE_OPERATIONS
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.analyzer.words.units import count_text

KIND = "collective_cost"
KEPT = ("Fence", *HANDLE_OPERATIONS)
ROUNDS = ("send_overhead", "latency", "recv_overhead")
"""Parts of an operation that each message pays, whatever its size."""
BYTES = ("serialization",)
ROOTED = {"wait_for_root": FROM_ROOT, "root_waits_for": TO_ROOT}
"""Operations in which members wait for the root alone, and the root alone waits for members."""
BARRIER = "barrier"
"""The operation that moves no data."""
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
"""Operations of an operator."""


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding a call path."""
    if evidence.worth_a_look(["collective", "collective_wait"]):
        yield from filter(_is_worth_a_word, offered(evidence, partial(propose, evidence), of_messages=False))


def _is_worth_a_word(found: Finding) -> bool:
    """Whether it can be cured without less data, or less data saves more than noise."""
    numbers = {number.name: number.value for number in found.evidence}
    least = numbers.get("latency_estimate", 0.0) + numbers.get("bandwidth_estimate", 0.0)
    return numbers["back_to_back"] > MAINLY or 0 < least < numbers["mean_cost"] or found.gain > NOISE


def propose(evidence: Evidence, program: Program) -> Iterator[Proposal]:
    """The cure of each call path of operations."""
    calls = successive(evidence)
    replaced = pl.concat(
        rows.select("callpath", "instance").unique() for rows in (second_halves(program), turns(program))
    )
    in_another = dict(replaced.group_by("callpath").len().iter_rows())
    for callpath, rows in _operations(evidence, program).items():
        if in_another.get(callpath, 0) >= max(MIN_SAMPLES, MAINLY * rows["instance"].n_unique()):
            continue  # there is an operation for what several do (two_as_one, every_root)
        if exact_sum(rows["own_ps"].clip(lower_bound=0).to_numpy()) < rows.height:
            continue  # below a picosecond each: all of it is waiting
        estimate = _estimate_at(evidence, calls, callpath)
        fused = calls.share(callpath) > MAINLY
        least, moved = (0.0, 0.0) if estimate is None else (estimate.latency, estimate.bandwidth)
        number_of_rounds = rounds(calls.operations[callpath], calls.members[callpath])
        each_round = moved * number_of_rounds
        in_flight = moved + (0.0 if estimate is None else estimate.handling * number_of_rounds)
        divided = _divided(evidence, callpath)
        count = rows["instance"].n_unique()
        certainty = "the time after the last member has entered is measured"
        if count < MIN_SAMPLES:
            certainty += f", in only {count_text(count, 'operation')}"
        if estimate is not None:
            certainty += f"; the minimum time of an operation is modelled ({evidence.manifest.machine.label})"
        yield Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(rows["location"].to_list()),
            change=_fused(program, rows, moved, divided) if fused else _at_most(program, rows, least),
            other_ends=(
                _fused(program, rows, each_round),
                _without_code(program, rows, moved, divided),
                *([_fused(program, rows, in_flight)] if _reduces(calls, callpath) else ()),
            )
            if fused
            else (_at_most(program, rows, least + moved),),
            numbers=(
                *_numbers(calls, callpath, rows, estimate, divided),
                *([Number("ranks_without_core", 1, "count")] if evidence.scheduled() else []),
            ),
            confidence=LOW if count < MIN_SAMPLES else HIGH if fused else MEDIUM,
            certainty=certainty,
        )


def _operations(evidence: Evidence, program: Program) -> dict[int, pl.DataFrame]:
    """Call path to the members of its blocking operations, with `follows`, `gives` and `gets` (whether others need
    what a member has, and it what they have), and `own_ps`: what it is in it once all that it needs have entered."""
    members = pl.int_ranges(0, pl.col("members").list.len())
    ranks = evidence.tables["communicators"].select("comm", "members", rank=members).explode("members", "rank")
    ranks = (
        ranks.rename({"members": "location"}).with_columns(pl.col("rank").cast(pl.Int32)).unique(("comm", "location"))
    )
    operation = pl.col("operation").cast(pl.String)
    is_root = (pl.col("rank") == pl.col("root")).fill_null(value=False)
    rows = with_follows(program.facts("collectives"), "call", "complete_call", "instance", "callpath")
    inside = np.flatnonzero(program.inside).astype(np.int64)
    rows = rows.filter(
        pl.col("instance") >= 0,
        pl.col("call") == pl.col("complete_call"),
        ~operation.is_in(KEPT),
        pl.col("call").is_in(pl.Series(inside).implode()),
    )
    rows = rows.join(ranks.collect(), on=("comm", "location"), how="left", maintain_order="left").with_columns(
        gives=~operation.is_in(FROM_ROOT) | is_root, gets=~operation.is_in(TO_ROOT) | is_root
    )
    last = pl.col("enter_ps").filter("gives").max().over("instance")
    since = pl.when("gets").then(pl.max_horizontal("enter_ps", last)).otherwise("enter_ps")
    rows = rows.with_columns(own_ps=pl.col("leave_ps") - since)
    return {int(callpath): some for (callpath,), some in rows.partition_by("callpath", as_dict=True).items()}


def _fused(program: Program, rows: pl.DataFrame, moved: float, divided: Divided | None = None) -> Transformation:
    """Those that follow another one last as long as their bytes, and wait for none."""
    rows = rows.filter("follows")
    own = rows["own_ps"].to_numpy()
    lasts = column(program.count)
    lasts[rows["call"].to_numpy()] = np.clip(moved if divided is None else divided.bytes * own, 0, np.maximum(own, 0))
    return Transformation(lasts_ps=lasts)


def _without_code(program: Program, rows: pl.DataFrame, moved: float, divided: Divided | None) -> Transformation:
    """Likewise, without the code before each of them."""
    calls = rows.filter("follows")["call"].to_numpy()
    longer = column(program.count, 0)
    longer[calls] = -program.gap_ps[calls]
    return replace(_fused(program, rows, moved, divided), longer_ps=longer)


def _at_most(program: Program, rows: pl.DataFrame, most: float) -> Transformation:
    """Each ends so long after the members that it needs have entered, where it is not shorter."""
    call = rows["call"].to_numpy().astype(np.int64)
    rest = np.minimum(rows["own_ps"].to_numpy(), round(most))
    lasts = column(program.count)
    lasts[call] = np.maximum(rest, 0)
    meet = -rows["instance"].rank("dense").to_numpy().astype(np.int64)  # the k-th further node is -1 - k
    gives, gets = (rows[name].to_numpy() for name in ("gives", "gets"))
    return Transformation(
        lasts_ps=lasts,
        edges=(
            (2 * call[gives], meet[gives], np.zeros(int(gives.sum()), dtype=np.int64)),
            (meet[gets], 2 * call[gets] + 1, rest[gets]),
        ),
        further_nodes=rows["instance"].n_unique(),
    )


@dataclass(frozen=True)
class Estimate:
    """How long an operation lasts at least on this machine; ps."""

    latency: float
    bandwidth: float
    bandwidth_at_most: float | None
    """where the machine only bounds the cost of a byte; None: it does not even do that"""
    round: float
    """one message without bytes"""
    handling: float
    """of that, what its two processors are kept"""
    messages: float
    """of the slowest algorithm, one behind the other: one from each member to the root, then one to each"""


def _estimate_at(evidence: Evidence, calls: Successive, callpath: int) -> Estimate | None:
    """None where the machine says nothing of its messages, and no barrier shows the cost of a round."""
    here = calls.at(callpath).values()
    size = sum(place.bytes for place in here) / max(1, sum(place.calls for place in here))
    operation, members = calls.operations[callpath], calls.members[callpath]
    slowest = 2 * (members - 1)
    machine = evidence.manifest.machine
    locality = "other_node" if evidence.manifest.hosts.nodes > 1 else "same_node"
    stated = () if machine.contradicts_messages else ("L", "o_s", "o_r", "G")
    letters = [value_ps(machine, locality, letter, size) for letter in stated]
    if all(letter is None for letter in letters):
        if operation.lower() == BARRIER or not _barriers(evidence):
            return None
        one = shortest_round(evidence)
        return Estimate(rounds(operation, members) * one, 0.0, 0.0 if size == 0 else None, one, 0.0, slowest)
    latency, o_s, o_r, gap = (letter or 0.0 for letter in letters)
    known = measures(machine, locality, "L") or machine.origin != "estimated"
    one = o_s + latency + o_r if known else shortest_round(evidence)
    most = most_ps(machine, locality, "G", size)
    moved = least_moved(operation, members, size)
    at_most = None if most is None else moved * most
    return Estimate(rounds(operation, members) * one, moved * gap, at_most, one, o_s + o_r, slowest)


@dataclass(frozen=True)
class Divided:
    """What the replay says of the cost at a place; shares of it."""

    rounds: float
    bytes: float


def _divided(evidence: Evidence, callpath: int) -> Divided | None:
    """None where the replay, or the machine, does not divide the operations."""
    if evidence.manifest.machine.contradicts_messages or not evidence.divides(*ROUNDS, *BYTES):
        return None
    rows = in_program(evidence.tables["collective_parts"]).filter(pl.col("callpath") == callpath)
    sums = rows.group_by(pl.col("part").cast(pl.String)).agg(wide_sum("exposed_ps")).collect()
    parts = dict(sums.iter_rows())
    whole = sum(parts.values())
    if whole == 0 or parts.get("not_divided", 0) == whole:
        return None
    return Divided(*(sum(parts.get(part, 0) for part in kind) / whole for kind in (ROUNDS, BYTES)))


def _reduces(calls: Successive, callpath: int) -> bool:
    return calls.operations[callpath].lower() in REDUCTIONS


@once
def _barriers(evidence: Evidence) -> bool:
    """Whether the run has any."""
    operation = pl.col("operation").cast(pl.String).str.to_lowercase()
    found = evidence.tables["collectives"].filter(pl.col("instance") >= 0, operation == BARRIER)
    return not found.head(1).collect().is_empty()


def _numbers(
    calls: Successive, callpath: int, rows: pl.DataFrame, estimate: Estimate | None, divided: Divided | None
) -> Iterator[Number]:
    operation, members = calls.operations[callpath], calls.members[callpath]
    here = calls.at(callpath)
    count = sum(place.calls for place in here.values())
    total = exact_sum(rows["own_ps"].clip(lower_bound=0).to_numpy())
    each = total / max(1, rows.height)
    yield Sum("cost", total, "ps")
    yield Sum("operations", rows["instance"].n_unique(), "count")
    yield Number("members", members, "count")
    yield from (Number(name, members - 1, "count") for name, those in ROOTED.items() if operation in those)
    yield Number("mean_part", sum(place.bytes for place in here.values()) / max(1, count), "B")
    yield Number("mean_cost", each, "ps")
    yield from _estimates(estimate, each)
    if divided is not None:
        yield Number("share_of_rounds", divided.rounds, "1")
        yield Number("share_of_bytes", divided.bytes, "1")
    yield Number("back_to_back", calls.share(callpath), "1")
    if _reduces(calls, callpath):
        yield Number("reduces", 1, "count")
    if operation.lower() == BARRIER:
        yield Number("is_barrier", 1, "count")
    yield Number("waiting_in_those", sum(calls.waited(location, callpath) for location in here), "ps")


def _estimates(estimate: Estimate | None, each: float) -> Iterator[Number]:
    """What the machine says, and how many times that an operation takes. A bound beyond its cost says nothing."""
    if estimate is None:
        return
    yield Number("latency_estimate", estimate.latency, "ps")
    most = estimate.bandwidth_at_most
    known = most == estimate.bandwidth
    if most is not None and (known or most < each):
        yield Number("bandwidth_estimate" if known else "bandwidth_estimate_at_most", most, "ps")
        if (least := max(estimate.latency, most)) > 0:
            yield Number("cost_over_estimate", each / least, "x")
        if (slowest := estimate.messages * (estimate.round + most)) > 0:
            yield Number("cost_over_slowest_algorithm", each / slowest, "x")
