"""A recording that ended early: which call each rank sat in, the ranks that it waited for, those that did not arrive,
and the deadlock.

The collector's archives state of a call that never ended what it waited for (attribute `logpost:open`); ranks are those
of the archive. Ranks in the same state share a line, so that a thousand of them are read as fast as four.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from logpost.analyzer.words.location_names import UNKNOWN, Named, Rank, named_text
from logpost.analyzer.words.ranks import ranks_noun

_MESSAGE = re.compile(r"(?P<way>send to|recv from)=(?P<peer>\w+)(?: tag=(?P<tag>-?\w+))?")
_CODE = re.compile(r"(?:abort code|exit)=(-?\d+)")
"""Of a call that ended the program, or within which it called exit()."""
_COLLECTIVE = re.compile(r"collective comm=(?P<comm>\d+)")
_EITHER = ("waitany", "waitsome", "testany", "testsome")
"""Calls that end with one of their requests: none of them is waited for alone."""


@dataclass(frozen=True)
class OpenCall:
    """A call that its rank never left.

    Attributes:
        rank: of the process.
        call: its name, e.g. MPI_Recv.
        place: file and line; empty: not known.
        waits_for: as the collector words it.
        thread: of the rank; None: it has only one that communicates.
    """

    rank: Rank
    call: str
    place: str
    waits_for: str
    thread: int | None = None

    @property
    def where(self) -> str:
        """The call, with its place where that is known."""
        return f"{self.call} at {self.place}" if self.place else self.call

    @property
    def peers(self) -> tuple[Rank, ...]:
        """Ranks that each must act before it can end."""
        found = [m["peer"] for m in _MESSAGE.finditer(self.waits_for)]
        if len(found) > 1 and self.call.lower().endswith(_EITHER):
            return ()
        return tuple(sorted({Rank(int(peer)) for peer in found if peer.isdecimal()}))

    @property
    def communicator(self) -> int | None:
        """The archive's communicator of a collective operation."""
        found = _COLLECTIVE.search(self.waits_for)
        return int(found["comm"]) if found else None

    def state(self, ranks: Collection[Rank]) -> str:
        """What it waits for, and the code with which it ended the program, in words behind `where`.

        Args:
            ranks: all of the program; another number is of no rank.
        """
        parts = []
        for m in _MESSAGE.finditer(self.waits_for):
            known = m["peer"].isdecimal() and int(m["peer"]) in ranks
            peer = "any rank" if m["peer"] == "any" else f"rank {m['peer']}" if known else "an unknown rank"
            tag = "" if m["tag"] in (None, "any") else f", tag {m['tag']}"
            parts.append(("to " if m["way"] == "send to" else "from ") + peer + tag)
        peers = f" {'; '.join(parts)}" if parts else ""
        code = _CODE.search(self.waits_for)
        return peers + (f", {'exit status' if 'exit' in code[0] else 'error code'} {code[1]}" if code else "")


def sentences(
    calls: Sequence[OpenCall], ranks: Collection[Rank], members: Mapping[int, Sequence[Rank]], *, so_far: bool = False
) -> list[str]:
    """What a person needs to see first; nothing where every call ended.

    Args:
        calls: those that never ended.
        ranks: all of the program.
        members: ranks by the archive's communicator.
        so_far: the archive was made while the program ran, which may have left them since.
    """
    if not calls:
        return []
    inside = {call.rank for call in calls}
    outside = sorted(set(ranks) - inside)
    they = "they were" if len(inside) > 1 else "it was"
    found = [
        f"The program still ran when the archive was made: {ranks_noun(inside)} had not left the call that {they} in."
        if so_far
        else f"The recording ended early: {ranks_noun(inside)} never left the call that {they} in."
    ]
    by_state: dict[tuple[str, str, int | None], list[Named]] = {}
    for call in calls:
        named = Named(call.rank, UNKNOWN, call.thread)
        by_state.setdefault((call.where, call.state(ranks), call.communicator), []).append(named)
    for (where, state, communicator), group in sorted(by_state.items(), key=lambda item: min(n.order for n in item[1])):
        line = f"{named_text(group)}: {where}{state}"
        if communicator is not None and (missing := _missing(calls, members, communicator)):
            line += f"; {ranks_noun(missing)} did not arrive"
        found.append(line + ".")
    if outside:
        found.append(f"{ranks_noun(outside)}: in no call of the library.")
    if circle := cycle(calls, members):
        by_rank = {call.rank: call for call in calls}
        steps = [f"rank {rank} ({by_rank[rank].where})" for rank in circle]
        found.append("Deadlock: " + " waits for ".join([*steps, f"rank {circle[0]}"]) + ".")
    return found


def _missing(calls: Iterable[OpenCall], members: Mapping[int, Sequence[Rank]], communicator: int) -> list[Rank]:
    """Members of a communicator that are in no collective operation on it."""
    there = {call.rank for call in calls if call.communicator == communicator}
    return sorted(set(members.get(communicator, ())) - there)


def cycle(calls: Iterable[OpenCall], members: Mapping[int, Sequence[Rank]]) -> list[Rank]:
    """Ranks of which each waits for the next, and the last for the first; empty: there are none."""
    calls = list(calls)
    missing = {c: _missing(calls, members, c) for c in {call.communicator for call in calls} if c is not None}
    waits_for: dict[Rank, list[Rank]] = {}
    for call in calls:
        absent = missing[call.communicator] if call.communicator is not None else []
        waits_for.setdefault(call.rank, []).extend(peer for peer in (*call.peers, *absent) if peer != call.rank)
    done: set[Rank] = set()
    for start in sorted(waits_for):
        way: list[Rank] = []
        on_way: dict[Rank, int] = {}
        # Depth first, without recursion: (rank, those it waits for that were not looked at).
        stack = [(start, iter(waits_for[start]))] if start not in done else []
        if stack:
            on_way[start] = 0
            way.append(start)
        while stack:
            rank, left = stack[-1]
            following = next((peer for peer in left if peer in waits_for and peer not in done), None)
            if following is None:
                done.add(rank)
                stack.pop()
                way.pop()
                del on_way[rank]
            elif following in on_way:
                return way[on_way[following] :]
            else:
                on_way[following] = len(way)
                way.append(following)
                stack.append((following, iter(waits_for[following])))
    return []
