"""One value of `machines show` as people read it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One value as people read it: `section` is the table of the file, `key` the name in it."""

    section: str
    key: str
    value: str
    unit: str
    uncertainty: str
    source: str
    basis: str
    note: str
