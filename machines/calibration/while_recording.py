"""A measurement that a recording made of its own job, within MPI_Init: the files that it left with the archive.

`machine.toml` and its samples (`calibration.jsonl`) where it measured, and in any case `calibration.json`: the duration
of the measurement, its ranks, or why it did not measure.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from logpost.errors import InputError
from logpost.whole_file import write_whole

NAME = "measured-while-recording"
"""Of the machine."""
OUTCOME = "calibration.json"
SAMPLES = "calibration.jsonl"
SOURCE = "measured inside MPI_Init of this recording"


@dataclass(frozen=True)
class Outcome:
    """The result of the measurement. ``reason``: why nothing was measured, else empty."""

    reason: str
    budget_s: float
    took_s: float
    ranks: int
    pairs: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Locality class -> the two ranks."""

    def sentence(self) -> str:
        """One line for the terminal and the report."""
        if self.reason:
            return f"the machine was not measured while recording: {self.reason}"
        between = "; ".join(f"{locality}: ranks {a} and {b}" for locality, (a, b) in self.pairs.items())
        return (
            f"the machine was measured while recording: in {1e3 * self.took_s:.0f} ms of MPI_Init, by pairs of ranks "
            f"({between}); intervals hold what changed within that time"
        )

    def write(self, directory: Path) -> None:
        """Write ``calibration.json``. Raises InputError when it cannot be written."""
        write_whole(directory / OUTCOME, json.dumps(dataclasses.asdict(self)) + "\n")


def read_outcome(directory: Path) -> Outcome | None:
    """What a recording says about its measurement; None where the user requested none.

    Raises InputError when the file is damaged.
    """
    path = directory / OUTCOME
    if not path.is_file():
        return None
    try:
        return outcome(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({error}); remove it, and analyze again") from error


def outcome(record: Mapping[str, Any]) -> Outcome:
    """From the object of ``calibration.json``. Raises KeyError, TypeError or ValueError when it is another one."""
    return Outcome(
        reason=str(record["reason"]),
        budget_s=float(record["budget_s"]),
        took_s=float(record["took_s"]),
        ranks=int(record["ranks"]),
        pairs={str(locality): (int(a), int(b)) for locality, (a, b) in record["pairs"].items()},
    )
