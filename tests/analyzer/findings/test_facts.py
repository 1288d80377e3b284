"""A sentence that needs a number is not made without it."""

from __future__ import annotations

import pytest
from tests.said import facts

from logpost.analyzer.findings.evidence.places import NOWHERE
from logpost.analyzer.findings.prose import WORDS, advice
from logpost.analyzer.findings.wording.facts import Facts

ROW = {
    "kind": "collective_cost",
    "ranks": [0],
    "region": "MPI_Bcast",
    "cause_region": "",
    "gain": 0.1,
    "evidence": [{"name": "operations", "value": 3.0, "unit": "count"}],
}


def test_a_number_that_is_not_there_is_no_zero() -> None:
    facts = Facts(ROW, NOWHERE)
    assert facts.number("operations") == 3.0
    with pytest.raises(KeyError, match="collective_cost: no number mean_cost"):
        facts.number("mean_cost")


def test_a_number_that_a_finding_may_lack_has_a_default() -> None:
    assert Facts(ROW, NOWHERE).number("back_to_back", 0.0) == 0.0


def test_words_that_need_it_are_not_made() -> None:
    with pytest.raises(KeyError, match="load_imbalance: no number gain_if_as_fast"):
        advice(ROW | {"kind": "load_imbalance", "evidence": [{"name": "median_of_others", "value": 1.0, "unit": "ps"}]})


def test_where_every_rank_is_at_fault_all_of_them_wait() -> None:
    assert Facts(ROW, NOWHERE).waiters == f"{Facts(ROW, NOWHERE).ranks} waits"
    waiting = ROW | {"evidence": [{"name": "waiting_rank", "value": 2.0, "unit": "rank"}]}
    assert "2" in Facts(waiting, NOWHERE).waiters


@pytest.mark.parametrize(("regions", "ranks", "named"), [(2, [0, 1], False), (1, [0, 1], True), (1, [1], True)])
def test_ranks_are_different_ones_only_in_several_places(regions: int, ranks: list[int], named: bool) -> None:
    """One place is that of all its slow ranks; of several places each may have others."""
    evidence = [
        {"name": "regions", "value": float(regions), "unit": "count"},
        {"name": "others_wait", "value": 1e9, "unit": "ps"},
    ]
    row = Facts(ROW | {"ranks": ranks, "cause_region": "relax", "evidence": evidence}, NOWHERE)
    found = WORDS["load_imbalance"].title(row)
    assert found.startswith(row.ranks) == named
    assert facts(found)[-1] == "1.00 ms"
