"""Cells of a notebook run in order, and show what Jupyter would show."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from logpost.errors import InputError

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SITE))
    for name in ("catalogue", "doubts", "notebook", "stage"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("notebook")


def cells(*sources: str) -> dict[str, Any]:
    return {"cells": [{"cell_type": "code", "source": one.splitlines(keepends=True)} for one in sources]}


def test_cells_share_names_and_show_their_last_value(notebook: ModuleType) -> None:
    _, *parts = notebook.rendered(cells("a = 2\nprint('<a>')", "a * 3", "a = 1"))
    assert parts == [
        "```python\na = 2\nprint('<a>')\n```",
        "<pre>&lt;a&gt;\n</pre>",
        "```python\na * 3\n```",
        "<pre>6</pre>",
        "```python\na = 1\n```",
    ]


def test_a_cell_that_raises_is_named(notebook: ModuleType) -> None:
    with pytest.raises(InputError, match=r"notebook\.ipynb: cell 2 raises ZeroDivisionError: division by zero"):
        notebook.rendered(cells("a = 0", "1 / a"))
