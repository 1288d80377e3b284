"""Perfect overlap against truth: the simulator runs each program also with all work before its Waits, on NICs that
answer handshakes independently. The replay of the first one predicts its length, to the picosecond."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.real_network.trial import length_ps

from logpost.analyzer.predict.whatif import Ask, predict
from logpost.analyzer.predict.whatif.predicted_run import write_predicted
from logpost.analyzer.run.directory import Run

from .programs import CURED, SIMULATE, RunsOf

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

CASES = ("eager", "eager_uneven", "rendezvous", "rendezvous_uneven", "one_by_one")
ASK = Ask(settings=("overlap=perfect",))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> RunsOf:
    """Runs of the cases, and of the programs that overlap."""
    return RunsOf(tmp_path_factory.mktemp("overlaps"), "--overlaps")


def _calls(run: Run) -> pl.DataFrame:
    """Times of all calls but MPI_Finalize, of which no trace says what it waits for."""
    named = run.table("regions").select("region", "name")
    calls = run.table("calls").join(named, on="region").sort("call")
    calls = calls.filter(pl.col("name") != "MPI_Finalize")
    return calls.select("location", "name", "enter_ps", "leave_ps").collect()


@pytest.mark.parametrize("case", CASES)
def test_every_call_is_when_the_program_that_overlaps_has_it(runs: RunsOf, case: str, tmp_path: Path) -> None:
    run, overlapped = runs[case], runs[case + CURED]
    found = predict(run, ASK)
    true = length_ps(overlapped)
    assert true < 0.9 * found.measured_ps
    assert found.predicted_ps == true
    assert found.interval_ps[0] <= true <= found.interval_ps[1]
    written = write_predicted(found, tmp_path / "predicted.run")
    assert _calls(written).equals(_calls(overlapped))


def test_blocking_messages_overlap_with_nothing(runs: RunsOf) -> None:
    run, overlapped = runs["blocking"], runs["blocking" + CURED]
    measured = predict(run, Ask()).measured_ps
    assert predict(run, ASK).predicted_ps == measured == length_ps(overlapped)


def test_work_that_is_scaled_is_scaled_at_its_new_place(runs: RunsOf) -> None:
    """Without any work the exchanges alone remain, overlapped or not."""
    run = runs["eager"]
    without = [predict(run, Ask(settings=some, scale_compute=("0",))) for some in ((), ("overlap=perfect",))]
    assert without[0].predicted_ps == without[1].predicted_ps < without[0].measured_ps


def test_the_predicted_run_waits_less_and_computes_as_much(runs: RunsOf, tmp_path: Path) -> None:
    run = runs["eager"]
    written = write_predicted(predict(run, ASK), tmp_path / "overlapped.run")
    computed = [
        one.table("accounting")
        .filter(pl.col("category") == "compute")
        .select(pl.col("exposed_ps").sum())
        .collect()
        .item()
        for one in (run, written)
    ]
    assert computed[0] == computed[1]
