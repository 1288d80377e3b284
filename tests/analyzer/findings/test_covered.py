"""What findings explain together of the ranks' lost time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analyzer.story import MS, Story

from logpost.analyzer.findings.covered import with_coverage
from logpost.analyzer.findings.cures import uneven_computation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import COVERS, UNEXPLAINED, Finding

STEPS, STEP = 10, 10 * MS


def story() -> Story:
    """Rank 0 computes 9 ms before each barrier, and the three others 5 ms."""
    one = Story(4, STEPS * STEP)
    barrier = one.path("main", "MPI_Barrier")
    for step in range(STEPS):
        t = step * STEP
        one.collective(barrier, "Barrier", {rank: (t + (5 if rank else 9) * MS, t + 10 * MS) for rank in range(4)})
    return one


def explained(found: list[Finding]) -> list[float | None]:
    each = [[number.value for number in one.evidence if number.name == COVERS] for one in with_coverage(found, 0)]
    return [next(iter(values), None) for values in each]


def test_two_findings_of_the_same_time_explain_it_once() -> None:
    with story().as_run() as run:
        evidence = Evidence({name: run.table(name) for name in story().tables()}, run.manifest, run=run)
        (finding,) = uneven_computation.find(evidence)
        # Each of the others waits 4 ms less in each of 10 steps.
        assert explained([finding]) == [pytest.approx(3 * STEPS * 4 * MS, rel=0.01)]
        assert explained([finding, finding]) == [pytest.approx(3 * STEPS * 4 * MS, rel=0.01), pytest.approx(0, abs=1)]
        assert explained([replace(finding, kind=UNEXPLAINED)]) == [None]
