"""What a recording measures of its own job within MPI_Init: for how long, and where the interposer leaves it.

Reading it takes the machine's arrays (`recorded`), which a recording that measured nothing does not import.
"""

from __future__ import annotations

from pathlib import Path

BUDGET_S = 0.5
"""Of a recording, at most."""


def left_in(raw: Path) -> list[Path]:
    """The interposer's files among the raw logs; none where no measurement was requested."""
    return sorted(raw.glob("calibration.*.jsonl"))
