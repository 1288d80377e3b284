"""The data that a sentence states: tests compare these, so that its words may change.

Data are numbers with their units, spans of numbers, categories of time, verdicts, names of calls, files, options and
variables, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from logpost.analyzer.run.undivided import SHOWN

_UNITS = "%|×|ps|ns|µs|us|ms|s|h|B|KiB|MiB|GiB|kB|MB|GB|M|GHz"
_CATEGORIES = "|".join(sorted((one.replace("_", "[ _]") for one in SHOWN), key=len, reverse=True))
_DATA = re.compile(
    rf"\b(?:{_CATEGORIES}|load balance|wall|FAIL|ok)\b"
    r"|"
    r"MPI_\w+|[A-Z]{3,}_\w+"  # calls, variables
    r"|--[a-z][\w-]*"  # options
    rf"|[+−-]?(?<![\w.])\d[\d,.]*(?<=\d)(?:[-–:]\d[\d.]*)*(?: (?:{_UNITS})(?![\w])|%)?"  # quantities and spans
    r"|[\w-]+\.[a-z]\w*(?::\d+)?"  # files and their lines
)


def facts(text: str) -> list[str]:
    """Its data."""
    return _DATA.findall(text)


def says(text: str | Iterable[str], *data: str) -> bool:
    """Whether a text, or one of several, states these data, one after the other and nothing between them."""
    several = [text] if isinstance(text, str) else text
    return any(list(data) == found[i : i + len(data)] for found in map(facts, several) for i in range(len(found) + 1))
