"""Programs of known causes under each model: a model explains what it has a term for, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from tests.analyzer.in_process import analyze

from logpost.analyzer.explain.model_fits import model_fits
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.data import ModelFit
from logpost.analyzer.report.models import best, fits_of
from logpost.analyzer.run.directory import Run
from logpost.replay.cost.message_models import MessageModel

from .programs import SIMULATE, simulate

pytestmark = pytest.mark.skipif(not SIMULATE.exists(), reason="the simulator is not built: make setup")

FULL, LOGGP, LOGPC, LOG3P, LOGP = MessageModel
OF_LOGGP = ("clean_halo", "clean_overlap", "halo_rendezvous", "late_receiver_rendezvous")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("truth") / "cases"
    simulate(place, cases=(*OF_LOGGP, "k_to_1_small", "strided_halo"))
    return place


def run_of(case: Path, run: Path, model: MessageModel = FULL) -> Run:
    """A case under the exact machine."""
    request = Request(str(case / "traces.otf2"), str(run), machine=str(case / "machine.toml"), model=model)
    return Run.open(analyze(request))


def misfits(run: Run) -> dict[MessageModel, float]:
    """Of the models that the machine has values for, in parts of message time."""
    return {fit.model: fit.misfit_share for fit in model_fits(run) if fit.messages is not None}


@pytest.mark.parametrize("name", OF_LOGGP)
def test_where_nothing_but_loggp_costs_time_full_splits_as_loggp(cases: Path, tmp_path: Path, name: str) -> None:
    full, loggp = (run_of(cases / name, tmp_path / model.value, model) for model in (FULL, LOGGP))
    assert full.manifest.messages > 0
    for table in ("messages", "calls", "accounting", "load"):
        assert_frame_equal(full.table(table).collect(), loggp.table(table).collect())
    assert full.manifest.machine.residual_share < 1e-4


def test_of_small_messages_to_one_receiver_only_the_processors_queue_explains_the_wait(
    cases: Path, tmp_path: Path
) -> None:
    found = misfits(run_of(cases / "k_to_1_small", tmp_path / "a.run"))
    assert found[FULL] == found[LOGPC] < 0.01
    assert found[LOGGP] > 0.1
    assert found[LOGP] > 0.1


def test_of_strided_data_only_the_middleware_explains_the_copies(cases: Path, tmp_path: Path) -> None:
    run = run_of(cases / "strided_halo", tmp_path / "a.run")
    found = misfits(run)
    assert found[FULL] < 1e-4
    pairs = run.table("pairs").collect()
    assert 2 * int(pairs["middleware_ps"].sum()) > int(pairs["envelope_ps"].sum())
    assert min(found[LOGGP], found[LOGPC], found[LOGP]) > 0.5
    # The simulated machine's o_mw and o_net are 0, so that log3P has the copies and neither overhead nor wire.
    assert found[FULL] < found[LOG3P] < found[LOGGP]


def test_large_messages_are_explained_by_their_bytes(cases: Path, tmp_path: Path) -> None:
    fits: tuple[ModelFit, ...] = model_fits(run_of(cases / "halo_rendezvous", tmp_path / "a.run"))
    assert best(fits_of(fits)) is LOGGP  # as well as LoGPC and full do, with fewer terms
    first = next(fit for fit in fits if fit.model is LOGGP)
    assert first.misfit_share < 1e-4 < 0.5 < misfits(run_of(cases / "halo_rendezvous", tmp_path / "b.run"))[LOGP]
