"""A constant of a workload's source has its reason or source next to it: definitions, options' defaults, fractions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from logpost.collectors.workloads.catalogue import FOLDER

FILES = [path for path in sorted(FOLDER.rglob("*.[ch]")) if path.name != "logpost_compute.h"]
"""logpost_compute.h computes for a stated time: its numbers are what it computes with."""
SOURCE = re.compile(r"LoGPC|SENS|log3P|LOGP|OVL|Alewife|paper|NAS|\d\.\d|band")
EXTENTS = frozenset({"brick", "cells", "count", "iterations", "messages", "rebuild", "repeat", "seed", "size"})
EXTENTS |= {"solves", "step", "steps", "volume", "work"}
"""Defaults of options that say how much is run, and are given for every experiment."""
PLAIN = frozenset({"0", "1", "2", "3", "-1"})
NEAR = 4
"""Lines: a comment so far above is about a number."""


def without_source(text: str) -> list[str]:
    lines = text.split("\n")
    found = {*_definitions(lines), *_defaults(text), *_fractions(lines)}
    return [f"{i + 1}: {lines[i].strip()}" for i in sorted(found)]


def _commented(lines: list[str], i: int, above: int) -> bool:
    """A comment is in the line, or ends in one of the lines above it."""
    return "/*" in lines[i] or any("*/" in line for line in lines[max(0, i - above) : i])


def _definitions(lines: list[str]) -> Iterator[int]:
    for i, line in enumerate(lines):
        if re.match(r"#define \w+ -?[\d.]", line) and line.split()[2] not in PLAIN and not _commented(lines, i, 1):
            yield i


def _defaults(text: str) -> Iterator[int]:
    """`.field = number`, explained in its line or in the help of its option."""
    helps = dict(re.findall(r"&s\.(?:\w+\.)*(\w+),[^{}]*?((?:\"[^\"]*\"\s*)+)\}", text))
    for i, line in enumerate(text.split("\n")):
        for name, value in re.findall(r"\.(\w+) = (-?[\d.]+)(?=[,}])", line):
            explained = name in EXTENTS or "/*" in line or SOURCE.search(helps.get(name, ""))
            if value not in PLAIN and not explained:
                yield i


def _fractions(lines: list[str]) -> Iterator[int]:
    inside = False
    for i, line in enumerate(lines):
        code = line.split("*/", 1)[-1] if inside else line
        inside = ("/*" in code and "*/" not in code) or (inside and "*/" not in line)
        code = re.sub(r'"(\\.|[^"\\])*"|/\*.*', "", "" if inside and "/*" not in line else code)
        found = [x for x in re.findall(r"(?<![\w.])\d+\.\d+", code) if float(x) not in (0.0, 0.5, 1.0, 2.0)]
        if found and not re.search(r"\.\w+ = |#define", code) and not _commented(lines, i, NEAR):
            yield i


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_constants_have_their_reason(path: Path) -> None:
    assert without_source(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "planted",
    [
        "#define EDGE_FLOP 67",
        "struct settings s = {.degree = 13,",
        'x = {.degree = 13,};\n    {"degree", LP_REAL, &s.degree, NULL, 0, 1, "of nodes"},',
        "\n\n\n\n\n    value = 0.37 * x;",
    ],
)
def test_a_planted_constant_is_found(planted: str) -> None:
    assert len(without_source(planted)) == 1


def test_an_option_may_name_its_source() -> None:
    option = 'x = {.degree = 13,};\n    {"degree", LP_REAL, &s.degree, NULL, 0, 1, "of nodes (SENS 4.2)"},'
    assert without_source(option) == []
