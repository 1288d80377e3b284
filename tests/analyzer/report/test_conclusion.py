"""What a report concludes: the worst finding, else where the accounts say that the time is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, Story
from tests.analyzer.two_phases import two_phases
from tests.said import facts, says

from logpost.analyzer.report.build import build
from logpost.analyzer.report.conclusion import conclude
from logpost.analyzer.report.data import Largest, PlacedFinding, Share, Uneven
from logpost.analyzer.report.threads import Threads
from logpost.analyzer.run.manifest import QualityCount
from logpost.analyzer.run.undivided import UNDIVIDED

BREAKDOWN = [
    Share("compute", 492, 0.492),
    Share("late_sender", 200, 0.2),
    Share("latency", 300, 0.3),
    Share("residual", 8, 0.008),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlacedFinding, ...]:
    return build(two_phases().write(tmp_path_factory.mktemp("conclusion") / "run")).findings


@pytest.mark.parametrize(
    ("category", "said"),
    [
        # Processor queueing and other waiting may be in what the machine does not divide.
        (UNDIVIDED, "in communication, at least 20.0 % waiting for others;"),
        ("latency", "in communication, 20.0 % waiting for others;"),
    ],
)
def test_waiting_that_may_be_more_is_a_bound(found: tuple[PlacedFinding, ...], category: str, said: str) -> None:
    breakdown = [Share("compute", 50, 0.5), Share("late_sender", 20, 0.2), Share(category, 30, 0.3)]
    conclusion = conclude(breakdown, Largest(category, 0.3, "MPI_Waitany"), found, scheduled=False)
    assert said in conclusion
    assert says(conclusion, "50.0 %", "20.0 %")


def test_little_communication_is_a_number_and_no_verdict(found: tuple[PlacedFinding, ...]) -> None:
    breakdown = [Share("compute", 96, 0.96), Share("late_sender", 4, 0.04)]
    said = conclude(breakdown, Largest("late_sender", 0.04, ""), found, scheduled=False)
    assert facts(said)[-2:] == ["96.0 %", "4.0 %"]


def test_without_a_finding_the_accounts_say_what_is_lost() -> None:
    said = conclude(BREAKDOWN, Largest("latency", 0.3, "MPI_Wait"), [], scheduled=False)
    assert said.startswith("No finding applies; 49.2 % ")
    assert "; the rest: 30.0 % latency (" in said
    # The largest first; what is below 1 % is one number, so that the parts add up: 30 + 20 + 0.8.
    assert said.index("most of it in MPI_Wait)") < said.index("20.0 % late sender (") < said.index("0.8 % in other")


def test_shares_that_are_all_listed_leave_no_rest() -> None:
    # As floating point numbers, 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1.
    shares = {"late_sender": 0.1, "latency": 0.2, "residual": 0.3}
    breakdown = [Share("compute", 40, 0.4), *(Share(name, 0, share) for name, share in shares.items())]
    assert " in other" not in conclude(breakdown, Largest("residual", 0.3, ""), [], scheduled=False)


def test_less_than_one_per_cent_lost_is_compute() -> None:
    breakdown = [Share("compute", 993, 0.993), Share("latency", 7, 0.007)]
    said = conclude(breakdown, Largest("latency", 0.007, "MPI_Wait"), [], scheduled=False)
    assert facts(said) == ["99.3 %", "compute", "0.7 %"]


def test_uneven_compute_and_idle_threads_are_lost_too() -> None:
    breakdown = [Share("compute", 1000, 1.0)]
    times = dict.fromkeys(Threads.__dataclass_fields__, 0) | {"processes": 1, "threads": 2}
    threads = Threads(**(times | {"parallel_ps": 60, "serial_ps": 10, "imbalance_ps": 20, "idle_serial_ps": 10}))
    uneven = Uneven(load_balance=0.75, region="relax", rank="rank 3", beyond_mean_ps=20 * MS)
    largest = Largest("latency", 0.0, "")
    said = conclude(breakdown, largest, [], scheduled=False, uneven=uneven, threads=threads)
    assert says(said, "load balance", "75.0 %", "3", "20.0 ms")
    assert said.endswith("lost: 20.0 % imbalance, 10.0 % idle serial.")
    even = Uneven(load_balance=0.995, region="relax", rank="rank 3", beyond_mean_ps=1)
    assert "uneven" not in conclude(breakdown, largest, [], scheduled=False, uneven=even)


def uneven_ranks(*, instrumented: bool) -> Story:
    """Three ranks compute for 60, 90 and 30 ms of 100 and never wait: the trace has an MPI_Wtime in between."""
    story = Story(3, 100 * MS)
    query = story.path("main", "MPI_Wtime")
    for rank, idle in enumerate((40, 10, 70)):
        story.call(rank, 20 * MS, (20 + idle) * MS, query, mpi_other=idle * MS)
        if instrumented:
            story.user(rank, story.path("main"), 20 * MS)
            story.user(rank, story.path("main", "relax"), (80 - idle) * MS)
    return story


def test_the_region_in_which_compute_is_most_uneven_is_named(tmp_path: Path) -> None:
    report = build(uneven_ranks(instrumented=True).write(tmp_path / "a.run"))
    # relax lasts 40, 70 and 10 ms: 40 on average. Compute is 60, 90, 30: a mean of 60 of at most 90.
    assert report.uneven == Uneven(60 / 90, "relax", "rank 1", 30 * MS)
    known = {one.name: one.value for one in report.efficiencies}
    assert report.uneven.load_balance == known["load_balance"]
    # Lost are the 120 ms in calls of the ranks' 300.
    assert report.conclusion.startswith("No cure applies; 60.0 % ")
    assert "; the rest: 40.0 % mpi other" in report.conclusion


def test_without_regions_it_is_the_code_before_a_call(tmp_path: Path) -> None:
    story = uneven_ranks(instrumented=False)
    path = story.path("main", "MPI_Wtime")
    story.rows["path_profile"] = [
        {
            "location": rank,
            "callpath": place,
            "phase": "program",
            "category": "compute",
            "spent_ps": spent * MS,
            "on_path_ps": 0,
            "waited_ps": 0,
        }
        for rank, idle in enumerate((40, 10, 70))
        for place, spent in ((path, 20), (-1, 80 - idle))
    ]
    report = build(story.write(tmp_path / "a.run"))
    assert report.uneven == Uneven(60 / 90, "code after the last call", "rank 1", 30 * MS)


def test_records_outside_of_calls_are_no_proof_of_little_communication(tmp_path: Path) -> None:
    story = uneven_ranks(instrumented=True)
    story.quality.append(
        QualityCount(name="record_outside_call", severity="error", blame="trace", count=3469, sentence="outside")
    )
    report = build(story.write(tmp_path / "a.run"))
    assert facts(report.conclusion)[-2:] == ["3,469", "compute"]
