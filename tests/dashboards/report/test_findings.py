"""Findings on a page: in the order of the number they show, with bars to one scale."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.dashboards.synthetic import make_run

from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Alternative, PlacedFinding
from logpost.dashboards.report.findings import CureRow, finding_rows
from logpost.dashboards.report.sites import call_sites


@dataclass(frozen=True)
class Gaining:
    """A finding, reduced to its size."""

    gain: float
    gain_low: float | None = None
    gain_high: float | None = None
    cure: str = "another order"
    alternatives: tuple[Alternative, ...] = ()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlacedFinding, ...]:
    return build(make_run(tmp_path_factory.mktemp("findings") / "a.run")).findings


def test_the_largest_is_first_and_fills_its_bar(found: tuple[PlacedFinding, ...]) -> None:
    rows = finding_rows(found[::-1])
    sizes = [row.size for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert [row.bar for row in rows] == pytest.approx([size / sizes[0] for size in sizes])


def test_gain_is_what_is_shown_with_its_interval() -> None:
    rows = finding_rows([Gaining(0.1), Gaining(0.24, 0.2, 0.3)])  # type: ignore[list-item]
    assert [row.said.replace("\u00a0", " ") for row in rows] == [
        "time saved: 24.0 % (20.0 to 30.0 %)",
        "time saved: 10.0 %",
    ]
    assert [row.bar for row in rows] == pytest.approx([1.0, 0.1 / 0.24])


def test_cures_of_the_same_time_are_next_to_each_other() -> None:
    (alone,) = finding_rows([Gaining(0.2)])  # type: ignore[list-item]
    (row,) = finding_rows([Gaining(0.2, alternatives=(Alternative("a tree", 0.15),))])  # type: ignore[list-item]
    assert alone.cures == ()
    assert row.cures == (CureRow("another order", "20.0 %", 1.0), CureRow("a tree", "15.0 %", 0.15 / 0.2))


def test_the_call_site_follows_its_finding_when_the_order_changes(found: tuple[PlacedFinding, ...]) -> None:
    rows = finding_rows(found[::-1], {0: "em3d.c:120"})
    assert {row.site for row in rows if row.found == found[-1]} == {"em3d.c:120"}
    assert {row.site for row in rows if row.found != found[-1]} <= {""}


def test_bars_of_two_lists_can_have_one_scale(found: tuple[PlacedFinding, ...]) -> None:
    (row,) = finding_rows(found[:1], largest=2 * finding_rows(found[:1])[0].size)
    assert row.bar == pytest.approx(0.5)


def test_a_run_without_call_sites_names_none() -> None:
    class Without:
        def table(self, name: str) -> object:
            import polars as pl

            return pl.LazyFrame({"callpath": [0], "path": ["main / MPI_Send"]})

    assert call_sites(Without()) == {}  # type: ignore[arg-type]


def test_a_call_site_is_the_last_part_of_its_file_and_the_line() -> None:
    class With:
        def table(self, name: str) -> object:
            import polars as pl

            return pl.LazyFrame(
                {"callpath": [0, 1, 2], "file": ["/home/u/src/em3d.c", "", "x.f90"], "line": [120, 0, 0]}
            )

    assert call_sites(With()) == {0: "em3d.c:120", 2: "x.f90"}  # type: ignore[arg-type]
