"""`python -m tests.fuzz.counts SAID…`: add what the parts of a run of `make fuzz` said to `counts.tsv`; print the sum.

A line of the file is a run of a part: the day, the part, inputs, and how many of them were wrong.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime, timezone
from pathlib import Path

COUNTS = Path(__file__).parent / "counts.tsv"
_PARTS = {
    "whole archives": re.compile(r"^([\d,]+) archives: .* sums differ in ([\d,]+), died ([\d,]+)$", re.MULTILINE),
    "archives of libFuzzer": re.compile(r"^Done ([\d,]+) runs in ", re.MULTILINE),
    "files of other kinds": re.compile(r"^([\d,]+) rounds, ([\d,]+) wrong$", re.MULTILINE),
}
"""What each part says at its end: inputs, then numbers of wrong ones. libFuzzer says it only where none is."""


def counted(said: str) -> dict[str, tuple[int, int]]:
    """Of each part that came to its end: inputs, and how many were wrong."""
    found = {}
    for part, pattern in _PARTS.items():
        if match := pattern.search(said):
            inputs, *wrong = (int(group.replace(",", "")) for group in match.groups())
            found[part] = inputs, sum(wrong)
    return found


def add(said: str, counts: Path, day: str) -> str:
    """Append what was said; the sum over all runs as a sentence."""
    lines = counts.read_text().splitlines() if counts.exists() else []
    lines += [f"{day}\t{part}\t{inputs}\t{wrong}" for part, (inputs, wrong) in counted(said).items()]
    counts.write_text("".join(f"{line}\n" for line in lines))
    rows = [line.split("\t") for line in lines]
    inputs, wrong = (sum(int(row[at]) for row in rows) for at in (2, 3))
    return f"{inputs:,} inputs in {len(rows)} runs of a part so far, {wrong:,} wrong ({counts.name})"


if __name__ == "__main__":
    print(
        add(
            "\n".join(Path(name).read_text() for name in sys.argv[1:]), COUNTS, f"{datetime.now(timezone.utc):%Y-%m-%d}"
        )
    )
