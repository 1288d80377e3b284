"""TOML files to tables, with messages of one line that name the file and the line."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from logpost.errors import InputError

# One line for mypy, which checks against 3.10, where the standard library has no TOML reader yet.
tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

LONGEST = 80
"""Characters of a value or a line that a message repeats."""


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file, with or without the mark that some editors put before the first line.

    Raises:
        InputError: it cannot be read, or is not TOML.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        tables: dict[str, Any] = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text, as a TOML file must be") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}{_line_of(text, str(error))}") from error
    except (ValueError, RecursionError) as error:
        why = "values in values nest too deep" if isinstance(error, RecursionError) else "a number has too many digits"
        raise InputError(f"{path}: cannot be read as TOML: {why}") from error
    return tables


def shortened(text: str) -> str:
    """At most `LONGEST` characters of a text."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _line_of(text: str, complaint: str) -> str:
    """The line that the TOML reader complains about, as far as it fits."""
    found = re.search(r"at line (\d+)", complaint)
    lines = text.splitlines()
    if found is None or not 0 < int(found.group(1)) <= len(lines):
        return ""
    line = lines[int(found.group(1)) - 1].strip()
    return f": {shortened(line)}" if line and line.isprintable() else ""
