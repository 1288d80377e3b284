"""Small blocks: a rank computes a little, sends it on, and so forth, and messages cost as much as the work.

Cure: k blocks in one message. It applies to messages of one call path to the same rank with work or a wait in between,
where the sender gets nothing from that rank in between, nor takes part in an operation of all: none of them needs an
answer. In the graph the first of k messages carries the bytes of all, from where the last one is sent; all code stays
where it is, so that the receiver begins k - 1 blocks later. Where messages then wait for each other in a circle, which
is so in a ring, it is no cure.

Stated are the fewest blocks that save as much, but for noise, as the number that saves most, which is an end of the
gain; at another one, what a message costs beyond the machine's model stays. Rows with nothing in between are
`many_small_messages`; `wavefront` makes blocks smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.one_exchange import left_out, packed
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.rows import WAITS
from logpost.analyzer.findings.cures.wavefront import BLOCKS
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SHARE, NOISE, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Int64

KIND = "many_small_messages"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose)


def propose(program: Program) -> Iterator[Proposal]:
    """Larger blocks, at each call path from which they are sent."""
    messages = program.messages
    for callpath, rows in _rows(program).items():
        every = [message for row in rows for message in row]
        if program.gain(left_out(program, every)) < MIN_SHARE:
            continue
        chosen = choices(program, rows, lambda series: packed(program, series))
        if not chosen:
            continue
        stated, ends = min(chosen), tuple(chosen.values())
        alone = np.zeros(messages.count, dtype=np.uint8)
        alone[every] = 1
        work = [program.gap_ps[a + 1 : b + 1].sum() for row in rows for a, b in _between(program, row)]
        yield Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(program.sender[every].tolist()),
            change=replace(ends[0], as_modelled=alone),
            other_ends=(*ends, replace(ends[-1], as_modelled=alone)),
            numbers=(
                Sum("messages", len(every), "count"),
                Number("mean_size", float(np.mean(messages.bytes[every])), "B"),
                Number("blocks", stated, "count"),
                Number("mean_work", float(np.mean(work)), "ps"),
            ),
            confidence=MEDIUM,
            certainty="the messages and the work between them are measured; what one message with several blocks costs "
            "is modelled",
        )


def choices(
    program: Program, rows: Sequence[Sequence[int]], in_one: Callable[[Sequence[Sequence[int]]], Transformation]
) -> dict[int, Transformation]:
    """The fewest blocks in one that save as much, but for noise, as the number that saves most, and that number, with
    what `in_one` makes of such series; empty: none saves what could be stated."""
    longest = max(map(len, rows))
    changes = {blocks: in_one(in_series(rows, blocks)) for blocks in BLOCKS if blocks <= longest}
    gains = {blocks: program.gain(change) for blocks, change in changes.items()}
    most = max(gains, key=lambda blocks: gains[blocks], default=0)
    if not most or gains[most] < MIN_SHARE:
        return {}
    fewest = min(blocks for blocks, gain in gains.items() if gain >= (1 - NOISE) * gains[most])
    return {blocks: changes[blocks] for blocks in (fewest, most)}


def in_series(rows: Sequence[Sequence[int]], blocks: int) -> list[Sequence[int]]:
    """Rows cut into series of so many, the last one of a row of what is left."""
    return [row[i : i + blocks] for row in rows for i in range(0, len(row), blocks)]


def _between(program: Program, row: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The calls that send a message of a row and the next one."""
    sends = program.messages.send_call[list(row)].tolist()
    return pairwise(sends)


def _rows(program: Program) -> dict[int, list[list[int]]]:
    """Call path to its rows of messages, most of which are apart."""
    messages = program.messages
    sent = np.flatnonzero(program.inside[messages.send_call] & (messages.received_call >= 0))
    sent = sent[np.argsort(messages.send_call[sent], kind="stable")]
    callpath = program.callpath[messages.send_call]
    streams: dict[tuple[int, int, int], list[int]] = {}
    for message in sent.tolist():
        key = int(callpath[message]), int(program.sender[message]), int(program.receiver[message])
        streams.setdefault(key, []).append(message)
    code, waited = (np.cumsum(one, dtype=np.int64) for one in (program.gap_ps, program.is_kind(*WAITS)))
    at: dict[int, list[list[int]]] = {}
    apart: dict[int, list[bool]] = {}
    for (path, sender, receiver), stream in streams.items():
        calls = messages.send_call[stream]
        behind_others = (np.diff(code[calls]) > program.empty_message_ps) | (np.diff(waited[calls]) > 0)
        apart.setdefault(path, []).extend(behind_others.tolist())
        cuts = np.flatnonzero(np.diff(np.searchsorted(given_back(program, sender, receiver), calls)))
        rows = [one.tolist() for one in np.split(np.array(stream), cuts + 1) if len(one) > 1]
        if rows and sender != receiver:
            at.setdefault(path, []).extend(rows)
    return {path: rows for path, rows in at.items() if sum(apart[path]) > MAINLY * len(apart[path])}


def given_back(program: Program, location: int, other: int) -> Int64:
    """Calls in which a location gets a message from the other, or takes part in an operation of all."""
    messages = program.messages
    got = messages.received_call[(program.sender == other) & (program.receiver == location)]
    met = np.flatnonzero(program.is_operation & (program.location == location))
    return np.unique(np.concatenate([got[got >= 0], met])).astype(np.int64)
