"""Counts of inputs over several runs of the fuzzers."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz import counts
from tests.said import facts

SAID = """208 archives: analyzed 183, refused 25; sums differ in 1, died 2
3000 inputs: events decoded in 2990, split and summed 2900; 9 events
2000 inputs: events decoded in 1990, split and summed 1900; 9 events
file   accepted
1,014 rounds, 0 wrong
"""


def test_each_part_is_counted_and_runs_add_up(tmp_path: Path) -> None:
    assert counts.counted(SAID) == {
        "whole archives": counts.Count(208, 3, 183),
        "archives of libFuzzer": counts.Count(5000, 0, 4800),
        "files of other kinds": counts.Count(1014, 0, None),
    }
    file = tmp_path / "counts.tsv"
    # 208 + 5000 + 1014 = 6222, 183 + 4800 = 4983
    said = counts.add(SAID, file, "2026-01-01")
    assert facts(said)[:4] == ["6,222", "3", "3", "4,983"]
    more = "8 inputs: events decoded in 8, split and summed 7; 9 events"
    assert counts.add(more, file, "2026-01-02").startswith("6,230 inputs in 4 runs")
    assert counts.add("killed", file, "2026-01-03").startswith("6,230 inputs in 4 runs")
    assert file.read_text().splitlines()[3] == "2026-01-02\tarchives of libFuzzer\t8\t0\t7"
