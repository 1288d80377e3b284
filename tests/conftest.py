"""What every test may ask for: the shared material, the real archives, and a clean environment for MPI."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .two_hosts import NotHereError, TwoHosts, two_hosts

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material beside the checkout; its absence fails in CI and skips elsewhere."""
    if SHARED.is_dir():
        return SHARED
    if os.environ.get("CI") == "true":
        pytest.fail(f"{SHARED} is missing, and CI must have it")
    pytest.skip(f"{SHARED} (specifications and real traces) is not here")


@pytest.fixture(scope="session")
def archives(shared: Path) -> list[Path]:
    """The anchor file of every real archive."""
    found = sorted((shared / "traces").glob("*/*.otf2"))
    assert found, f"{shared / 'traces'} holds no archive"
    return found


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[TwoHosts]:
    """Two hosts on this machine; skips where the system does not let tests have them (no root, no namespaces)."""
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(two_hosts(tmp_path))
        except NotHereError as reason:
            pytest.skip(f"no two hosts here: {reason}")
        yield found
