"""`python -m tests.fuzz.counts SAID…`: add what the parts of a run of `make fuzz` said to `counts.tsv`; print the sum.

A line of the file is a run of a part: the day, the part, inputs, how many of them were wrong, and how many got to the
end (analyzed, their sums checked; `-`: not known). A refused input ends before.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

COUNTS = Path(__file__).parent / "counts.tsv"
_PARTS = {
    "whole archives": re.compile(
        r"^(?P<inputs>[\d,]+) archives: analyzed (?P<reached>[\d,]+), .* "
        r"differ in (?P<sums>[\d,]+), died (?P<died>[\d,]+)$",
        re.MULTILINE,
    ),
    "archives of libFuzzer": re.compile(
        r"^(?P<inputs>[\d,]+) inputs: events decoded in [\d,]+, split and summed (?P<reached>[\d,]+);", re.MULTILINE
    ),
    "files of other kinds": re.compile(r"^(?P<inputs>[\d,]+) rounds, (?P<wrong>[\d,]+) wrong$", re.MULTILINE),
}
"""What each part says at its end. libFuzzer ends without it where an input is wrong."""


@dataclass(frozen=True)
class Count:
    """Inputs of a part, how many were wrong, and how many got to the end of the analysis, where that is known."""

    inputs: int
    wrong: int
    reached: int | None


def counted(said: str) -> dict[str, Count]:
    """Of each part that ended at least once: the sums over all its ends."""
    found = {}
    for part, pattern in _PARTS.items():
        ends = [
            {name: int(number.replace(",", "")) for name, number in match.groupdict().items()}
            for match in pattern.finditer(said)
        ]
        if ends:
            total = {name: sum(end[name] for end in ends) for name in ends[0]}
            wrong = sum(total.get(name, 0) for name in ("sums", "died", "wrong"))
            found[part] = Count(total["inputs"], wrong, total.get("reached"))
    return found


def add(said: str, counts: Path, day: str) -> str:
    """Append what was said; the sum over all runs as a sentence."""
    lines = counts.read_text().splitlines() if counts.exists() else []
    for part, count in counted(said).items():
        reached = "-" if count.reached is None else count.reached
        lines.append(f"{day}\t{part}\t{count.inputs}\t{count.wrong}\t{reached}")
    counts.write_text("".join(f"{line}\n" for line in lines))
    rows = [line.split("\t") for line in lines]
    inputs, wrong = (sum(int(row[at]) for row in rows) for at in (2, 3))
    reached_end = sum(int(row[4]) for row in rows if row[4] != "-")
    return (
        f"{inputs:,} inputs in {len(rows)} runs of a part so far, {wrong:,} wrong; "
        f"{reached_end:,} got to the end of the analysis ({counts.name})"
    )


if __name__ == "__main__":
    print(
        add(
            "\n".join(Path(name).read_text() for name in sys.argv[1:]), COUNTS, f"{datetime.now(timezone.utc):%Y-%m-%d}"
        )
    )
