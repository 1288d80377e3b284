"""No cure fails on any archive, however wrong the machine: values half and twice those of the estimate.

`test_archives` looks at the same archives without a machine; `tests/truth` at programs whose machine is known.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.scaled_machine import FACTORS, scaled_machine

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run


@pytest.mark.slow
@pytest.mark.parametrize("factor", [min(FACTORS), max(FACTORS)])
def test_no_part_of_logpost_fails_on_any_archive(
    archives: list[Path], runs: dict[str, Run], tmp_path: Path, factor: float
) -> None:
    failed = {}
    for anchor in archives:
        name = anchor.parent.name
        if name not in runs:  # refused: it has no events
            continue
        machine = scaled_machine(runs[name].machine_file, factor, tmp_path / f"{name}.toml")
        request = Request(str(anchor), str(tmp_path / f"{name}.run"), machine=str(machine))
        failed[name] = Run.open(analyze(request, faulty=True)).manifest.faults
    assert len(failed) > 20
    assert not any(failed.values()), failed
