"""Fixtures of the recording tests: each test that uses `mpi` runs with Open MPI and with MPICH."""

from __future__ import annotations

import os

import pytest
from tests import give_way
from tests.collectors import recording


def require(mpi: str) -> str:
    """Skip, or fail in CI, when an MPI is not installed."""
    lacks = recording.missing(mpi)
    if lacks and os.environ.get("CI") == "true":
        pytest.fail(f"{lacks} is missing, and CI must have it")
    if lacks:
        pytest.skip(f"{lacks} is not installed")
    return mpi


@pytest.fixture(autouse=True)
def ranks_of_mpich_give_way(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other tests run concurrently: Open MPI's ranks yield by default only where they outnumber the cores."""
    parameters = request.node.callspec.params.values() if hasattr(request.node, "callspec") else ()
    if "mpich" in request.fixturenames or any("mpich" in str(value).lower() for value in parameters):
        for name, value in give_way.environment(tmp_path_factory.getbasetemp()):
            monkeypatch.setenv(name, value)


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
