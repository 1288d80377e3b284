"""LOG3P Fig. 12: LogGP cannot see what datatypes cost, log3P can."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.fft_packing.problem import Problem
from logpost.experiments.framework.result import Result

NAME = "fft-packing"


@pytest.fixture(autouse=True)
def _root_may_start_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def test_the_papers_sizes() -> None:
    # LOG3P footnote 15: FT.B.4 has d = 512 KB and s = 128 MB per process, of which a quarter goes to each.
    b4 = Problem("B", 1, 4)
    assert b4.columns * 16 == 512 * 1024
    assert b4.message * b4.ranks == 128 * 2**20
    assert b4.label == "FT.B.4"
    assert Problem("B", 2, 2).message == 16 * 2**20


def test_loggp_ranks_ddt_best_because_it_sees_no_difference(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "FT.S.2")
    exchange = {version: number(times, version, "exchange, LogGP") for version in ("ddt", "pack", "opt")}
    assert exchange["ddt"] == exchange["pack"] == exchange["opt"]
    total = {version: number(times, version, "LogGP") for version in ("ddt", "pack", "opt")}
    assert min(total, key=lambda version: total[version]) == "ddt"


def test_log3p_charges_datatypes_for_their_strides(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "FT.S.2")
    # 65,536 values a KB apart, towards each of two ranks.
    assert number(times, "ddt", "exchange, log3P") > 1.2 * number(times, "pack", "exchange, log3P")
    assert number(times, "pack", "exchange, log3P") == number(times, "opt", "exchange, log3P")


def test_packing_costs_the_program_time(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "FT.S.2")
    assert number(times, "ddt", "packing by the program") == 0
    assert number(times, "pack", "packing by the program") > 0
    fft = number(times, "ddt", "1-D FFTs")
    assert number(times, "ddt", "measured") > fft > 0
