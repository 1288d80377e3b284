"""Fixtures of the recording tests: each test that asks for `mpi` runs with Open MPI and with MPICH."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("recording", _HERE / "recording.py")
assert _spec is not None
assert _spec.loader is not None
recording = sys.modules.setdefault("recording", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(recording)


def require(mpi: str) -> str:
    """Skip, or fail in CI, when an MPI is not installed."""
    lacks = recording.missing(mpi)
    if lacks and os.environ.get("CI") == "true":
        pytest.fail(f"{lacks} is missing, and CI must have it")
    if lacks:
        pytest.skip(f"{lacks} is not installed")
    return mpi


@pytest.fixture(params=["openmpi", "mpich"])
def mpi(request: pytest.FixtureRequest) -> str:
    """An MPI of this machine."""
    return require(request.param)


@pytest.fixture
def openmpi() -> str:
    """Open MPI alone, for what does not depend on the MPI."""
    return require("openmpi")


@pytest.fixture
def mpich() -> str:
    """MPICH alone, for what only it has."""
    return require("mpich")
