"""A program on another number of ranks: every rank does what one rank of the template does, with its own partners.

The target's ranks are on the same grid, enlarged (`grid`). A rank takes its role's calls in their order, with the
computation before them and their messages' bytes multiplied by what these grow by. The k-th message of a role one step
along the grid is sent to the rank that many steps away and is received where that rank's role receives the k-th from
there: programs in which ranks disagree about that are not enlarged. Collective operations of all ranks stay such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logpost.analyzer.predict.scale.grid import Grid, Ranks, roles
from logpost.analyzer.predict.scale.template import Column, NoReplayError, Template, TooLargeError
from logpost.analyzer.run.program import region_kinds
from logpost.replay._native import Program

MOST_CALLS = 6_000_000
"""Of a program at another size: more would cost minutes, and gigabytes."""
MOST_MESSAGES = 300_000
MOST_PAIRS = 5_000
"""Of ranks that exchange messages: so many may share NICs at a time, and more cost minutes to follow."""
NEVER = -1
"""The id of a socket that no rank has."""


@dataclass(frozen=True)
class Factors:
    """What changes with the number of ranks, over the template's."""

    gap: Column
    """by call path: computation before its calls"""
    bytes: Column
    """by call path: of the messages that its calls send"""
    collective_bytes: Column
    """by row of the template's `collectives`"""


@dataclass
class Synthetic:
    """A program whose times are still to be found. Columns as in the run's tables; calls by rank and order."""

    template: Template
    role: Ranks
    first_call: Ranks
    """by rank, and one more"""
    template_call: Ranks
    """the template's call of each call"""
    gap_ps: Column
    own_ps: Column
    tail_ps: Column
    messages: dict[str, Column]
    collectives: dict[str, Column]
    nodes: Ranks

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self.role)

    @property
    def location(self) -> Ranks:
        """Of each call."""
        return np.repeat(np.arange(self.ranks), np.diff(self.first_call))

    def program(self, enter_ps: Column, leave_ps: Column) -> Program:
        """The program with these times of its calls."""
        run, template = self.template.run, self.template
        last = np.zeros(self.ranks, dtype=np.int64)
        busy = np.diff(self.first_call) > 0
        last[busy] = leave_ps[self.first_call[1:][busy] - 1]
        last += self.tail_ps
        ranks = np.arange(self.ranks)
        at, of = self.collectives["call"], self.collectives["complete_call"]
        regions = run.facts("regions").sort("region").select("kind", "name").collect()
        members = run.facts("communicators").sort("comm").select("members").collect()["members"].to_list()
        return Program(
            ticks_per_second=10**12,
            length_ps=int(last.max(initial=0)),
            callers=run.facts("callpaths").sort("callpath").select("parent").collect()["parent"].to_numpy(),
            kinds=region_kinds(regions),
            layouts=[(one.blocks, one.block_bytes, one.stride_bytes) for one in run.manifest.layouts],
            members=[ranks.tolist() if len(one) == template.ranks else [] for one in members],
            locations={
                "process": _ids(ranks),
                "socket": _ids(np.full(self.ranks, NEVER)),
                "node": _ids(self.nodes),
                "rank": _ids(ranks),
                "accounted": np.ones(self.ranks, dtype=np.uint8),
                "first_ps": np.zeros(self.ranks, dtype=np.int64),
                "last_ps": last,
            },
            calls={
                "location": _ids(self.location),
                "region": _ids(template.calls["region"][self.template_call]),
                "callpath": _ids(template.calls["callpath"][self.template_call]),
                "enter_ps": np.ascontiguousarray(enter_ps),
                "leave_ps": np.ascontiguousarray(leave_ps),
            },
            messages=self.messages,
            collectives=self.collectives | {"enter_ps": enter_ps[at], "leave_ps": leave_ps[np.where(of < 0, at, of)]},
            unmatched=_none(template, "unmatched"),
            transfers=_none(template, "transfers"),
            epochs=_none(template, "epochs"),
        )


def synthesize(template: Template, known: Grid, target: Grid, factors: Factors) -> Synthetic:
    """The template's program on the target's ranks.

    Raises:
        NoReplayError: its ranks do not show what others do, or there would be too many calls.
    """
    role = roles(known, target)
    if isinstance(role, str):
        raise NoReplayError(role)
    counts = np.diff(template.first_call)[role]
    first_call = np.concatenate([[0], np.cumsum(counts)])
    _refuse_large(template, target.ranks, int(first_call[-1]))
    call = _spread(template.first_call, role)
    shift = first_call[:-1] - template.first_call[role]
    callpath = template.calls["callpath"]
    return Synthetic(
        template,
        role,
        first_call,
        call,
        np.rint(template.gap_ps * factors.gap[callpath]).astype(np.int64)[call],
        template.own_ps[call],
        template.tail_ps[role],
        _messages(template, known, target, role, shift, factors.bytes[callpath]),
        _collectives(template, role, shift, factors.collective_bytes),
        _nodes(template, target.ranks),
    )


def _refuse_large(template: Template, ranks: int, calls: int) -> None:
    """Raise TooLargeError for a program that would cost minutes; pairs and messages grow like the ranks."""
    ends = np.stack([template.messages["send_location"], template.messages["recv_location"]])
    more = ranks / template.ranks
    for what, count, most in (
        ("calls", calls, MOST_CALLS),
        ("messages", round(more * ends.shape[1]), MOST_MESSAGES),
        ("pairs of ranks with messages", round(more * np.unique(ends, axis=1).shape[1]), MOST_PAIRS),
    ):
        if count > most:
            raise TooLargeError(f"{ranks:,} ranks would have {count:,} {what}: more than {most:,}")


def _spread(first: Ranks, role: Ranks) -> Ranks:
    """The rows of every rank's role, one rank after the other; `first`: where a role's rows begin, and one more."""
    counts = np.diff(first)[role]
    ends = np.cumsum(counts)
    return np.repeat(first[role] - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)


def _messages(
    template: Template, known: Grid, target: Grid, role: Ranks, shift: Ranks, factor: Column
) -> dict[str, Column]:
    rows = {name: np.asarray(column) for name, column in template.messages.items()}
    order = np.lexsort((rows["send_number"], rows["send_location"]))
    rows = {name: column[order] for name, column in rows.items()}
    sender, receiver = rows["send_location"].astype(np.int64), rows["recv_location"].astype(np.int64)
    way, way_id = np.unique(known.steps(sender, receiver), axis=0, return_inverse=True)
    way_id = way_id.ravel()
    nth = _nth(sender * len(way) + way_id)
    key = (receiver * len(way) + way_id) * (1 + nth.max(initial=0)) + nth
    by_key = np.argsort(key, kind="stable")
    first = np.searchsorted(sender, np.arange(template.ranks + 1))
    row = _spread(first, role)
    from_rank = np.repeat(np.arange(target.ranks), np.diff(first)[role])
    to_rank = target.rank(target.coordinates(from_rank) + way[way_id[row]]) if len(row) else row
    if (to_rank < 0).any():
        raise NoReplayError("ranks at the border of the grid would send beyond it")
    wanted = (role[to_rank] * len(way) + way_id[row]) * (1 + nth.max(initial=0)) + nth[row]
    place = np.searchsorted(key[by_key], wanted)
    place = np.minimum(place, max(len(key) - 1, 0))
    other = by_key[place] if len(key) else row
    received = np.bincount(receiver, minlength=template.ranks)[role]
    if (key[other] != wanted).any() or (np.bincount(to_rank, minlength=target.ranks) != received).any():
        raise NoReplayError("ranks of one role on its grid do not exchange the same messages")
    if (rows["tag"][other] != rows["tag"][row]).any() or (rows["comm"][other] != rows["comm"][row]).any():
        raise NoReplayError("ranks of one role on its grid do not use the same tags")
    grown = np.maximum(np.rint(rows["bytes"] * factor[rows["send_call"]]), rows["bytes"] > 0).astype(np.uint64)[row]
    sent, got = shift[from_rank], shift[to_rank]
    complete = rows["send_complete_call"][row]
    return {
        "send_location": _ids(from_rank),
        "recv_location": _ids(to_rank),
        "comm": _ids(rows["comm"][row]),
        "tag": _ids(rows["tag"][row]),
        "layout": _ids(rows["layout"][row]),
        "send_call": _ids(rows["send_call"][row] + sent),
        "send_complete_call": _ids(np.where(complete < 0, complete, complete + sent)),
        "recv_post_call": _ids(rows["recv_post_call"][other] + got),
        "recv_call": _ids(rows["recv_call"][other] + got),
        "send_number": _ids(rows["send_number"][row]),
        "recv_number": _ids(rows["recv_number"][other]),
        "bytes": grown,
        "recv_bytes": grown,
    }


def _nth(group: Ranks) -> Ranks:
    """How many rows of the same group are before each row."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(group) else order
    found = np.empty(len(group), dtype=np.int64)
    found[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return found


def _collectives(template: Template, role: Ranks, shift: Ranks, factor: Column) -> dict[str, Column]:
    rows = template.collectives
    first = np.searchsorted(rows["location"], np.arange(template.ranks + 1))
    order = np.lexsort((rows["call"], rows["location"]))
    row = order[_spread(first, role)] if len(order) else order
    rank = np.repeat(np.arange(len(role)), np.diff(first)[role])
    complete = rows["complete_call"][row]
    root = rows["root"][row]
    found = {
        "instance": _instances(rows["instance"][row], rank, template.ranks, rows["instance"]),
        "location": rank,
        "comm": rows["comm"][row],
        "root": np.where(root == template.ranks - 1, len(role) - 1, root),
        "call": rows["call"][row] + shift[rank],
        "complete_call": np.where(complete < 0, complete, complete + shift[rank]),
        "rma_window": rows["rma_window"][row],
        "layout": rows["layout"][row],
        "received_layout": rows["received_layout"][row],
    }
    sizes = {name: np.rint(rows[name] * factor).astype(np.uint64)[row] for name in ("bytes_sent", "bytes_received")}
    return {name: _ids(column) for name, column in found.items()} | sizes | {"operation": rows["operation"][row]}


def _instances(instance: Column, rank: Ranks, ranks: int, known: Column) -> Column:
    """Numbers of instances: those of all ranks stay, and those of a rank alone become one for each rank."""
    counts = np.bincount(known[known >= 0], minlength=1)
    alone = (instance >= 0) & (counts[instance] == 1) if ranks > 1 else np.zeros(len(instance), dtype=np.bool_)
    return np.where(alone, len(counts) + np.cumsum(alone) - 1, instance)


def _nodes(template: Template, ranks: int) -> Ranks:
    """As many ranks on each node as in the template, in the order of ranks."""
    node = template.locations["node"]
    known = np.unique(node)
    if len(known) == 1:
        return np.zeros(ranks, dtype=np.int64)
    per_node = int(np.bincount(np.searchsorted(known, node)).max())
    if (np.diff(np.unique(node, return_inverse=True)[1])[np.diff(node) != 0] == 0).any() or any(
        len(np.unique(np.flatnonzero(node == one) // per_node)) > 1 for one in known
    ):
        raise NoReplayError("its ranks do not fill one node after the other")
    return np.arange(ranks) // per_node


def _none(template: Template, name: str) -> dict[str, Column]:
    """A table without rows."""
    from logpost.analyzer.run import program as run_program

    names = {"unmatched": run_program.UNMATCHED, "transfers": run_program.TRANSFERS, "epochs": run_program.EPOCHS}
    columns = run_program.table_columns(template.run, name, names[name])
    return {column: values[:0] for column, values in columns.items()}


def _ids(column: Column) -> Column:
    return np.ascontiguousarray(column, dtype=np.int32)
