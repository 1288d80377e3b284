"""Shorten function names: C++ template arguments folded, argument lists and return types dropped.

Tables keep the full names; labels, titles and charts show the folded ones.
"""

from __future__ import annotations

import re

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
            if name[at : at + 2] != "::":  # only a local class or function goes on behind its function's arguments
                break
        elif name[at] == " ":
            out = ""  # what came before was the type that the function returns
            at += 1
        else:
            out += name[at]
            at += 1
    return out if re.search(r"\w", out) else name


def folded_path(path: str) -> str:
    """A call path with each of its functions folded: "main / Foo<…>::bar / MPI_Recv"."""
    return SEPARATOR.join(folded(name) for name in path.split(SEPARATOR))


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
