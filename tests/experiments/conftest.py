"""The quick form of an experiment, run once per session however many tests look at its result."""

from __future__ import annotations

from collections.abc import Callable

import pytest

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
        if name not in known:
            known[name] = experiment.run(Context(tmp_path_factory.mktemp(name), quick=True))
        return known[name]

    return result
