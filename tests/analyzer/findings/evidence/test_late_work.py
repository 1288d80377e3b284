"""Work of late senders, shared with those who wait for them."""

from __future__ import annotations

from logpost.analyzer.findings.evidence.late_work import groups_of


def test_ranks_that_wait_for_each_other_through_others_are_a_group() -> None:
    # 1 waits for 0 and 3 for 2; 5 waits for 4 and 4 for 2, so that 2, 3, 4 and 5 share.
    assert groups_of([(1, 0), (3, 2)]) == [{0, 1}, {2, 3}]
    assert groups_of([(1, 0), (3, 2), (5, 4), (4, 2)]) == [{0, 1}, {2, 3, 4, 5}]
