"""Every number that steers the product states its unit, and its source or reason, beneath it or in its line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import logpost

FOLDER = Path(next(iter(logpost.__path__)))


def _is_number(value: ast.expr) -> bool:
    """Whether it is made of numbers alone."""
    of_numbers = (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.operator, ast.unaryop, ast.expr_context)
    nodes = list(ast.walk(value))
    numbers = [
        one
        for one in nodes
        if isinstance(one, ast.Constant) and isinstance(one.value, int | float) and not isinstance(one.value, bool)
    ]
    return bool(numbers) and all(one in numbers or isinstance(one, of_numbers) for one in nodes)


def _states_numbers(line: ast.stmt) -> bool:
    """Whether it is an assignment of numbers, some of which may be None."""
    if not isinstance(line, ast.Assign | ast.AnnAssign) or line.value is None:
        return False
    stated = ast.unparse(line.value).replace("None", "0")
    return _is_number(ast.parse(stated, mode="eval").body)


def without_reason(source: str) -> list[str]:
    """Assignments of numbers, of a module or a class, with no sentence below them or below their group, no comment in
    front of them, and none in their line."""
    lines = source.splitlines()
    tree = ast.parse(source)
    bare = []
    for body in (tree.body, *(one.body for one in ast.walk(tree) if isinstance(one, ast.ClassDef))):
        for i, one in enumerate(body):
            if not _states_numbers(one):
                continue
            if isinstance(one, ast.AnnAssign) and body is not tree.body:
                continue  # a field's default
            below = next((later for later in body[i + 1 :] if not _states_numbers(later)), None)
            sentence = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            in_line = any("#" in line for line in lines[one.lineno - 1 : one.end_lineno])
            if not sentence and not in_line and not lines[one.lineno - 2].lstrip().startswith("#"):
                bare.append(ast.unparse(one))
    return bare


def test_every_number_of_the_product_has_its_reason() -> None:
    bare = {
        str(path.relative_to(FOLDER)): found
        for top in sorted(FOLDER.iterdir())
        for path in sorted(top.rglob("*.py") if top.is_dir() else [top])
        if path.suffix == ".py" and (found := without_reason(path.read_text(encoding="utf-8")))
    }
    assert bare == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("LEAST = 4.0", 1),
        ("LEAST, MOST = 1, 4", 1),
        ("class Search:\n    LEAST = 4.0", 1),
        ('LEAST = 4.0\n"""Members: fewer have no tree."""', 0),
        ("LEAST = 4.0  # members", 0),
        ("# Members.\nLEAST = 4.0", 0),
        ('NAME = "least"', 0),
        ("LEAST = other(4.0)", 0),
        ('LEAST = 4.0\nNAME = "least"\n"""Of a member."""', 1),
        ('LEAST = 4.0\nMOST = (5.0, None)\n"""Members."""', 0),
    ],
)
def test_a_bare_number_is_found(source: str, found: int) -> None:
    assert len(without_reason(source)) == found
