"""Few slow ranks have the others as a norm; many have not."""

from __future__ import annotations

from logpost.analyzer.findings.evidence.slow_ranks import as_the_others, by_exception, evenly

TIMES = {0: 4.0, 1: 10.0, 2: 5.0, 3: 4.0, 4: 4.0}


def test_slow_by_exception_is_at_most_one_in_five() -> None:
    assert by_exception([1], TIMES)
    assert not by_exception([1, 2], TIMES)
    assert not by_exception([], TIMES)
    assert not by_exception([1], range(4))


def test_work_shared_evenly_is_the_mean() -> None:
    assert evenly(TIMES) == dict.fromkeys(TIMES, 5.4)


def test_slow_ranks_get_the_median_of_the_others_and_never_more_than_they_have() -> None:
    assert as_the_others(TIMES, [1]) == TIMES | {1: 4.0}
    assert as_the_others({0: 1.0, 1: 2.0, 2: 3.0}, [0]) == {0: 1.0, 1: 2.0, 2: 3.0}
