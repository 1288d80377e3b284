"""What a recording measures of its own job within MPI_Init: for how long, and where the interposer leaves it.

Reading it takes the machine's arrays (`recorded`), which a recording that measured nothing does not import.
"""

from __future__ import annotations

from pathlib import Path

BUDGET_S = 0.5
"""Of a recording, at most."""
LAYOUTS_S = 0.5
"""Of what the program used and MPI_Init did not measure, within MPI_Finalize, at most."""
USED = {"layouts": "Layouts that the program used", "transfers": "One-sided transfers"}
"""What may be measured there: the begin of its file's name, and what a note calls it."""


def left_in(raw: Path) -> list[Path]:
    """The interposer's files among the raw logs; none where no measurement was requested."""
    return sorted(raw.glob("calibration.*.jsonl"))


def used_of(left: Path, kind: str) -> Path:
    """What the process that left a measurement has left within MPI_Finalize, of a kind of `USED`; there need not be
    such a file."""
    return left.with_name(left.name.replace("calibration.", f"{kind}.", 1))
