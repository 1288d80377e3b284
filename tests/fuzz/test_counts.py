"""Counts of inputs over several runs of the fuzzers."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz import counts

SAID = """208 archives: analyzed 183, refused 25; sums differ in 1, died 2
Done 5000 runs in 20 second(s)
file   accepted
1,014 rounds, 0 wrong
"""


def test_each_part_is_counted_and_runs_add_up(tmp_path: Path) -> None:
    assert counts.counted(SAID) == {
        "whole archives": (208, 3),
        "archives of libFuzzer": (5000, 0),
        "files of other kinds": (1014, 0),
    }
    file = tmp_path / "counts.tsv"
    # 208 + 5000 + 1014 = 6222
    assert counts.add(SAID, file, "2026-01-01").startswith("6,222 inputs in 3 runs of a part so far, 3 wrong")
    assert counts.add("Done 8 runs in 1 second(s)", file, "2026-01-02").startswith("6,230 inputs in 4 runs")
    assert counts.add("killed", file, "2026-01-03").startswith("6,230 inputs in 4 runs")
    assert file.read_text().splitlines()[3] == "2026-01-02\tarchives of libFuzzer\t8\t0"
