"""Stages state what they read and write, and facts are dropped after their last reader."""

from __future__ import annotations

import inspect
import typing
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from logpost.analyzer.pipeline import build
from logpost.analyzer.pipeline.read_ahead import ReadAhead
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.stage import Stage, carry_out
from logpost.analyzer.pipeline.tables.analysis import Report
from logpost.analyzer.run.directory import RunWriter
from logpost.analyzer.run.faults import Faults

GIVEN: dict[str, Any] = {
    "request": Request,
    "archive": ReadAhead,
    "writer": RunWriter,
    "report": Report,
    "faults": Faults,
    "background": ThreadPoolExecutor,
}


class Fact:
    pass


def test_every_stage_reads_what_an_earlier_one_writes_in_its_type() -> None:
    assert tuple(GIVEN) == build.GIVEN
    known = dict(GIVEN)
    for stage in build.STAGES:
        types = typing.get_type_hints(stage.run)
        result = types.pop("return")
        assert set(stage.reads.split()) == set(inspect.signature(stage.run).parameters), stage.run
        for name in stage.reads.split():
            assert types[name] == known[name], (stage.run, name)
        writes = stage.writes.split()
        results = typing.get_args(result) if len(writes) > 1 else (result,) if writes else ()
        assert len(results) == len(writes), stage.run
        assert writes or result is type(None)
        assert not known.keys() & set(writes), "a fact is written once"
        known |= dict(zip(writes, results, strict=True))


def test_every_fact_is_read() -> None:
    read = {name for stage in build.STAGES for name in stage.reads.split()}
    assert read == {*build.GIVEN, *(name for stage in build.STAGES for name in stage.writes.split())}


def test_trace_and_analysis_are_dropped_before_their_memory_is_released() -> None:
    names = [stage.run.__name__ for stage in build.STAGES]
    for stage in build.STAGES[names.index("release") :]:
        assert not {"trace", "analysis", "causes", "spill", "placed"} & set(stage.reads.split())


def test_a_fact_is_dropped_after_its_last_reader() -> None:
    alive: list[weakref.ref[Fact]] = []

    def make() -> tuple[Fact, Fact]:
        alive.extend(map(weakref.ref, made := (Fact(), Fact())))
        return made

    def use_first(first: Fact) -> None:
        assert first is alive[0]()

    def use_second(second: Fact) -> int:
        assert alive[0]() is None
        return 3 if second is alive[1]() else 0

    facts: dict[str, Any] = {}
    stages = (Stage(make, "", "first second"), Stage(use_first, "first"), Stage(use_second, "second", "result"))
    carry_out(stages, facts)
    assert facts == {"result": 3}
    assert alive[1]() is None


def test_a_stage_that_writes_less_than_it_states_is_an_error() -> None:
    def make() -> tuple[int]:
        return (1,)

    with pytest.raises(ValueError, match="shorter"):
        carry_out((Stage(make, "", "first second"),), {})
