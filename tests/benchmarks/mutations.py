"""Random losses in programs that have none, on the testbed: the true gain next to the first finding
(`tests/truth/mutations`).

No bar but that each program runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.truth.mutations import __main__ as mutations


def main(options: Sequence[str] = ()) -> int:
    """Prints the tables; 1 where a program does not run."""
    return mutations.main(options)
