"""MPI_Comm_idup: one name for all members, another one for each duplicate, of inter-communicators too."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from tests.collectors import recording


@pytest.fixture
def trace(mpich: str, tmp_path: Path) -> recording.Trace:
    """Under MPICH alone: Open MPI 4.1 hangs now and then while it numbers new communicators, recorded or not."""
    result = recording.run(mpich, tmp_path, 4, recording.build("duplicates.c", mpich, tmp_path))
    assert result.status == 0, result.err
    return result.read()


def test_every_duplicate_has_one_name_of_its_own(trace: recording.Trace) -> None:
    sends: dict[int, set[str]] = defaultdict(set)
    receives: dict[int, set[str]] = defaultdict(set)
    for e in trace.events:
        if e.kind in ("MPI_SEND", "MPI_RECV"):
            (sends if e.kind == "MPI_SEND" else receives)[e.number("Tag")].add(e.comm)
    assert sends == receives
    assert [len(sends[tag]) for tag in range(1, 7)] == [1] * 6
    assert len(set.union(*sends.values())) == 6


def test_a_duplicate_of_an_inter_communicator_has_its_groups(trace: recording.Trace) -> None:
    lines = {re.sub(r'^[^"]*"([^"]*)".*', r"\1", line): line for line in trace.defined("INTER_COMM")}
    assert set(lines) == {"inter", "again"}
    for line in lines.values():
        members = []
        for group in re.findall(r'Group [AB]: "[^"]*" <(\d+)>', line):
            (definition,) = [g for g in trace.defined("GROUP") if re.match(rf"GROUP\s+{group}\s", g)]
            members.append(re.findall(r"(\d+) \(", definition.partition("Members:")[2]))
        assert sorted(members) == [["0", "1"], ["2", "3"]]
    for rank in range(4):
        ended = [e for e in trace.on(rank, "MPI_COLLECTIVE_END") if e.comm.startswith('"again"')]
        assert "BARRIER" in [e.operation for e in ended]
