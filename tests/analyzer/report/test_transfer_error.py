"""How well the machine explains one-sided transfers is in the run, and next to what is modelled of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from logpost.analyzer.pipeline.stages.describe import with_undivided
from logpost.analyzer.render.report.machine import machine_error
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import MachineUsed
from logpost.analyzer.run.wide import exact_sum
from logpost.dashboards.report.page import model_error, unexplained_fact


def test_the_shares_are_those_of_the_transfers(runs: dict[str, Run]) -> None:
    one_sided = 0
    for run in runs.values():
        machine, rows = run.manifest.machine, run.table("transfers").collect()
        if rows.is_empty():
            assert machine.transfer_residual_share is machine.transfer_deficit_share is None
            continue
        one_sided += 1
        whole = exact_sum(rows["envelope_ps"])
        assert machine.transfer_residual_share == pytest.approx(exact_sum(rows["residual_ps"]) / whole)
        assert machine.transfer_deficit_share == pytest.approx(exact_sum(rows["deficit_ps"]) / whole)
        messages = exact_sum(run.table("messages").collect()["envelope_ps"])
        assert machine.transfer_share == pytest.approx(whole / (whole + messages))
    assert one_sided >= 2


def test_a_run_of_transfers_alone_shows_their_error(runs: dict[str, Run]) -> None:
    run = runs["scorep-shmem-stencil-4"]
    assert run.manifest.messages == 0
    report = build(run)
    for text in (machine_error(report), model_error(report)):
        assert "of the time of one-sided transfers, " in text
        assert "of message time" not in text
    assert unexplained_fact(report)[2] != "no messages to explain"


@pytest.mark.parametrize(
    ("messages", "transfers", "share", "refused"),
    [
        (0.05, 0.09, 0.5, False),
        (0.11, 0.0, 0.0, True),
        (0.0, 0.11, 1.0, True),
        # Four puts, of 0.4 % of the time, that did not do what the machine says: of the rest they say nothing.
        (0.002, 1.57, 0.004, False),
        # A kind is no more than wrong as a whole.
        (0.0, 30.0, 0.09, False),
        (0.0, 30.0, 0.11, True),
    ],
)
def test_an_estimate_is_refused_by_the_time_that_its_deficit_concerns(
    messages: float, transfers: float, share: float, refused: bool
) -> None:
    found = with_undivided(used(messages, transfers, share, "estimated"), chosen())
    assert (found.undivided, found.refused) == (list(chosen().identified.shown(refused=refused)), refused)


@pytest.mark.parametrize("origin", ["recorded", "file"])
@pytest.mark.parametrize(("messages", "transfers"), [(0.002, 1.57), (0.5, 0.0), (0.1, 0.1)])
def test_each_kind_contradicts_the_values_for_itself(messages: float, transfers: float, origin: str) -> None:
    """A machine that the user names is used as stated."""
    machine = used(messages, transfers, 0.004, origin)
    own = origin == "recorded"
    assert machine.contradicts_messages is (own and messages > 0.1)
    assert machine.contradicts_transfers is (own and transfers > 0.1)


def used(messages: float, transfers: float, share: float, origin: str) -> MachineUsed:
    return MachineUsed(
        name="x",
        origin=cast("Any", origin),
        label="x",
        residual_share=0.0,
        deficit_share=messages,
        transfer_residual_share=0.0,
        transfer_deficit_share=transfers,
        transfer_share=share,
    )


def chosen() -> Any:
    def shown(*, refused: bool) -> tuple[str, ...]:
        return ("latency", "send_overhead") if refused else ("latency",)

    return SimpleNamespace(identified=SimpleNamespace(refused=False, shown=shown))
