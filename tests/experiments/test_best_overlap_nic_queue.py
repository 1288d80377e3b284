"""OVL's get program on a NIC that serves one transfer after the other, times derived by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.best_overlap.decomposition import Decomposed
from logpost.experiments.best_overlap.nic_queue import played
from logpost.experiments.best_overlap.problems import Network, Translations
from logpost.experiments.best_overlap.translations import knee
from logpost.experiments.best_overlap.two_ways import two_ways
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Standing

NETWORK = Network("infiniband_opteron", "assumed", L=10.0, o=1.0, G=1e-3, HD=4)


def test_a_blocking_program_pays_everything() -> None:
    # 4 messages of 1,000 B: 4 (1 + 10 + 1 + 0.5 x 1) = 50 us
    assert played(NETWORK, 0.5, Decomposed(4000, 1000, 1), "C") == pytest.approx(50.0)


def test_a_pipelined_program_waits_for_the_first_message_only() -> None:
    # Two messages of 10,000 B in bursts of one, both initiated before the first is awaited: initiations end at 1 and
    # 2, transfers begin at 1 + 5 = 6 and at 16, when the link is free again, and end at 16 and 26; complete at 21 and
    # 31. Each computation is 5 us: 31 + 5 = 36.
    assert played(NETWORK, 0.5, Decomposed(20_000, 10_000, 1)) == pytest.approx(36.0)


def test_each_form_overlaps_more_than_the_one_before() -> None:
    # Four messages of 10,000 B in bursts of two, 5 us computed on each. B: initiated at 1 and 2, transfers from 6 and
    # 16, all complete at 31, computed at 41; initiated at 42 and 43, complete at 62 and 72, computed at 82. C: computed
    # at 26 and 36, initiated at 37 and 38, complete at 57 and 67, computed at 72. E: all initiated by 4, transfers one
    # behind the other until 46, complete at 51, computed at 56. One by one: 4 (1 + 10 + 10 + 5) = 104.
    case = Decomposed(40_000, 10_000, 2)
    assert played(NETWORK, 0.5, case, "B") == pytest.approx(82.0)
    assert played(NETWORK, 0.5, case, "C") == pytest.approx(72.0)
    assert played(NETWORK, 0.5, case, "E") == pytest.approx(56.0)
    assert played(NETWORK, 0.5, replace(case, b=1), "B") == pytest.approx(104.0)


def test_initiations_block_at_the_queues_depth() -> None:
    # 8 messages of 1,000 B in one burst, HD = 4: initiations end at 1, 2, 3, 4; transfers end at 7, 8, 9, 10 and are
    # complete at 12, 13, 14, 15. The fifth begins at 12 and ends at 13, its transfer at 19, complete at 24; the others
    # follow 1 us apart: 25, 26, 27. Computing 0.5 us each hides but for the last: 27.5.
    assert played(NETWORK, 0.5, Decomposed(8000, 1000, 8)) == pytest.approx(27.5)


def test_the_first_of_a_burst_costs_more_and_the_nic_a_service_of_each_message() -> None:
    # o = 1 us, 0.1 G per byte more (0.1 us for 1,000 B) and 30 % more for the first of a burst: 1.43, then 1.1 us. The
    # transfers begin at 1.43 + 5 and follow 1 + 1 us apart: 8.43, 10.43; complete at 13.43 and 15.43, 0.5 us each.
    network = NETWORK.with_overheads(1.0, 0.1)
    assert played(network, 0.5, Decomposed(2000, 1000, 2)) == pytest.approx(15.93)
    # The mean of the burst is what the model is given: (1.43 + 1.1) / 2.
    assert float(network.profile().o(1000.0, 2.0)) == pytest.approx((1.43 + 1.1) / 2)
    assert float(network.profile().G(1.0, 1000.0)) == pytest.approx(2e-3)


def test_translations_that_later_messages_replace_are_loaded_again() -> None:
    # 4 messages of 2 pages in bursts of two, a miss costs 3 us. All are initiated by 4 us, 8 pages; the first transfer
    # begins at 6. A TLB of 8 entries has them all: transfers end at 16, 26, 36, 46, complete at 51, 5 us computed: 56.
    case = Decomposed(40_000, 10_000, 2)
    assert played(replace(NETWORK, tlb=Translations(8, 5000, 3.0)), 0.5, case) == pytest.approx(56.0)
    # 7 entries: of the first transfer's pages (8 of 7 in flight) both are replaced, 6 us more; the second has 6 in
    # flight, and none. 62.
    assert played(replace(NETWORK, tlb=Translations(7, 5000, 3.0)), 0.5, case) == pytest.approx(62.0)


def test_the_knee_is_where_the_tlb_is_full() -> None:
    knees = table(knee(3), "Fig. 10: the knee")
    # 4 MB / S; 128 entries of 4 KB cover 512 KB: two messages of 256 KB.
    assert [number(knees, row[0], "first slower b, pages of 32 KB") for row in knees.rows] == [2, 4, 8, 16]
    assert number(knees, "256 KB", "first slower b, pages of 4 KB") == 2
    assert [claim.standing for claim in knee(3).claims] == [Standing.BY_CONSTRUCTION]


def test_two_directions_saturate_at_half_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # nothing is measured
    found = two_ways(Context(tmp_path, quick=True))
    # A byte costs twice, a message the same: 1 us of the NIC and 1.25 ns/B; 800 MB/s less what 1 MB hides.
    rates = table(found, "Fig. 3")
    assert number(rates, "Infiniband, one direction", "at 1 MB") == pytest.approx(800, rel=0.01)
    assert number(rates, "Infiniband, both", "at 1 MB") == pytest.approx(400, rel=0.01)
    assert [row[2] for row in rates.rows] == ["8 KB", "4 KB", "8 KB", "4 KB"]
