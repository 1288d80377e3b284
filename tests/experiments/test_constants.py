"""A constant of an experiment has its source or its band next to it, and no claim is judged by a bare number."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import logpost.experiments

FOLDER = Path(next(iter(logpost.experiments.__path__)))
FILES = [path for path in sorted(FOLDER.rglob("*.py")) if "framework" not in path.parts]
PLAIN = frozenset({0, 1, 2, 3, 100, 1000, 1e6, 1e9, 1e-6, 1e-9, 1e12, 1e-12})
"""Counting, and units."""


def numbers(node: ast.AST) -> Iterator[float]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, int | float) and not isinstance(one.value, bool):
            yield one.value


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_constants_have_their_source(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    bare = []
    for i, one in enumerate(body):
        if not isinstance(one, ast.Assign | ast.AnnAssign) or one.value is None or isinstance(one.value, ast.Call):
            continue
        # The sentence below may be about several constants that follow one another.
        below = next((later for later in body[i + 1 :] if not isinstance(later, ast.Assign | ast.AnnAssign)), None)
        said = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if set(numbers(one.value)) - PLAIN and not said:
            bare.append(ast.unparse(one))
    assert bare == []


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_nothing_is_judged_by_a_bare_number(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    fractions = [
        ast.unparse(one)
        for one in ast.walk(tree)
        if isinstance(one, ast.Compare)
        for side in (one.left, *one.comparators)
        if isinstance(side, ast.Constant) and isinstance(side.value, float) and side.value not in (0.0, 1.0)
    ]
    assert fractions == []
