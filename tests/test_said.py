"""What counts as a datum of a sentence, and that a missing or changed one is seen."""

from __future__ import annotations

from tests.said import facts, says

TEXT = "late sender in MPI_Recv at a.c:7 went from 10.0 ms to 1,200 µs (−88 %) on ranks 0-3; pass --force: FAIL"
DATA = ["late sender", "MPI_Recv", "a.c:7", "10.0 ms", "1,200 µs", "−88 %", "0-3", "--force", "FAIL"]


def test_data_are_quantities_categories_and_names_in_order() -> None:
    assert facts(TEXT) == DATA


def test_a_part_is_stated_without_gaps_and_with_its_values() -> None:
    assert says(TEXT, "10.0 ms", "1,200 µs")
    assert says(["nothing", TEXT], *DATA)
    assert not says(TEXT, "10.0 ms", "−88 %")
    assert not says(TEXT, "10.0 s")
    assert not says(TEXT, "0 ms")
