"""`--from --to --region --phase`: times with units or parts of the run, and what cannot be selected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.cli.selection import moment, requested, scoped, selection
from logpost.errors import InputError

MS = 10**9


@pytest.mark.parametrize(
    ("text", "ps"),
    [
        ("1.5s", 1500 * MS),
        ("200ms", 200 * MS),
        ("10us", 10 * 10**6),
        ("10µs", 10 * 10**6),
        (".5 ms", MS // 2),
        ("2min", 120_000 * MS),
        ("7ps", 7),
        ("25%", 500 * MS),
        ("100 %", 2000 * MS),
        ("0s", 0),
    ],
)
def test_times_have_a_unit_or_are_a_part_of_the_run(text: str, ps: int) -> None:
    # A run of 2 s: 25 % of it are 500 ms.
    assert moment("--from", text).at(2000 * MS) == ps


@pytest.mark.parametrize("text", ["", "3", "3x", "-1s", "101%", "1s2", "s", "nan s", "1e3s"])
def test_anything_else_is_refused_with_the_way_out(text: str) -> None:
    with pytest.raises(InputError, match=r"--to .*is not a time; write --to 1.5s, --to 200ms or --to 25% "):
        moment("--to", text)


def test_the_region_of_interest_is_in_picoseconds() -> None:
    found = selection("25%", "1s", "solve", 2).within(2000 * MS)
    assert found == RegionOfInterest(500 * MS, 1000 * MS, "solve", 2)
    assert selection(None, None, None, 0).within(1) == RegionOfInterest(pcontrol=0)


def test_an_empty_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"--from 1s is not before --to 500ms; swap them"):
        selection("1s", "500ms", None, None).within(2000 * MS)
    with pytest.raises(InputError, match=r"--from 3s is after the end .* 2 s"):
        selection("3s", None, None, None).within(2000 * MS)


def test_without_options_the_run_is_itself() -> None:
    run = object()
    assert scoped(run, selection(None, None, None, None)) is run  # type: ignore[arg-type]


def test_analyze_takes_no_part_of_a_run_whose_length_it_does_not_know() -> None:
    request = Request("a.otf2", "a.run")
    assert requested(request, selection(None, None, None, None)) == replace(request)
    with pytest.raises(InputError, match=r"--from 25%: .* know the run's length"):
        requested(request, selection("25%", None, None, None))


def test_analyze_gets_the_region_of_interest() -> None:
    request = Request("a.otf2", "a.run", roi=RegionOfInterest())
    found = requested(request, selection("10ms", None, "solve", 2))
    assert found.roi == RegionOfInterest(10 * MS, None, "solve", 2)
    assert replace(found, roi=request.roi) == request
