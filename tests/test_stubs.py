"""The committed stubs of the extension modules are what stubgen makes of them, and their columns what arrives."""

from __future__ import annotations

import subprocess
import sys
import typing
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from logpost.analyzer.archive import columns as of_archives
from logpost.analyzer.archive._native import ClockMode, Progress, Trace, read
from logpost.analyzer.machine.estimate import estimate
from logpost.replay import columns as of_replays
from logpost.replay._native import Analysis
from logpost.replay.cost.parameters import native_parameters

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("folder", ["analyzer/archive", "replay"])
def test_stub_is_current(folder: str, tmp_path: Path) -> None:
    made = tmp_path / "made.pyi"
    name = f"logpost.{folder.replace('/', '.')}._native"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", name, "-o", str(made)],
        check=True,
    )
    assert (ROOT / folder / "_native.pyi").read_text() == made.read_text(), (
        "run: python -m nanobind.stubgen (CONTRIBUTING)"
    )


@pytest.fixture(scope="module")
def trace(traces: Path) -> Trace:
    return read(str(traces / "casita-10_scorep_mpi_tags"), 1, Progress(), ClockMode.offsets)


def check(declared: type, found: Mapping[str, object] | None) -> None:
    """Every declared column arrives, no other does, and each has the declared element type."""
    assert found is not None
    hints = typing.get_type_hints(declared)
    assert found.keys() == hints.keys(), declared.__name__
    for name, hint in hints.items():
        value = found[name]
        if isinstance(value, np.ndarray):
            assert np.ndarray is typing.get_origin(hint), (declared.__name__, name)
            (element,) = typing.get_args(typing.get_args(hint)[1])
            assert value.dtype == element, (declared.__name__, name)
        else:
            assert isinstance(value, typing.get_origin(hint) or hint), (declared.__name__, name)


def test_columns_of_an_archive_are_those_declared(trace: Trace) -> None:
    check(of_archives.Locations, trace.locations())
    check(of_archives.Regions, trace.regions())
    check(of_archives.Nodes, trace.nodes())
    check(of_archives.Communicators, trace.communicators())
    check(of_archives.DetailLevels, trace.detail_levels())
    check(of_archives.Callpaths, trace.callpaths())
    check(of_archives.Layouts, trace.layouts())
    check(of_archives.Profile, trace.profile())


def test_columns_of_a_replay_are_those_declared(trace: Trace) -> None:
    samples = trace.program.samples(100)
    for row in samples:
        assert row.keys() == typing.get_type_hints(of_replays.Samples).keys()
    parameters = estimate("archive", samples).parameters()
    analysis = Analysis(trace.program, native_parameters(parameters), 1)
    check(of_replays.Messages, analysis.next_messages(1000))
    check(of_replays.Calls, analysis.next_calls(0, 1000))
    check(of_replays.Accounting, analysis.accounting())
    check(of_replays.TimeCells, analysis.time_cells())
    check(of_replays.Exposure, analysis.exposure())
    check(of_replays.CollectiveParts, analysis.collective_parts())
    check(of_replays.CollectiveKinds, analysis.collective_kinds())
    check(of_replays.Interest, analysis.interest())
    check(of_replays.WaitStates, analysis.wait_states())
    check(of_replays.Pairs, analysis.pairs())
    check(of_replays.Load, analysis.load())
    check(of_replays.Unmatched, analysis.unmatched())
    check(of_replays.Collectives, analysis.collectives())
