"""What a recording measures of its own job within MPI_Init: for how long, and where the interposer leaves it.

Reading it takes the machine's arrays (`recorded`), which a recording that measured nothing does not import.
"""

from __future__ import annotations

from pathlib import Path

BUDGET_S = 0.5
"""Of a recording, at most."""
LAYOUTS_S = 0.5
"""Of layouts that the program used and MPI_Init did not measure, within MPI_Finalize, at most."""


def left_in(raw: Path) -> list[Path]:
    """The interposer's files among the raw logs; none where no measurement was requested."""
    return sorted(raw.glob("calibration.*.jsonl"))


def layouts_of(left: Path) -> Path:
    """What the process that left a measurement has left within MPI_Finalize; there need not be such a file."""
    return left.with_name(left.name.replace("calibration.", "layouts.", 1))
