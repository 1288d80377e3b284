"""The documentation's page of the experiments is what `logpost experiments run` left, else the list of all."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from logpost.cli import experiments as cli
from logpost.experiments.framework import registry

from .test_framework import STORY

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.delitem(sys.modules, "experiments_page", raising=False)
    return importlib.import_module("experiments_page")


def test_a_kept_result_is_the_page(page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "experiments", lambda: {"story": STORY})
    done = CliRunner().invoke(cli.app, ["run", "story", "--quick", "-q", "-o", str(tmp_path / "kept")])
    assert done.exit_code == 0
    page.write(tmp_path / "pages", tmp_path / "kept")
    text = (tmp_path / "pages" / page.PAGE).read_text(encoding="utf-8")
    assert text == (tmp_path / "kept" / "experiments.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", text, re.MULTILINE) == ["story"]
    # The row of TABLE whose printed cost is 486 cycles, and 316 by LogP.
    assert re.search(r"^\| sync \\\| async \| 486 cycles \| 316 cycles", text, re.MULTILINE)
    assert "Not run here" not in text


def test_without_results_every_experiment_says_how_to_get_them(page: ModuleType, tmp_path: Path) -> None:
    page.write(tmp_path / "pages", tmp_path)
    text = (tmp_path / "pages" / page.PAGE).read_text(encoding="utf-8")
    known = registry.experiments()
    assert re.findall(r"^## (\S+)$", text, re.MULTILINE) == list(known)
    assert [one.title for one in known.values() if f"**{one.title}.**" not in text] == []
    assert text.count(f"Not run here: `{page.COMMAND}`") == len(known)
