"""The catalogue of findings follows the code's list of kinds and the simulator's programs of known cause."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from logpost.analyzer.run.schema import FINDING_KINDS
from logpost.errors import InputError

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SITE))
    for name in ("catalogue", "doubts"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("catalogue")


def test_it_says_of_every_kind_and_no_other_when_it_is_wrong(catalogue: ModuleType) -> None:
    assert list(catalogue.DOUBTS) == list(FINDING_KINDS)


def test_every_kind_has_a_finder_with_a_documentation(catalogue: ModuleType) -> None:
    assert [kind for kind in FINDING_KINDS if not all(catalogue.cures_of(kind)) or not catalogue.cures_of(kind)] == []


def test_a_kind_without_its_paragraph_is_named(
    catalogue: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delitem(catalogue.DOUBTS, "late_post")
    with pytest.raises(InputError, match=r"doubts\.py: says nothing of late_post; add"):
        catalogue.write(tmp_path, tmp_path)


def test_a_simulator_that_is_not_built_is_named(
    catalogue: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(catalogue, "SIMULATE", tmp_path / "absent")
    with pytest.raises(InputError, match=r"absent: the simulator .* not built; make docs"):
        catalogue.write(tmp_path, tmp_path)


def test_a_run_without_its_finding_is_named(catalogue: ModuleType, tmp_path: Path) -> None:
    if not catalogue.SIMULATE.exists():
        pytest.skip("the simulator is not built: make setup")
    # A program with late senders holds no lock.
    case = catalogue.Case("late_sender_master", "lock_contention", "")
    catalogue.subprocess.run([catalogue.SIMULATE, tmp_path, "--case", case.name], check=True, capture_output=True)
    with pytest.raises(InputError, match=r"late_sender_master: .* this program has no finding lock_contention"):
        catalogue._pictured(case.kind, case, tmp_path)
