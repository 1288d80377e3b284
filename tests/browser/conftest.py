"""A headless Chromium for pages that must behave offline; the tests skip where there is none, except in CI."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.pages import make_pages
from tests.browser.visit import Visit, watched

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A running Chromium of the system, with a separate profile."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None or importlib.util.find_spec("playwright") is None:
        reason = "the browser tests need Chromium (Debian: chromium) and the Python package playwright"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{reason}; CI must have them")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind, by name."""
    return make_pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """Open a file in a fresh, offline context and watch it."""
    contexts = []

    def opened(path: Path, **settings: Any) -> Visit:
        context = chromium.new_context(offline=True, **{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        return watched(context, path)

    yield opened
    for context in contexts:
        context.close()
