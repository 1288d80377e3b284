"""The stand-in of Score-P, and a program that is instrumented with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.collectors.scorep.standing_in import STAND_IN, build


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, instrumented: `scorep cc -o app app.c`."""
    return build(tmp_path_factory.mktemp("instrumented"), str(STAND_IN / "scorep"))
