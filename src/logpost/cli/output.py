"""What the terminal or the pipe can show: an encoding without our characters gets plain ones, never a traceback."""

from __future__ import annotations

import codecs
import json
import sys
from io import TextIOWrapper
from typing import Any, TextIO

HANDLER = "logpost.plain"

_PLAIN = {
    "µ": "u",
    "μ": "u",
    "×": "x",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "→": "->",
    "←": "<-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "…": "...",
    "·": ".",
    "•": "*",
    "█": "#",
    "▏": "|",
    "’": "'",
    "“": '"',
    "”": '"',
    "Δ": "d",
    "²": "^2",
}


def _plain(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler: our own characters as ASCII, what else cannot be encoded as a backslash escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text), error.end


def tolerate_encoding() -> None:
    """Let stdout and stderr take any text, whatever the locale or PYTHONIOENCODING says of their encoding."""
    codecs.register_error(HANDLER, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


JSON_VERSION = 1
"""Of the objects that verbs print: a key that is removed or changed makes a new one, an added key does not."""


def print_json(
    document: dict[str, Any], file: TextIO | None = None, *, ascii_only: bool = True, indent: int | None = 2
) -> None:
    """Print one JSON object of a verb, with the version of its schema (docs/json.md) first; `indent` None: a line."""
    versioned = {"json_version": JSON_VERSION, **document}
    text = json.dumps(versioned, indent=indent, ensure_ascii=ascii_only, allow_nan=False)
    print(text, file=file or sys.stdout, flush=True)
