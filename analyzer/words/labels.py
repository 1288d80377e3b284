"""Shorten function names: C++ template arguments folded, argument lists and return types dropped.

Tables keep the full names; labels, titles and charts show the folded ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_OPERATOR = re.compile(
    r"\boperator(\s*\(\)|\s*\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?|&&|\|\||\+\+|--|[-+*/%^&|~!=]=?|,|\"\"\s*\w+)"
)
_ANONYMOUS = "(anonymous namespace)"
_LAMBDA = "{lambda("
SEPARATOR = " / "
"""Between the functions of a call path."""
_ARGUED = ("operator()", "operator[]")
"""What may have template arguments besides a name."""
_PAIRS = {"<": ">", "(": ")", "{": "}"}
_TOKEN = re.compile(_OPERATOR.pattern + r"|->|[<>(){}]")
"""A bracket, or what contains one and is none."""


def folded(name: str) -> str:
    """A function's name without what identifies an overload.

    "void Foo<int>::bar(std::vector<double> const&, int) const" is "Foo<…>::bar". Names of C and Fortran, and whatever
    is not a C++ name, come back as they are.
    """
    if "(" not in name and "<" not in name:
        return name
    name = name.removeprefix("decltype(auto) ")
    out = ""
    at = 0
    while at < len(name):
        operator = _OPERATOR.match(name, at)
        if operator is not None and (not out or not (out[-1].isalnum() or out[-1] == "_")):
            out += operator[0]
            at = operator.end()
        elif name.startswith(_ANONYMOUS, at):
            out += _ANONYMOUS
            at += len(_ANONYMOUS)
        elif name.startswith(_LAMBDA, at):
            out += "{lambda}"
            at = _end(name, at)
        elif name[at] == "<" and (out.endswith(_ARGUED) or re.search(r"\w$", out)):
            at = _end(name, at)
            out += "<…>"
        elif name[at] == "(":
            at = _end(name, at)
            if name[at : at + 2] != "::":  # only a local class or function continues behind its function's arguments
                break
        elif name[at] == " ":
            out = ""  # the text before was the type that the function returns
            at += 1
        else:
            out += name[at]
            at += 1
    return out if re.search(r"\w", out) else name


def folded_path(path: str) -> str:
    """A call path with each of its functions folded: "main / Foo<…>::bar / MPI_Recv"."""
    return SEPARATOR.join(folded(name) for name in path.split(SEPARATOR))


def distinct_ends(paths: Mapping[int, str], most: int = 2) -> dict[int, str]:
    """The last functions of call paths; where two paths end alike, with the last function in which they differ.

    "main / send / wait / MPI_Wait" and "main / drain / wait / MPI_Wait" are "send / … / MPI_Wait" and
    "drain / … / MPI_Wait". Paths that are equal as a whole stay so.

    Args:
        paths: by call path: its functions, the outermost first.
        most: functions of a path that nothing else ends like.
    """
    steps = {key: path.split(SEPARATOR) for key, path in paths.items()}
    alike: dict[tuple[str, ...], list[int]] = {}
    for key, names in steps.items():
        alike.setdefault(tuple(names[-most:]), []).append(key)
    found: dict[int, str] = {}
    for end, keys in alike.items():
        for key in keys:
            depth = max((_common(steps[key], steps[other]) for other in keys if steps[other] != steps[key]), default=0)
            if depth < most or depth >= len(steps[key]):
                found[key] = SEPARATOR.join(end)
            else:
                between = ("…",) if depth > 1 else ()
                found[key] = SEPARATOR.join((steps[key][-depth - 1], *between, end[-1]))
    return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many functions two paths have in common at their ends."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _end(name: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`; the name's end when none does."""
    open_brackets = [_PAIRS[name[at]]]
    for token in _TOKEN.finditer(name, at + 1):
        if token[0] == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return token.end()
        elif token[0] in _PAIRS:
            open_brackets.append(_PAIRS[token[0]])
    return len(name)
