"""Many small messages: several in a row from one rank to another, each of which costs what a message costs once.

Cure: one message with all of their bytes (a buffer, a derived datatype). It applies to sends in a row at one call path
to the same rank: no call in between waits, so that none of them needs an answer, with less code in between than an
empty message takes. In the graph the first message of a row carries the bytes of all, from where the last one is sent:
by then all of the data is there. Beyond the eager limit it has a handshake, and its sender waits for the receiver.

The duration of recording the others is gone with them. What a message of a row cost beyond the machine's model is due
to the others at one end of the gain, and remains at the other, which is stated where values are only bounded. At
further ends the code between the messages of a row is gone with them, or another message carries their data, and none
is left. Where no value of a machine is known, these are single values only, and nothing may be saved (`in_one`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, in_one, offered, program_of
from logpost.analyzer.findings.cures.one_exchange import left_out, packed
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.cures.rows import rows_of_sends
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY

KIND = "many_small_messages"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    program = program_of(evidence)
    known = program is None or not program.as_measured
    return offered(evidence, propose, of_messages=known, removes_messages=True)


def propose(program: Program) -> Iterator[Proposal]:
    """One message for each row, at each call path of rows."""
    messages = program.messages
    at: dict[int, list[list[int]]] = {}
    receiver = program.receiver.tolist()
    for location, sends in rows_of_sends(program):
        to: dict[int, list[int]] = {}
        for message in sends:
            if receiver[message] != location:
                to.setdefault(receiver[message], []).append(message)
        for row in to.values():
            if len(row) > 1:
                at.setdefault(int(program.callpath[messages.send_call[row[0]]]), []).append(row)
    for callpath, rows in at.items():
        every = [message for row in rows for message in row]
        alone = np.zeros(messages.count, dtype=np.uint8)
        alone[every] = 1
        between = [call for row in rows for call in messages.send_call[row[1:]].tolist()]
        longer = column(program.count, 0)
        longer[between] = -program.gap_ps[between]
        change = packed(program, rows)
        one = replace(change, as_modelled=alone)
        here = int((program.callpath[messages.send_call] == callpath).sum())
        if len(every) <= MAINLY * here:
            continue
        cure = Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(program.sender[every].tolist()),
            change=change if program.bounded else one,
            other_ends=(
                one,
                change,
                replace(one, longer_ps=longer),
                left_out(program, every),
            ),
            numbers=(
                Sum("messages", len(every), "count"),
                Number("mean_size", float(np.mean(messages.bytes[every])), "B"),
                Number("in_a_row", len(every) / len(rows), "count"),
                Number("follow_another_in_flight", (len(every) - len(rows)) / here, "1"),
            ),
            confidence=MEDIUM,
            certainty="messages in a row to the same rank are measured",
        )
        yield from in_one(cure, int(messages.bytes[every].max()), known=not program.as_measured)
