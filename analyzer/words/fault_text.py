"""Faults of logpost in words; reads no table, so that the command line can say them at once."""

from __future__ import annotations

from collections.abc import Iterable


def fault_texts(faults: Iterable[tuple[str, str]]) -> list[str]:
    """A sentence for each error; parts that fail by the same one share it.

    Arguments:
        faults: what failed, and by which error.
    """
    parts: dict[str, list[str]] = {}
    for part, error in faults:
        parts.setdefault(error, []).append(part)
    return [
        f"Fault of logpost: {', '.join(failed)} failed: {error}. The rest is complete; please report this."
        for error, failed in parts.items()
    ]
