"""A constant of an experiment cites its source or its band, and no claim is judged by a bare number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import logpost.experiments
from logpost.collectors.workloads.catalogue import FOLDER as PROGRAMS

WORKLOADS = sorted(path for ending in "ch" for path in PROGRAMS.rglob(f"*.{ending}"))
FOLDER = Path(next(iter(logpost.experiments.__path__)))
FILES = [path for path in sorted(FOLDER.rglob("*.py")) if "framework" not in path.parts]
UNITS = frozenset({0, 1, 100, 1000, 1024, 1e6, 1e9, 1e-6, 1e-9, 1e12, 1e-12})
PLAIN = UNITS | {2, 3}
"""What an expression within a function may have besides: halves, squares and digits."""
SOURCE = re.compile(
    r"\bFig\. ?\d|\bTable \d|\b(LOGPC|SENS|LOG3P|OVL|LOGP|NAS|AMD64)\b|\(\d(\.\d)*[,)]|\b\d\.\d\.\d\b|\babstract\b"
    r"|\b[Bb]ands?\b|[\"“]|\bprinted\b|\bStudent's\b"
)
"""A figure, a table, a paper, a section, its own words; or a band."""
EXTENTS = frozenset(
    {
        "BURST",
        "FULL",
        "LENGTHS",
        "MESSAGES",
        "MORE_WORK",
        "NOMINAL",
        "QUICK",
        "SIZES",
        "STEPS",
        "WARM_UP",
        "WINDOW",
        "_PATIENCE_S",
    }
)
"""How much is played, measured, waited for or drawn: no value of a machine or a program, and no judgement."""
DRAWN = frozenset({"Axis", "Bars", "Curve", "add_bar", "add_heatmap", "add_scatter", "axis", "curves", "figure"})
DRAWN |= {"linspace", "plotly_text", "stacked"}
"""Calls whose numbers are places on a chart."""
KEYWORDS = frozenset({"digits", "order"})


def values(node: ast.AST) -> Iterator[ast.Constant]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, int | float) and not isinstance(one.value, bool):
            yield one


def without_source(source: str) -> list[str]:
    """Assignments of a module whose numbers have no source below them, and numbers within its functions."""
    body = ast.parse(source).body
    bare = []
    for i, one in enumerate(body):
        if not isinstance(one, ast.Assign | ast.AnnAssign) or one.value is None:
            bare += _inside(one)
            continue
        # The sentence below may be about several constants that follow one another.
        below = next((later for later in body[i + 1 :] if not isinstance(later, ast.Assign | ast.AnnAssign)), None)
        said = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        shown = names & {"EXPERIMENT", "HUES", "MECHANISMS"} or _made_of_names(one.value)
        if {n.value for n in values(one.value)} - UNITS and not names <= EXTENTS and not shown:
            bare += [] if SOURCE.search(str(said)) else [ast.unparse(one)]
    return bare


def _made_of_names(value: ast.expr) -> bool:
    """A mechanism: what it is called, and its hue."""
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "Mechanism"


def _inside(top: ast.stmt) -> list[str]:
    """Numbers that decide something within a function or class: neither sizes of a form, nor places on a chart."""
    parent = {child: node for node in ast.walk(top) for child in ast.iter_child_nodes(node)}
    bare = []
    for one in values(top):
        if one.value in PLAIN:
            continue
        node: ast.AST = one
        while node in parent and not isinstance(node, ast.stmt):
            above = parent[node]
            if isinstance(above, ast.Call) and node is not above.func:
                name = ast.unparse(above.func).split(".")[-1]
                if name == "size" or name in DRAWN:
                    break
            if isinstance(above, ast.keyword) and above.arg in KEYWORDS:
                break
            if isinstance(above, ast.Subscript) and node is above.slice:
                break
            node = above
        else:
            bare.append(f"line {one.lineno}: {one.value!r}")
    return bare


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_constants_have_their_source(path: Path) -> None:
    assert without_source(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "planted",
    [
        "WORK = 67",
        "GETTERS = 3",
        'WORK = 67\n"""Cycles of an edge."""',
        'WORK = Network(o=1.7)\n"""Values."""',
        "def run(context):\n    return 0.43 * context.size(10, 4)",
        "def run(n, cycles=67):\n    return n * cycles",
        "class Machine:\n    latency: float = 4.5",
        "def one(x):\n    return Number(3.14 * x)",
    ],
)
def test_a_planted_constant_is_found(planted: str) -> None:
    assert len(without_source(planted)) == 1


@pytest.mark.parametrize(
    "sound",
    [
        'WORK = 67\n"""Cycles of an edge (LOGPC 5.2.2)."""',
        'SCALES = (0.5, 4.0)\n"""A band around o."""',
        "def run(context):\n    return context.size(10, 4)",
        'def draw(x):\n    return curves([Curve("o", x, x, "paper", 7)], height=480)',
    ],
)
def test_what_has_a_source_or_is_drawn_is_not(sound: str) -> None:
    assert without_source(sound) == []


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


def undocumented(source: str) -> list[str]:
    """Macros and constants of a C file that are numbers, with no comment next to them or above their block."""
    lines = source.splitlines()
    number = re.compile(r"\s*(#define [A-Z_]+|static const \w+ [A-Z_]+ =) +\(?-?(0x)?[\d.]")
    bare = []
    for i, line in enumerate(lines):
        if not number.match(line) or re.search(r" [01];?$", line):
            continue
        first = i
        while first > 0 and number.match(lines[first - 1]):
            first -= 1
        if "/*" not in line and not lines[first - 1].rstrip().endswith("*/"):
            bare.append(line.strip())
    return bare


@pytest.mark.parametrize("path", WORKLOADS, ids=[str(path.relative_to(PROGRAMS)) for path in WORKLOADS])
def test_constants_of_the_programs_say_what_they_are(path: Path) -> None:
    assert undocumented(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("planted", ["#define SKIN 0.4", "static const double SKIN = 0.4;", "int n;\n#define TILE 32"])
def test_a_planted_constant_of_a_program_is_found(planted: str) -> None:
    assert len(undocumented(planted)) == 1


def test_a_comment_is_about_the_block_below_it() -> None:
    assert undocumented("/* Printed. */\n#define ENTRIES 128\n#define PAGE 4096") == []
