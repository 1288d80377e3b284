"""Findings name the code that delays the waiting ranks, from the delay costs, and its share of the critical path."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from tests.analyzer.story import MS, evidence_of
from tests.analyzer.wavefront import wavefront

from logpost.analyzer.findings.cures import late_ranks
from logpost.analyzer.findings.evidence.root_causes import RootCauses
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import frame
from logpost.analyzer.run import schema

# Callpaths of the story: 0 main, 1 relax, 2 MPI_Send in it, 3 MPI_Recv in it.
SEND, RECV = 2, 3


def find(costs: Sequence[tuple[object, ...]], profile: Sequence[tuple[object, ...]]) -> dict[str, object]:
    """The late-sender chain of the wavefront, whose waits cost what these rows say."""
    story = wavefront()
    tables = story.tables() | {
        "delay_costs": pl.DataFrame(costs, schema=schema.DELAY_COSTS.schema, orient="row").lazy(),
        "path_profile": pl.DataFrame(profile, schema=schema.PATH_PROFILE.schema, orient="row").lazy(),
    }
    with story.as_run() as run:
        evidence = Evidence(tables, story.manifest(), run=run)
        return frame(RootCauses(evidence).of(late_ranks.find(evidence)), evidence.places).row(0, named=True)


PROFILE = [
    (0, SEND, "program", "compute", 80 * MS, 80 * MS, 0),
    (0, -1, "program", "compute", 20 * MS, 20 * MS, 0),
    (1, RECV, "program", "recv_overhead", 5 * MS, 0, 0),
]


def test_the_places_with_most_of_the_costs_are_evidence() -> None:
    finding = find(
        [
            (0, SEND, "computation", RECV, "late_sender", 60 * MS, 160 * MS),
            (1, SEND, "computation", RECV, "late_sender", 4 * MS, 0),
            (0, RECV, "calls", RECV, "late_sender", 16 * MS, 0),
            # Waits elsewhere are none of this finding's.
            (0, SEND, "calls", SEND, "late_receiver", 900 * MS, 0),
            (-1, -1, "unexplained", -1, "late_sender", 18 * MS, 0),
        ],
        PROFILE,
    )
    # Rank 0 is at fault: 220 of 236 ms; the receive's 16 ms are too little to be named.
    assert "delayed by (computation before main / relax / MPI_Send): 93.2 %" in evidence_of(finding)
    assert evidence_of(finding).count("delayed by") == 1
    assert finding["path_share"] == 0.8  # 80 of the path's 100 ms


def test_without_costs_the_share_is_that_of_the_findings_own_calls() -> None:
    finding = find([], [*PROFILE, (1, RECV, "program", "latency", 25 * MS, 25 * MS, 0)])
    assert "delayed by" not in evidence_of(finding)
    assert finding["path_share"] == 0.2  # 25 of 125 ms


def test_a_run_without_a_path_has_no_share() -> None:
    assert find([], [])["path_share"] is None
