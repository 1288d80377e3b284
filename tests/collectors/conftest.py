"""Fixtures of the recording tests: each test that asks for `mpi` runs with Open MPI and with MPICH."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

_HERE = Path(__file__).parent


def _load(name: str) -> ModuleType:
    """Make a helper beside this file importable, which pytest's importlib mode does not."""
    spec = importlib.util.spec_from_file_location(name, _HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault(name, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


recording = _load("recording")
_load("raw_logs")


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
