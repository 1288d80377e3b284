"""The times that the papers' programs print."""

from __future__ import annotations

import re

_TIME = re.compile(r"\b([a-z]+_(?:s|us)) ([0-9.]+)")


def printed_times(output: str) -> dict[str, float]:
    """Names as printed, which end in their unit (total_s, stall_s, iteration_us) -> values."""
    return {name: float(value) for name, value in _TIME.findall(output)}
