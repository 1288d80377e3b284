"""Of a long program, cures are replayed on its first part, whose calls have other numbers than the run's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.collectors.raw_logs import Log

from logpost.analyzer.findings.cures import offered

from .from_logs import MACHINE, MS, PS, ROUNDS, US, Found, findings, numbers, rounds, started

RANKS, SIZE = 4, 8


def reduced_and_handed_out() -> list[Log]:
    """In each round of 1 ms, a Reduce of 100 µs, and a Bcast of 100 µs of what it gave."""
    logs = started(RANKS)
    for begin in rounds():
        for log in logs:
            at = begin + 500 * US
            log.collective("MPI_Reduce", at, at + 100 * US, (SIZE, 0 if log.rank else RANKS * SIZE))
            log.collective("MPI_Bcast", at + 100 * US, at + 200 * US, (0 if log.rank else RANKS * SIZE, SIZE))
    return logs


def reduced_twice() -> list[Log]:
    """In each round of 1 ms, two Allreduces of 100 µs in a row."""
    logs = started(RANKS)
    for begin in rounds():
        for log in logs:
            for at in (begin + 500 * US, begin + 600 * US):
                log.collective("MPI_Allreduce", at, at + 100 * US, (RANKS * SIZE, RANKS * SIZE))
    return logs


@pytest.mark.parametrize(
    ("program", "named", "gain"),
    [
        # The Bcast is gone: 100 µs of each round of 1 ms.
        (reduced_and_handed_out, "both_in_one[MPI_Allreduce]", 0.1),
        # Either Allreduce lasts as long as its 2 rounds of 1 + 8 + 1 µs: 2 * (100 - 20) µs of each round.
        (reduced_twice, "back_to_back", 0.16),
    ],
)
@pytest.mark.parametrize("most", [3 * ROUNDS * RANKS, ROUNDS * RANKS])
def test_half_of_equal_rounds_saves_as_much_as_all(
    program: Callable[[], list[Log]],
    named: str,
    gain: float,
    most: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`most` calls are more than the program has, or half of them: 8 rounds, and 0.6 ms up to a first operation."""
    monkeypatch.setattr(offered, "MOST_CALLS", most)
    found: list[Found] = [row for row in findings(program(), tmp_path, MACHINE) if named in numbers(row)]
    assert [row["gain"] for row in found] == [pytest.approx(gain, rel=0.08)], found
    # On every rank, of the whole program.
    assert found[0]["exposed_ps"] == pytest.approx(gain * ROUNDS * RANKS * MS * PS, rel=0.15)
