"""Scripts of `packaging`, which are no part of the package, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "packaging"


def loaded(name: str) -> ModuleType:
    """`packaging/NAME.py`, without running it as a program."""
    found = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    # Dataclasses look their module up by its name.
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module
