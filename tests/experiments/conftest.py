"""The quick form of an experiment, run once per session however many tests look at its result."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from tests.analyzer import in_process
from tests.once import made_once

from logpost.experiments.framework.context import Context
from logpost.experiments.framework.needs import missing
from logpost.experiments.framework.registry import chosen
from logpost.experiments.framework.result import Result


@pytest.fixture(scope="session")
def quick_result(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """The quick result of an experiment by name; skips where what it needs is not installed."""
    known: dict[str, Result] = {}

    def result(name: str) -> Result:
        [experiment] = chosen([name])
        if reason := missing(experiment.needs):
            pytest.skip(reason)

        def run(folder: Path) -> None:
            with mock.patch("logpost.analyzer.pipeline.supervise.analyze", in_process.analyze):
                found = experiment.run(Context(folder, quick=True))
            (folder / "result.pickle").write_bytes(pickle.dumps(found))

        if name not in known:
            folder = made_once(tmp_path_factory, f"experiment-{name}", run)
            known[name] = pickle.loads((folder / "result.pickle").read_bytes())
        return known[name]

    return result
