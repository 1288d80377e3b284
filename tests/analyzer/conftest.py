"""Runs of every real archive, made once however many processes the session has."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.once import made_once

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError

Analyzed = dict[str, Run | InputError]


@pytest.fixture(scope="session")
def analyzed(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    """Archive name -> its run, or the one-line refusal."""

    def make(folder: Path) -> None:
        refused: dict[str, InputError] = {}
        for anchor in archives:
            name = anchor.parent.name
            try:
                # test_contradictions.py holds these runs against their reports.
                analyze(Request(str(anchor), str(folder / f"{name}.run")), held=False)
            except InputError as error:
                refused[name] = error
        (folder / "refused.pickle").write_bytes(pickle.dumps(refused))

    folder = made_once(tmp_path_factory, "runs", make)
    refused: dict[str, InputError] = pickle.loads((folder / "refused.pickle").read_bytes())
    names = [anchor.parent.name for anchor in archives]
    return {name: refused[name] if name in refused else Run.open(folder / f"{name}.run") for name in names}


@pytest.fixture(scope="session")
def runs(analyzed: Analyzed) -> dict[str, Run]:
    """The archives that were not refused."""
    return {name: run for name, run in analyzed.items() if isinstance(run, Run)}
