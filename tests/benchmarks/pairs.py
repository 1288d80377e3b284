"""Small real programs with and without a loss: the measured gain next to the first finding (`tests/truth/pairs`).

No bar but that each pair runs: the gains are those of this machine, and the table says how far they hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.truth.pairs import __main__ as pairs


def main(options: Sequence[str] = ()) -> int:
    """Prints the table; 1 where a pair does not run."""
    return pairs.main(["run", *options])
