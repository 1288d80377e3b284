"""Ranks that have the cores of a node by turns show two facts together: their calls last when nothing is missing, and
no more than some of them run at once."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story, evidence_of
from tests.said import facts

from logpost.analyzer.findings.cures import shared_cores
from logpost.analyzer.findings.finding import MEDIUM

US = MS // 1000
STEPS = 20
SHORT = 10 * US
"""The duration of an operation whose ranks have cores."""
TURN = 4 * MS
"""How long the ranks without a core stay in it."""


def steps(leave: tuple[int, int, int, int], *, oversubscribed: bool | None = None, calls_often: bool = True) -> Story:
    """In each step four ranks of a node meet in an operation; rank r leaves it `leave[r]` behind the last one's enter.
    Behind it each makes short calls for 0.2 ms (ranks 0 and 2) or 0.25 ms, one every 10 us, and enters the next
    operation 0.3 ms after it has left this one: the last one to leave ends the step. Ranks that do not call often
    compute for the 0.3 ms."""
    step = max(leave) + 300 * US
    story = Story(4, STEPS * step + step, windows=STEPS)
    story.hosts.oversubscribed = oversubscribed
    meet, query = story.path("main", "MPI_Allreduce"), story.path("main", "MPI_Comm_rank")
    for i in range(STEPS):
        last = i * step + step
        members = {rank: (last - max(leave) + leave[rank], last + leave[rank]) for rank in range(4)}
        story.collective(meet, "Allreduce", members)
        for rank in range(4 if i < STEPS - 1 and calls_often else 0):
            for n in range(20 if rank % 2 == 0 else 25):
                begin = last + leave[rank] + n * 10 * US + 2 * US
                story.call(rank, begin, begin + 3 * US, query, mpi_other=3 * US)
    for rank in range(4):
        story.user(rank, story.path("main"), STEPS * 300 * US)
    return story


TURNS = (SHORT, SHORT, TURN, TURN)


def test_ranks_that_take_turns_on_two_cores_are_found() -> None:
    row = steps(TURNS).alone(shared_cores.find).row(0, named=True)
    assert row["kind"] == "shared_cores"
    assert facts(row["title"]) == ["2", "4", "40", "4.00 ms", "MPI_Allreduce"]
    assert row["ranks"] == [0, 1, 2, 3]
    assert row["confidence"] == MEDIUM
    # Instants lie 3 or 7 us apart: of a step's 0.25 ms two run for 0.2 ms, and one for 0.05, twice.
    assert "so many run: 7.4" in evidence_of(row)
    assert "more run: 0 s" in evidence_of(row)
    # Ranks 2 and 3 enter first at 4.3 ms. With 10 us for each of 20 operations and 0.3 ms between two of them, all
    # leave the last one 4.3 + 20 x 0.01 + 19 x 0.3 ms after their begin. Ranks 0 and 1 leave it at 86.01 of 90.3 ms.
    assert row["gain"] == pytest.approx(1 - (10.2 + 4.29) / 90.3)
    # Two ranks stall in all operations; the two others wait for them in all but the first.
    assert row["exposed_ps"] == pytest.approx((2 * 20 + 2 * 19) * TURN, rel=0.01)
    assert row["share"] == pytest.approx(20 * TURN / (90 * MS), rel=0.01)
    assert row["advice"].startswith("Give each rank a separate core")


def test_computation_that_hardly_varies_shows_which_ranks_have_a_core() -> None:
    """Two compute for 0.3 ms, 19 times, 0.05 ms apart, and two likewise 4 ms later."""
    apart = (SHORT, SHORT + 50 * US, TURN - 50 * US, TURN)
    row = steps(apart, calls_often=False).alone(shared_cores.find).row(0, named=True)
    assert facts(row["title"])[:3] == ["2", "4", "40"]
    # Of 0.35 ms two run at once for 0.25.
    assert "so many run: 9.50 ms; more run: 0 s" in evidence_of(row)
    assert row["gain"] == pytest.approx(1 - (10.2 + 4.29) / 90.3, abs=0.02)


def test_computation_that_is_the_same_for_all_shows_no_lack_of_cores() -> None:
    assert steps((TURN, TURN, TURN, TURN), calls_often=False).alone(shared_cores.find).is_empty()


def test_an_operation_that_is_long_for_all_is_none() -> None:
    """All four leave together and then run at once: they have cores, the network is slow."""
    assert steps((TURN, TURN, TURN, TURN)).alone(shared_cores.find).is_empty()


def test_ranks_that_run_by_turns_without_stalls_are_none() -> None:
    """Ranks 2 and 3 run behind 0 and 1, when they have their data: no call lasts when it has all it needs."""
    assert steps((SHORT, SHORT, 300 * US, 300 * US)).alone(shared_cores.find).is_empty()


def test_time_without_a_core_is_measured() -> None:
    """Half of the ranks' time, on as many cores as ranks: something else had them."""
    story = steps(TURNS, oversubscribed=False)
    assert story.alone(shared_cores.find).is_empty()
    story.hosts.without_core = 0.5
    row = story.alone(shared_cores.find).row(0, named=True)
    assert facts(row["title"])[0] == "50.0 %"
    assert row["confidence"] == MEDIUM
    assert "what else uses the cores" in row["advice"]


@pytest.mark.parametrize("known", [True, False])
def test_where_the_cores_are_known_the_report_says_it_already(known: bool) -> None:
    assert steps(TURNS, oversubscribed=known).alone(shared_cores.find).is_empty()
