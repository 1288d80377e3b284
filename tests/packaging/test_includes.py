"""Which includes of the native code break the order of its rooms."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packaging.script import loaded

includes = loaded("includes")
ENGINE, READER = "replay/native", "analyzer/archive/native"


def tree(root: Path, *files: tuple[str, str]) -> list[str]:
    """What is said of files that include one other each."""
    for path, included in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"#pragma once\n\n#include {included}\n")
    return list(includes.faults(root))


@pytest.mark.parametrize(
    ("file", "included"),
    [
        (f"{ENGINE}/split/account.cpp", f"{ENGINE}/split/account.hpp"),
        (f"{ENGINE}/split/account.cpp", f"{ENGINE}/program/program.hpp"),
        (f"{ENGINE}/graph/build.cpp", f"{ENGINE}/collectives/schedule.hpp"),
        # The reader fills the engine's program, and its bindings use the engine's.
        (f"{READER}/read/program.hpp", f"{ENGINE}/program/program.hpp"),
        (f"{READER}/python/bindings.hpp", f"{ENGINE}/python/bindings.hpp"),
    ],
)
def test_a_room_includes_itself_and_what_is_below(tmp_path: Path, file: str, included: str) -> None:
    assert tree(tmp_path, (file, f'"{included}"')) == []


@pytest.mark.parametrize(
    ("file", "included"),
    [
        (f"{ENGINE}/program/program.hpp", f"{ENGINE}/cost/parameters.hpp"),
        (f"{ENGINE}/servers/fifo.hpp", f"{ENGINE}/collectives/schedule.hpp"),  # of one row
        (f"{ENGINE}/split/account.cpp", f"{ENGINE}/python/bindings.hpp"),
        (f"{ENGINE}/program/program.cpp", f"{READER}/trace/trace.hpp"),
        (f"{READER}/read/read.cpp", f"{ENGINE}/python/bindings.hpp"),
        (f"{ENGINE}/graph/build.cpp", "nanobind/nanobind.h"),
        (f"{READER}/read/read.cpp", "Python.h"),
    ],
)
def test_everything_else_is_an_error(tmp_path: Path, file: str, included: str) -> None:
    shown = f"<{included}>" if included.endswith(".h") else f'"{included}"'
    (fault,) = tree(tmp_path, (file, shown))
    assert fault.startswith(f"{file} includes {included}")


def test_bindings_include_nanobind(tmp_path: Path) -> None:
    assert tree(tmp_path, (f"{ENGINE}/python/module.cpp", "<nanobind/nanobind.h>")) == []


def test_a_file_belongs_to_a_room(tmp_path: Path) -> None:
    (at_the_top,) = tree(tmp_path, (f"{ENGINE}/more.hpp", "<vector>"))
    assert at_the_top.startswith(f"{ENGINE}/more.hpp is in no room")


def test_the_trees_are_those_of_the_checkout() -> None:
    for folder, rows in includes.TREES.items():
        assert sorted(room for row in rows for room in row) == sorted(
            path.name for path in (includes.ROOT / folder).iterdir() if path.is_dir()
        )
