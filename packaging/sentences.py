"""Tests compare data, not sentences: no text that a test expects has eight words or more.

`python packaging/sentences.py` prints each of them. Expected are the texts of comparisons, of `match=`, of calls such
as `startswith` and `re.search`, and what `parametrize`, a loop or an assignment gives to a name in one of these.
Arguments of other functions are inputs. `tests/said.py` finds the data of a sentence; of an error, a part is enough
that states what is wrong, which value, and what to do.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_WORDS = 7
READ = {"startswith", "endswith", "index", "count", "search", "match", "fullmatch", "findall", "removesuffix", "says"}
"""Functions whose arguments are expected texts."""

WORD = re.compile(r"(?<![\w./\\=|<#-])[A-Za-z]?[a-z]+(?:['’-][a-z]+)*(?![\w/(=|\\>]|\.\w)")
"""A word of English: no name with signs, no option, no path, no alternative of a pattern, no escape."""

Hit = tuple[int, str]


def words(text: str) -> int:
    """How many words it has; letters alone are symbols."""
    return sum(len(word) > 1 for word in WORD.findall(text))


def called(node: ast.Call) -> str:
    """The name of the function without its object."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def within(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is part of its value: not the arguments of a call, unless they are expected texts."""
    yield node
    parts = ast.iter_child_nodes(node)
    if isinstance(node, ast.Call) and called(node) not in READ:
        parts = iter([node.func])
    for part in parts:
        yield from within(part)


def expectations(tree: ast.AST) -> Iterator[ast.AST]:
    """Sides of comparisons, patterns, and arguments of the functions that compare texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value
        elif isinstance(node, ast.Call) and called(node) in READ:
            yield from node.args


def names(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that is a part of a value."""
    return {part.id for node in nodes for part in within(node) if isinstance(part, ast.Name)}


def parametrized(function: ast.FunctionDef) -> Iterator[tuple[set[str], ast.AST]]:
    """Each parameter with a value that `parametrize` gives to it."""
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call) or called(decorator) != "parametrize":
            continue
        listed, rows = decorator.args[:2]
        several = isinstance(listed, ast.Tuple | ast.List)
        known = [ast.literal_eval(one) for one in listed.elts] if several else [ast.literal_eval(listed)]
        for row in rows.elts if isinstance(rows, ast.Tuple | ast.List) else ():
            cells = row.args if isinstance(row, ast.Call) else row.elts if isinstance(row, ast.Tuple) else [row]
            yield from (({name}, cell) for name, cell in zip(known, cells if several else [row], strict=False))


def given(function: ast.FunctionDef) -> Iterator[tuple[set[str], ast.AST]]:
    """Names with the values that they have."""
    yield from parametrized(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield names(node.targets), node.value
        elif isinstance(node, ast.For):
            yield names([node.target]), node.iter


def hits(source: str) -> list[Hit]:
    """Line and text of each sentence that is expected."""
    tree = ast.parse(source)
    compared = list(expectations(tree))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            expected = names(part for line in function.body for part in expectations(line))
            compared += [value for known, value in given(function) if known & expected]
    return sorted(
        {
            (part.lineno, part.value)
            for node in compared
            for part in within(node)
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and words(part.value) > MOST_WORDS
        }
    )


def complaints(root: Path) -> list[str]:
    """A line for each sentence that a test expects."""
    return [
        f"{file.relative_to(root)}:{line}: {text!r} has more than {MOST_WORDS} words; compare its data (tests/said.py)"
        for file in sorted((root / "tests").rglob("*.py"))
        for line, text in hits(file.read_text(encoding="utf-8"))
    ]


def main(root: Path = ROOT) -> int:
    """Exit status: 1 where a test expects a sentence."""
    said = complaints(root)
    print(*said, sep="\n", end="\n" if said else "")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
