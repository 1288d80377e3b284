"""Rows of a rank's calls that send or receive one message after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from logpost.analyzer.findings.cures.program import Flags, Program, Rows
from logpost.analyzer.findings.evidence.once import once

WAITS = ("wait", "wait_multi", "receive", "probe", "test", "collective", "barrier")


@once
def rows_of_sends(program: Program) -> list[tuple[int, list[int]]]:
    """Each location with the messages of calls in a row that start them at one call path: no call in between waits for
    another rank, and no more code is between two of them than an empty message takes."""
    calls = np.flatnonzero(program.inside)
    starts = np.zeros(program.count, dtype=np.bool_)
    starts[program.messages.send_call[program.messages.send_call >= 0]] = True
    waits = (program.is_kind(*WAITS) | program.is_operation) & ~starts
    code, waited = (np.cumsum(one[calls], dtype=np.int64) for one in (program.gap_ps, waits))
    sends = np.flatnonzero(starts[calls])
    in_a_row = (
        ~np.diff(program.place_of[calls[sends]]).astype(np.bool_)
        & (np.diff(waited[sends]) == 0)
        & (np.diff(code[sends]) <= program.empty_message_ps)
    )
    rows = in_rows(calls[sends], in_a_row)
    return [
        (int(program.location[row[0]]), [message for call in row for message in program.sent_in[call]]) for row in rows
    ]


def in_rows(calls: Rows, in_a_row: Flags, least: int = 1) -> list[list[int]]:
    """Calls of which each is in a row with the one behind it, or not (n - 1 flags), as rows of so many at least."""
    ends = np.append(np.flatnonzero(~in_a_row) + 1, len(calls))
    begins = np.append(0, ends[:-1])
    long = ends - begins >= least
    every = calls.tolist()
    return [every[begin:end] for begin, end in zip(begins[long].tolist(), ends[long].tolist(), strict=True)]


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
