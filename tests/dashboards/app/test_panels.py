"""Pieces of pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyzer.two_phases import two_phases

from logpost.analyzer.report.build import build
from logpost.dashboards.app.panels import where


@pytest.mark.parametrize(
    ("path", "cause", "last"),
    [
        ("main / MPI_Recv", "relax", "relax"),  # the line is that of MPI_Recv
        ("main / load / read a.dat", "read a.dat", "a.c:9"),
        ("main / MPI_Recv", "", "a.c:9"),
    ],
)
def test_a_line_of_the_source_follows_what_it_is_the_place_of(path: str, cause: str, last: str, tmp_path: Path) -> None:
    found = build(two_phases().write(tmp_path / "a.run")).findings[0]
    found = replace(found, path=path, region="MPI_Recv", cause_region=cause, first_window=-1)
    assert where(found, "a.c:9")[-1].children[1].children == last
