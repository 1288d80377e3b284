"""Rows of a rank's calls that send or receive one message after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.once import once

WAITS = ("wait", "wait_multi", "receive", "probe", "test", "collective", "barrier")


@once
def rows_of_sends(program: Program) -> list[tuple[int, list[int]]]:
    """Each location with the messages of calls in a row that start them at one call path: no call in between waits for
    another rank, and no more code is between two of them than an empty message takes."""
    waits = program.is_kind(*WAITS) | program.is_operation
    longest = program.empty_message_ps
    found = []
    for location, calls in program.calls_of.items():
        row: list[int] = []
        path = -1
        code = 0
        columns = (program.callpath, program.gap_ps, waits)
        for call, at, gap, waiting in zip(calls.tolist(), *(one[calls].tolist() for one in columns), strict=True):
            code += gap
            messages = program.sent_in.get(call)
            if messages is not None:
                if row and (at != path or code > longest):
                    found.append((location, row))
                    row = []
                path, code = at, 0
                row.extend(messages)
            elif waiting:
                if row:
                    found.append((location, row))
                row, code = [], 0
        if row:
            found.append((location, row))
    return found


def rounds(messages: Sequence[int], partner: Sequence[int]) -> Iterator[list[int]]:
    """Messages in a row, divided before one to a partner (by message) which has one already."""
    row: list[int] = []
    partners: set[int] = set()
    for message in messages:
        if partner[message] in partners:
            yield row
            row, partners = [], set()
        row.append(message)
        partners.add(partner[message])
    if row:
        yield row
