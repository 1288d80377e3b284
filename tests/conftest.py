"""What every test may ask for: the real archives, the papers, and two hosts."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from . import tiers
from .archives import SHARED, not_packed, unpack
from .once import made_once
from .two_hosts import NotHereError, TwoHosts, two_hosts

TESTS = Path(__file__).parent
BARE_PATH = pytest.StashKey[str]()


def needs_more(item: pytest.Item) -> bool:
    """Whether a test may use what the tier of `make check` does without."""
    return any(item.get_closest_marker(marker) for marker in tiers.NEEDS)


def names_in_code(item: pytest.Item) -> frozenset[str]:
    """Names that a test and its fixtures use."""
    if not isinstance(item, pytest.Function):
        return frozenset()
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    functions = [item.function, *(one.func for several in fixtures for one in several)]
    codes = [getattr(inspect.unwrap(function), "__code__", None) for function in functions]
    return frozenset(name for code in codes if code is not None for name in code.co_names)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        fixtures = frozenset(item.fixturenames) if isinstance(item, pytest.Function) else frozenset()
        folder = item.path.parent.relative_to(TESTS).as_posix()
        for marker in sorted(tiers.markers(fixtures, names_in_code(item), folder)):
            item.add_marker(marker)


def pytest_sessionstart(session: pytest.Session) -> None:
    folder = session.config.cache.mkdir("bare_path")
    session.config.stash[BARE_PATH] = tiers.path_without(folder, os.environ["PATH"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with contextlib.nullcontext() if needs_more(item) else tiers.path(item.config.stash[BARE_PATH]):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and not needs_more(item):
        reason = report.longrepr[2]
        if tiers.names_something_forbidden(reason):
            report.outcome = "failed"
            report.longrepr = f"{reason}: mark the test mpi, testbed or browser (tests/tiers.py)"
    return report


@pytest.fixture(scope="session")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds a folder for each packed archive; tests copy what they change."""
    return made_once(tmp_path_factory, "archives", unpack)


@pytest.fixture(scope="session")
def archives(traces: Path) -> list[Path]:
    """The anchor file of every real archive: the packed ones, and those next to the checkout."""
    folders = [*sorted(traces.iterdir()), *not_packed()]
    return [anchor for folder in folders for anchor in sorted(folder.glob("*.otf2"))]


@pytest.fixture(scope="session")
def papers() -> Path:
    """The folder with the papers' texts, which cannot be part of the project; skips where it is not."""
    folder = SHARED / "papers"
    if not folder.is_dir():
        pytest.skip(f"{folder} (the papers' texts) is not here")
    return folder


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[TwoHosts]:
    """Two hosts on this machine; skips where the system does not let tests have them (no root, no namespaces)."""
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(two_hosts(tmp_path))
        except NotHereError as reason:
            pytest.skip(f"no two hosts here: {reason}")
        yield found
