"""Which runs are compared: those of side A and those of side B, as the URL has them."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, unquote

from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State
from logpost.errors import InputError

Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of A's runs, that of the URL first, and of B's; at least one each, none in both."""


def sides_of(runs: Runs, state: State) -> Sides:
    """The runs of both sides; without a choice B is the first other run of the same program, else the first other one.

    Raises:
        InputError: a name is no run, or there is one run only.
    """
    first = runs[state.run].name
    a = [first, *(name for name in _names(runs, state.more.get("repeats", "")) if name != first)]
    b = [name for name in _names(runs, state.more.get("other", "")) if name not in a]
    rest = [name for name in runs.names if name not in a]
    if not rest:
        raise InputError("there is no run to compare with: logpost dashboard A B compares two")
    alike = [name for name in runs.of_same_program(first) if name not in a]
    return tuple(dict.fromkeys(a)), tuple(dict.fromkeys(b)) or ((alike or rest)[0],)


def joined(names: Iterable[str]) -> str:
    """As the URL keeps them; a name may hold a comma."""
    return ",".join(quote(name, safe="/ ") for name in names)


def _names(runs: Runs, text: str) -> list[str]:
    return [runs[unquote(name)].name for name in filter(None, text.split(","))]
