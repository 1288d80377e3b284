"""Rows of a rank's calls that send or receive one message after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logpost.analyzer.findings.cures.program import Program
from logpost.replay.columns import Int32

WAITS = ("wait", "wait_multi", "receive", "probe", "test", "collective", "barrier")


def rows_of_sends(program: Program) -> Iterator[tuple[int, list[int]]]:
    """Each location with the messages of calls in a row that start them at one call path: no call in between waits for
    another rank, and no more code is between two of them than an empty message takes."""
    waits = program.is_kind(*WAITS) | program.is_operation
    for location, calls in program.calls_of.items():
        row: list[int] = []
        path = -1
        code = 0
        for call in calls.tolist():
            code += int(program.gap_ps[call])
            messages = program.sent_in.get(call)
            if messages is not None:
                if row and (program.callpath[call] != path or code > program.empty_message_ps):
                    yield location, row
                    row = []
                path, code = int(program.callpath[call]), 0
                row = [*row, *messages]
            elif waits[call]:
                if row:
                    yield location, row
                row, code = [], 0
        if row:
            yield location, row


def rounds(messages: Sequence[int], partner: Int32) -> Iterator[list[int]]:
    """Messages in a row, divided before one to a partner which has one already."""
    row: list[int] = []
    partners: set[int] = set()
    for message in messages:
        if int(partner[message]) in partners:
            yield row
            row, partners = [], set()
        row.append(message)
        partners.add(int(partner[message]))
    if row:
        yield row
