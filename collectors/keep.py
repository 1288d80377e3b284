"""What `record --keep` keeps of each process: a time, a size, or both. The rest is overwritten, and counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from logpost.collectors.watch import UNITS
from logpost.errors import InputError

_SIZES = {"MB": 10**6, "GB": 10**9}
_MOST_FOR_A_TIME = 500 * 10**6
"""Bytes that a ring may grow to where only a time is given."""


@dataclass(frozen=True)
class Keep:
    """The bounds of the ring of each process."""

    bytes: int
    """The ring never becomes larger."""
    seconds: float | None = None
    """It does not grow as long as it reaches so far back; None: it grows to its bound."""

    def variables(self) -> dict[str, str]:
        """The environment that the recorder reads."""
        found = {"LOGPOST_KEEP_BYTES": str(self.bytes)}
        if self.seconds is not None:
            found["LOGPOST_KEEP_NS"] = str(round(self.seconds * 1e9))
        return found


def keep(text: str) -> Keep:
    """What `--keep` means: 60s, 500MB, or 10min,2GB."""
    size: int | None = None
    seconds: float | None = None
    for part in text.split(","):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h|MB|GB)", part)
        if match is None or not float(match[1]) or (size if match[2] in _SIZES else seconds) is not None:
            raise InputError(f"--keep {text} is neither a time nor a size; write 60s, 500MB, or both as 10min,2GB")
        if match[2] in _SIZES:
            size = round(float(match[1]) * _SIZES[match[2]])
        else:
            seconds = float(match[1]) * UNITS[match[2]]
    if size is not None and size < 10**6:
        raise InputError(f"--keep {text} is less than a ring needs; give it at least 1MB")
    return Keep(size or _MOST_FOR_A_TIME, seconds)
