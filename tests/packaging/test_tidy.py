"""Which files clang-tidy reads together, and that it finds there what it finds in each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from tests.packaging.script import loaded

SETTINGS = "Checks: '-*,clang-analyzer-core.*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n"


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, for a tree of its own, whose commands stand in a file."""
    module = loaded("tidy")
    build = tmp_path / "build"
    for name, folder in (("ROOT", tmp_path), ("BUILD", build), ("GROUPS", build / "groups")):
        monkeypatch.setattr(module, name, folder)
    monkeypatch.setattr(module, "commands", lambda: json.loads((build / "commands.json").read_text()))
    return module


def write(folder: Path, **files: str) -> list[dict[str, str]]:
    """The files and headers (`part_hpp`) of a tree, and the commands that compile them."""
    (folder / "build").mkdir(exist_ok=True)
    (folder / ".clang-tidy").write_text(SETTINGS)
    for name, text in files.items():
        (folder / name.replace("_hpp", ".hpp")).with_suffix(".hpp" if name.endswith("_hpp") else ".cpp").write_text(
            text
        )
    entries = [
        {"directory": str(folder), "file": f"{folder / name}.cpp", "command": f"c++ -o {name}.o -c {folder / name}.cpp"}
        for name in files
        if not name.endswith("_hpp")
    ]
    (folder / "build" / "commands.json").write_text(json.dumps(entries))
    return entries


def together(tidy: ModuleType, entries: list[dict[str, str]]) -> list[list[str]]:
    return sorted(sorted(source.path.stem for source in group.sources) for group in tidy.grouped(entries))


def test_files_that_know_nothing_of_each_other_are_read_together(tidy: ModuleType, tmp_path: Path) -> None:
    entries = write(tmp_path, one="int one() { return 1; }\n", two="int two() { return 2; }\n")
    assert together(tidy, entries) == [["one", "two"]]


def test_a_name_of_their_own_in_both_keeps_them_apart(tidy: ModuleType, tmp_path: Path) -> None:
    own = "namespace {{\nconstexpr int kMost = 3;\n}}\nint {0}() {{ return kMost; }}\n"
    assert together(tidy, write(tmp_path, one=own.format("one"), two=own.format("two"))) == [["one"], ["two"]]


def test_a_type_of_that_name_in_another_header_does_so_too(tidy: ModuleType, tmp_path: Path) -> None:
    entries = write(
        tmp_path,
        part_hpp="struct Part {\n    int at;\n};\n",
        one='#include "part.hpp"\nint one(Part part) { return part.at; }\n',
        same='#include "part.hpp"\nint same(Part part) { return part.at; }\n',
        two="struct Part {};\nint two(Part) { return 2; }\n",
    )
    assert together(tidy, entries) == [["one", "same"], ["two"]]


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        ('#include "part.hpp"\nint two(Part& part) { return part.at(); }\n', [["one"], ["two"]]),
        # Of another class.
        ("template <class List>\nint two(List& list) { return list.at(); }\n", [["one", "two"]]),
    ],
)
def test_a_function_is_not_read_with_its_callers(
    tidy: ModuleType, tmp_path: Path, caller: str, expected: list[list[str]]
) -> None:
    header = "class Part {\n  public:\n    int at();\n};\n"
    one = '#include "part.hpp"\nint Part::at() { return 1; }\n'
    assert together(tidy, write(tmp_path, part_hpp=header, one=one, two=caller)) == expected


@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="clang-tidy is not installed: make setup")
def test_findings_of_every_file_of_a_group(tidy: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(
        tmp_path,
        one="int one(int* p) {\n    if (p == nullptr) {\n        return *p;\n    }\n    return 1;\n}\n",
        two="int* two() {\n    return 0;\n}\n",
    )
    assert tidy.main() == 1
    found = capfd.readouterr().out
    assert "one.cpp:3:16: error: Dereference of null pointer" in found
    assert "two.cpp:2:12: error: use nullptr" in found


@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="clang-tidy is not installed: make setup")
def test_a_group_that_does_not_compile_is_read_file_by_file(
    tidy: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # The names of both are behind a macro, where the script does not see them.
    hidden = "#define MAKE_{0} static int hidden() {{ return {1}; }}\nMAKE_{0}\nint {0}() {{ return hidden(); }}\n"
    write(tmp_path, one=hidden.format("one", 1), two=hidden.format("two", 2))
    assert tidy.main() == 0
    assert "UnifiedSource0.cpp is read file by file: " in capfd.readouterr().out


@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="clang-tidy is not installed: make setup")
def test_a_header_s_function_is_followed_from_its_callers_alone(
    tidy: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    header = (
        "#pragma once\ninline int at(int* p) {\n    if (p == nullptr) {\n        return *p;\n    }\n    return 1;\n}\n"
    )
    entries = write(
        tmp_path,
        part_hpp=header,
        one='#include "part.hpp"\nint one() { return 1; }\n',
        two='#include "part.hpp"\nint two() { return 2; }\n',
    )
    assert together(tidy, entries) == [["one", "two"]]
    assert tidy.main() == 0
    assert capfd.readouterr().out == ""
    (tmp_path / "two.cpp").write_text('#include "part.hpp"\nint two() { return at(nullptr); }\n')
    tidy.text_of.cache_clear()
    assert tidy.main() == 1
    assert "part.hpp:4:16: error: Dereference of null pointer" in capfd.readouterr().out
