"""The models next to each other: what every split must keep, on every real archive."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.whole_machine import write_whole_machine
from tests.archives import packed

from logpost.analyzer.explain.model_fits import model_fits, with_not_computed
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.rescope import rescope
from logpost.analyzer.report.data import Messages, ModelFit
from logpost.analyzer.report.models import best, fits_of, verdict
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.undivided import merged
from logpost.replay.cost.message_models import MessageModel


def split(run: Run) -> dict[MessageModel, Messages]:
    """By model, of those that the machine has values for."""
    return {fit.model: fit.messages for fit in model_fits(run) if fit.messages is not None}


def of_the_run(run: Run) -> tuple[int, int, dict[str, int], int]:
    """Messages, envelopes, parts as the run shows them, and deficit, from its own table of pairs."""
    pairs = run.table("pairs").collect()
    parts = merged({part: int(pairs[f"{part}_ps"].sum()) for part in PARTS}, run.manifest.machine.undivided)
    return int(pairs["messages"].sum()), int(pairs["envelope_ps"].sum()), parts, int(pairs["deficit_ps"].sum())


def sums(messages: Messages) -> tuple[int, int, dict[str, int], int]:
    return messages.count, messages.envelope_ps, messages.parts_ps, messages.deficit_ps


def test_every_model_s_parts_add_up_to_the_same_messages_of_every_archive(runs: dict[str, Run]) -> None:
    assert len(runs) >= len(packed()) - 1
    compared = 0
    for name, run in runs.items():
        found = split(run)
        assert sums(found[MessageModel.full]) == of_the_run(run), name
        for messages in found.values():
            assert messages.count == run.manifest.messages, name
            assert messages.envelope_ps == found[MessageModel.full].envelope_ps, name
            assert sum(messages.parts_ps.values()) == messages.envelope_ps, name
            assert min(*messages.parts_ps.values(), messages.deficit_ps) >= 0, name
            compared += messages.count > 0
    assert compared > 50


def test_transfers_and_collective_operations_are_split_under_every_model(runs: dict[str, Run]) -> None:
    """Parts add up to the same time under each, and under the run's own model to the run's own tables."""
    compared = {"transfers": 0, "collectives": 0}
    for name, run in runs.items():
        fits = {fit.model: fit for fit in model_fits(run) if fit.messages is not None}
        for kind, count in compared.items():
            found = {model: sums for model, fit in fits.items() if (sums := getattr(fit, kind)) is not None}
            for sums in found.values():
                assert sums.envelope_ps == found[MessageModel.full].envelope_ps, (name, kind)
                assert sum(sums.parts_ps.values()) == sums.envelope_ps, (name, kind)
                assert min(*sums.parts_ps.values(), sums.deficit_ps) >= 0, (name, kind)
            compared[kind] = count + len(found)
        transfers = run.table("transfers").collect()
        own = fits[MessageModel.full].transfers
        assert (own is None) == transfers.is_empty(), name
        if own is not None:
            assert (own.count, own.deficit_ps) == (transfers.height, transfers["deficit_ps"].sum()), name
        parts = run.table("collective_parts").filter(pl.col("phase") == "program", pl.col("part") != "not_divided")
        operations = fits[MessageModel.full].collectives
        if operations is not None:
            assert operations.envelope_ps == parts.collect()["exposed_ps"].sum(), name
            assert operations.deficit_ps == run.table("collective_kinds").collect()["deficit_ps"].sum(), name
    assert min(compared.values()) > 8


@pytest.mark.slow
def test_a_run_of_one_model_is_that_model_s_fit(traces: Path, tmp_path: Path) -> None:
    archive, machine = traces / "scorep-npb-lu-S-comp-4", write_whole_machine(tmp_path)
    for model in (MessageModel.logp, MessageModel.log3p):
        run = Run.open(analyze(Request(str(archive), str(tmp_path / model.value), machine=machine, model=model)))
        assert run.manifest.machine.model is model
        assert sums(split(run)[model]) == of_the_run(run)


def test_a_region_of_interest_has_fits_of_its_own_messages(runs: dict[str, Run]) -> None:
    run = runs["scorep-npb-lu-S-comp-4"]
    middle = run.table("messages").collect()["recv_enter_ps"].sort()[2000]
    half = rescope(run, RegionOfInterest(from_ps=middle))
    found = split(half)[MessageModel.full]
    assert 0 < found.count < run.manifest.messages
    assert sums(found) == of_the_run(half)


def fit(model: MessageModel, residual: int, deficit: int) -> ModelFit:
    return ModelFit(model, Messages(1, 8, 1000, {**dict.fromkeys(PARTS, 0), "residual": residual}, deficit))


def test_the_best_has_the_smallest_misfit_and_of_equal_ones_the_fewest_terms() -> None:
    full, loggp = fit(MessageModel.full, 40, 0), fit(MessageModel.loggp, 10, 30)
    logp = fit(MessageModel.logp, 0, 50)
    assert best(fits_of([full, loggp, logp])) is MessageModel.loggp
    said = verdict([full, loggp, logp], estimated=True)
    assert said.startswith("The smallest misfit is that of LogGP: 4.0 % ")
    assert "as full with more terms" in said
    assert "estimated from the same messages under LogGP" in said


def test_a_wait_that_a_model_does_not_compute_is_a_misfit_of_it() -> None:
    """Of 600 of late receiver under LogGP the full model, and LoGPC, have 400 as the processor's queue."""

    def sums(late_receiver: int, queueing: int, residual: int) -> Messages:
        parts = {"late_receiver": late_receiver, "processor_queueing": queueing, "residual": residual}
        return Messages(1, 8, 1000, {**dict.fromkeys(PARTS, 0), **parts}, 0)

    loggp, logpc = sums(600, 0, 50), sums(200, 400, 60)
    longer = sums(700, 0, 0)  # 100 of it is late receiver for another reason: the queue does not explain it
    fits = [ModelFit(MessageModel.full, sums(200, 400, 70)), ModelFit(MessageModel.loggp, loggp)]
    fits += [ModelFit(MessageModel.logpc, logpc), ModelFit(MessageModel.logp, longer)]
    full, first, second, third = with_not_computed(fits)
    assert [fit.not_computed_share for fit in (full, first, second, third)] == [0.0, 0.4, 0.0, 0.4]
    assert first.misfit_share == pytest.approx(0.45)
    assert best(fits_of([full, first, second, third])) is MessageModel.logpc
    assert "Not computed is late receiver" in verdict([full, first, second, third], estimated=False)
    assert with_not_computed(fits[1:]) == tuple(fits[1:]), "without the full model nothing is known"


def test_each_kind_has_a_best_model_of_its_own() -> None:
    """Of two models the one explains the messages, the other one the transfers."""

    def sums(residual: int) -> Messages:
        return Messages(1, 8, 1000, {"latency": 1000 - residual, "residual": residual}, 0)

    fits = [
        ModelFit(MessageModel.loggp, sums(10), transfers=sums(500)),
        ModelFit(MessageModel.log3p, sums(20), transfers=sums(40)),
    ]
    said = verdict(fits, estimated=False)
    assert "LogGP: 1.0 % of message time. " in said
    assert "log3P: 4.0 % of the time of transfers. " in said
    assert "collectives" not in said


def test_without_messages_no_model_is_the_best() -> None:
    nothing = ModelFit(MessageModel.full, Messages(0, 0, 0, dict.fromkeys(PARTS, 0), 0))
    lacking = ModelFit(MessageModel.log3p, None, "the machine has no o_net")
    assert best(fits_of([nothing, lacking])) is None
    assert verdict([nothing, lacking], estimated=False).startswith("no message matched")


@pytest.mark.parametrize("model", list(MessageModel))
def test_every_model_has_a_name_and_its_terms(model: MessageModel) -> None:
    assert model.label
    assert model.terms


def test_progress_names_each_model(traces: Path, tmp_path: Path) -> None:
    run = Run.open(analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run"))))
    reported: list[tuple[str, int, int]] = []
    model_fits(run, lambda *step: reported.append(step))
    assert reported[0] == ("rebuilding the program", 0, 0)
    assert reported[2] == ("splitting messages under LogGP", 1, len(MessageModel))
    assert len(reported) == 1 + len(MessageModel)


def test_parts_have_the_intervals_of_the_machine_s_values(traces: Path, tmp_path: Path) -> None:
    """o_r of messages above 1 KiB is 0.5 +- 0.05 us; nothing else of the machine states an uncertainty."""
    machine = write_whole_machine(tmp_path)
    run = Run.open(analyze(Request(str(traces / "scorep-npb-lu-S-comp-4"), str(tmp_path / "a.run"), machine=machine)))
    fits = {fit.model: fit.messages for fit in model_fits(run)}
    for model in (MessageModel.full, MessageModel.loggp, MessageModel.logp, MessageModel.log3p):
        sums = fits[model]
        assert sums is not None
        for part, (low, high) in sums.share_intervals.items():
            share = (sums.deficit_ps if part == "deficit" else sums.parts_ps[part]) / sums.envelope_ps
            assert low <= share <= high, (model, part)
        wide = {part for part, (low, high) in sums.share_intervals.items() if low < high}
        # LogP knows the smallest messages' o_r alone, which is exact, and log3P none.
        if model in (MessageModel.logp, MessageModel.log3p):
            assert not wide, model
        else:
            assert "recv_overhead" in wide, model


def test_exact_values_leave_no_intervals(traces: Path, tmp_path: Path) -> None:
    file = Path(write_whole_machine(tmp_path))
    file.write_text(file.read_text().replace("{value = 0.5, uncertainty = 0.05}", "0.5"))
    run = Run.open(analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run"), machine=str(file))))
    assert all(fit.messages is None or not fit.messages.share_intervals for fit in model_fits(run))
