"""Runs of every real archive, made once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

from logpost.analyzer.request import Request
from logpost.analyzer.run import Run
from logpost.analyzer.supervise import analyze
from logpost.errors import InputError

Analyzed = dict[str, Run | InputError]


@pytest.fixture(scope="session")
def analyzed(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    """Archive name -> its run, or the one-line refusal."""
    folder = tmp_path_factory.mktemp("runs")
    result: Analyzed = {}
    for anchor in archives:
        name = anchor.parent.name
        try:
            result[name] = Run.open(analyze(Request(str(anchor), str(folder / f"{name}.run"))))
        except InputError as error:
            result[name] = error
    return result


@pytest.fixture(scope="session")
def runs(analyzed: Analyzed) -> dict[str, Run]:
    """The archives that were not refused."""
    return {name: run for name, run in analyzed.items() if isinstance(run, Run)}
