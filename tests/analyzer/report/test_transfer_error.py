"""How well the machine explains one-sided transfers is in the run, and next to what is modelled of them."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from logpost.analyzer.pipeline.stages.describe import undivided_categories
from logpost.analyzer.render.report.machine import machine_error
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.wide import exact_sum
from logpost.dashboards.report.page import model_error, unexplained_fact


def test_the_shares_are_those_of_the_transfers(runs: dict[str, Run]) -> None:
    one_sided = 0
    for run in runs.values():
        used, rows = run.manifest.machine, run.table("transfers").collect()
        if rows.is_empty():
            assert used.transfer_residual_share is used.transfer_deficit_share is None
            continue
        one_sided += 1
        whole = exact_sum(rows["envelope_ps"])
        assert used.transfer_residual_share == pytest.approx(exact_sum(rows["residual_ps"]) / whole)
        assert used.transfer_deficit_share == pytest.approx(exact_sum(rows["deficit_ps"]) / whole)
    assert one_sided >= 2


def test_a_run_of_transfers_alone_shows_their_error(runs: dict[str, Run]) -> None:
    run = runs["scorep-shmem-stencil-4"]
    assert run.manifest.messages == 0
    report = build(run)
    for text in (machine_error(report), model_error(report)):
        assert "of the time of one-sided transfers, " in text
        assert "of message time" not in text
    assert unexplained_fact(report)[2] != "no messages to explain"


@pytest.mark.parametrize(("messages", "transfers", "refused"), [(5, 9, False), (11, 0, True), (0, 11, True)])
def test_an_estimate_is_refused_by_the_deficit_of_either(messages: int, transfers: int, refused: bool) -> None:
    def shown(*, refused: bool) -> tuple[str, ...]:
        return ("latency", "send_overhead") if refused else ("latency",)

    chosen = cast("Any", SimpleNamespace(identified=SimpleNamespace(refused=False, shown=shown)))
    sums = Counter(envelope_ps=100, deficit_ps=messages, transfer_envelope_ps=100, transfer_deficit_ps=transfers)
    assert undivided_categories(chosen, sums) == (list(shown(refused=refused)), refused)
