"""The chosen machine is the same after another process has read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from logpost.analyzer.archive._native import ClockMode, Progress, Trace, find_anchor, read
from logpost.analyzer.machine.choose import ESTIMATE, ChosenMachine, choose_machine
from logpost.analyzer.machine.chosen_text import of_text, text_of
from logpost.machines.parameters import BeyondLogGP, Log3PTable


def chosen(traces: Path, archive: str, named: str | None, topology: str | None = None) -> tuple[ChosenMachine, Trace]:
    """A machine for an archive, which is kept while the estimate may look at it."""
    anchor = find_anchor(str(traces / archive))
    trace = read(anchor, 1, Progress(), ClockMode.offsets)
    return choose_machine(named, trace, anchor, archive, asynchronous_progress=False, topology=topology), trace


@pytest.mark.parametrize("archive", ["scorep-npb-cg-W-nocomp-8", "scorep-prk-rma-stencil-8", "casita-2_cuda_simple"])
@pytest.mark.parametrize("topology", [None, "crossbar:16"])
def test_an_estimate_is_read_as_it_was(traces: Path, archive: str, topology: str | None) -> None:
    one, _trace = chosen(traces, archive, ESTIMATE, topology)
    other = of_text(text_of(one))
    assert text_of(other) == text_of(one)
    assert (other.machine, other.text, other.notes) == (one.machine, one.text, one.notes)
    assert one.estimate is not None
    assert other.estimate == one.estimate
    assert other.identified is not None
    assert other.identified.parameters.same_messages(one.parameters)


@pytest.mark.parametrize("name", ["alewife", "piz_daint", "azure_hpc"])
def test_a_machine_of_the_library_is_read_as_it_was(traces: Path, name: str) -> None:
    one, _trace = chosen(traces, "pipit-ping-pong", name)
    other = of_text(text_of(one))
    assert text_of(other) == text_of(one)
    assert other.machine == one.machine
    assert other.parameters.same_messages(one.parameters)


def test_tables_of_log3p_are_read_as_they_were(traces: Path) -> None:
    """An empty one has its shape, and what is not known is not a number."""
    one, _trace = chosen(traces, "pipit-ping-pong", "alewife")
    some = np.array([np.nan, 2.5])
    table = Log3PTable(np.array([1, 2]), some, some, some, np.ones((3, 4)))
    beyond = BeyondLogGP(bursts=np.ones((1, 3)), mean_hops=2.0)
    other = of_text(text_of(replace(one, parameters=replace(one.parameters, log3p=table, beyond_loggp=beyond))))
    found = other.parameters.log3p
    assert found is not None
    assert (found.l_mw.shape, found.alone.shape) == ((3, 4), (0, 4))
    np.testing.assert_array_equal(found.T_mem_ps, table.T_mem_ps)
    assert found.sizes.dtype == table.sizes.dtype
    assert other.parameters.beyond_loggp.mean_hops == beyond.mean_hops
    np.testing.assert_array_equal(other.parameters.beyond_loggp.bursts, beyond.bursts)
