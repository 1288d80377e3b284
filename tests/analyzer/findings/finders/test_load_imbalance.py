"""Unequal compute time is found with the region that holds the difference; equal time is not a finding."""

from __future__ import annotations

import pytest
from tests.analyzer.story import MS, Story, evidence_of

from logpost.analyzer.findings.finders import load_imbalance
from logpost.analyzer.findings.finding import MEDIUM


def ranks_that_compute(times: list[int], *, instrumented: bool = True) -> Story:
    """Each rank computes its time in `forces` (but 2 ms in `main`), then waits at a barrier until 100 ms."""
    story = Story(len(times), 100 * MS)
    barrier = story.path("main", "MPI_Barrier")
    members = {rank: (time, 100 * MS) for rank, time in enumerate(times)}
    story.collective(barrier, "Barrier", members)
    for rank, time in enumerate(times):
        if instrumented:
            story.user(rank, story.path("main", "forces"), time - 2 * MS)
            story.user(rank, story.path("main"), 2 * MS)
    return story


def test_the_slowest_ranks_and_their_region_are_named() -> None:
    finding = ranks_that_compute([60 * MS, 60 * MS, 90 * MS, 50 * MS]).alone(load_imbalance.find).row(0, named=True)
    # In forces: maximum 88, mean 63 ms; the upper half of the way begins at 75.5 ms: rank 2 alone.
    assert finding["title"] == "rank 2 computes longer than the others in forces: 88.0 ms at most, 63.0 ms on average"
    assert (finding["cause_region"], finding["region"]) == ("forces", "MPI_Barrier")
    # The others wait 30 + 30 + 40 ms; rank 3 most, 40 of 100 ms.
    assert finding["exposed_ps"] == 100 * MS
    assert finding["share"] == pytest.approx(0.4)
    assert "load balance: 71.6 %" in evidence_of(finding)  # 63 / 88
    # Shared evenly, the slowest rank would compute 63 instead of 88 ms.
    assert finding["gain"] == pytest.approx(0.25)


def test_one_slow_rank_of_many_may_become_as_fast_as_the_others() -> None:
    finding = ranks_that_compute([40 * MS] * 3 + [80 * MS] + [50 * MS]).alone(load_imbalance.find).row(0, named=True)
    # In forces rank 3 takes 78 ms, the others 38, 38, 38 and 48. As fast as the median of them, 38, it leaves rank 4
    # the slowest, with 48: 30 ms less of 100. Shared evenly, each would take 48, which gains the same; so that is said.
    assert finding["gain"] == pytest.approx(0.3)
    assert finding["advice"].startswith("Give these ranks less work")
    finding = ranks_that_compute([40 * MS] * 4 + [80 * MS]).alone(load_imbalance.find).row(0, named=True)
    # 78 ms become 38; shared evenly, 46: 40 or 32 of 100 ms. Which of the two, no trace tells.
    assert finding["gain"] == pytest.approx(0.36)
    assert finding["advice"] == (
        "Make this rank as fast as the others (38.0 ms): check what is slower there (node, binding, input) and what "
        "runs there alone. That saves up to 40.0 % of the time. To give the excess to all ranks instead "
        "(weighted or finer partition, work stealing) saves up to 32.0 % of the time."
    )


def test_who_enters_a_region_and_has_nothing_to_do_there_has_a_share_of_it() -> None:
    """A clock shows some empty visits as a tick, others as nothing: either is a share of what one rank does alone."""
    story = Story(10, 100 * MS)
    bcast, prepare = story.path("main", "MPI_Bcast"), story.path("main", "prepare")
    story.collective(bcast, "Bcast", {rank: ((90 if rank == 3 else 10) * MS, 100 * MS) for rank in range(10)})
    for rank in range(10):
        story.user(rank, prepare, 80 * MS if rank == 3 else (rank % 2) * MS // 1000, visits=20)
        story.user(rank, story.path("main"), 10 * MS)
    finding = story.alone(load_imbalance.find).row(0, named=True)
    assert finding["title"] == "rank 3 computes longer than the others in prepare: 80.0 ms at most, 8.00 ms on average"
    assert finding["exposed_ps"] == pytest.approx(9 * 80 * MS, rel=1e-3)  # all wait, not those with a tick alone


def test_where_more_than_a_fifth_are_slow_the_others_are_no_norm() -> None:
    finding = ranks_that_compute([40 * MS] * 3 + [80 * MS]).alone(load_imbalance.find).row(0, named=True)
    assert finding["gain"] == pytest.approx(0.3)  # 48 instead of 78 ms
    assert finding["advice"].startswith("Give these ranks less work")


def test_without_user_regions_the_confidence_says_so() -> None:
    story = ranks_that_compute([60 * MS, 90 * MS], instrumented=False)
    finding = story.alone(load_imbalance.find).row(0, named=True)
    assert finding["cause_region"] == ""
    assert finding["confidence"] == MEDIUM


def test_ranks_may_wait_in_operations_whose_members_no_record_tells() -> None:
    """OTF2 has none of operations of neighbours: what is seen of the others' waiting is that they are in one."""
    story = Story(4, 100 * MS)
    exchange, relax = story.path("main", "MPI_Neighbor_alltoall"), story.path("main", "relax")
    for rank in range(4):
        work = (80 if rank == 2 else 40) * MS
        story.call(rank, work, 100 * MS, exchange, collective=100 * MS - work)
        story.user(rank, relax, work)
    finding = story.alone(load_imbalance.find).row(0, named=True)
    assert finding["ranks"] == [2]
    assert (finding["region"], finding["cause_region"]) == ("MPI_Neighbor_alltoall", "relax")
    # The others are in it for 60 ms each, 40 of them as long as rank 2 works more than they do.
    assert finding["exposed_ps"] == 120 * MS
    assert finding["gain"] == pytest.approx(0.3)  # 50 instead of 80 ms
    assert finding["confidence"] == MEDIUM
    assert finding["certainty"].endswith("the trace does not tell for whom ranks wait in MPI_Neighbor_alltoall")


def test_equal_work_is_no_finding() -> None:
    # Half a per cent of difference is below what anyone could measure.
    story = ranks_that_compute([90 * MS, 90 * MS, 90 * MS + MS // 2, 90 * MS])
    assert story.alone(load_imbalance.find).is_empty()


def test_unequal_compute_for_which_nobody_waits_is_no_finding() -> None:
    """A rank that is in MPI_Finalize early computes less, but waits for nobody."""
    story = Story(2, 100 * MS)
    finalize = story.path("MPI_Finalize")
    story.call(0, 50 * MS, 100 * MS, finalize, mpi_other=50 * MS)
    story.call(1, 90 * MS, 100 * MS, finalize, mpi_other=10 * MS)
    assert story.findings().is_empty()


@pytest.mark.parametrize("times", [((30, 10), (10, 30)), ((60, 5), (20, 19))])
def test_regions_that_are_unequal_in_turn_are_one_finding(times: tuple[tuple[int, int], ...]) -> None:
    """One rank has more in assemble, the other in solve, with a barrier behind each. What is much in solve may be less
    than either has in assemble."""
    story = Story(2, 100 * MS)
    barrier = story.path("main", "MPI_Barrier")
    (first, second), (third, fourth) = times
    met = max(first, third) * MS + MS
    story.collective(barrier, "Barrier", {0: (first * MS, met), 1: (third * MS, met)})
    end = met + max(second, fourth) * MS + MS
    story.collective(barrier, "Barrier", {0: (met + second * MS, end), 1: (met + fourth * MS, end)})
    for rank, (assemble, solve) in enumerate(times):
        story.user(rank, story.path("main", "assemble"), assemble * MS)
        story.user(rank, story.path("main", "solve"), solve * MS)
    found = story.alone(load_imbalance.find)
    assert [(row["cause_region"], row["ranks"]) for row in found.iter_rows(named=True)] == [
        ("assemble and solve", [0, 1])
    ]
    # Both ranks: none is left that they could compute longer than.
    assert {"name": "regions", "value": 2, "unit": "count", "thread": None} in found["evidence"][0].to_list()
    assert "longer than the others" not in found["title"][0]
    # Shared evenly, each region takes its mean: 20 and 20 instead of 30 and 30, or 40 and 12 instead of 60 and 19.
    saved = (abs(first - third) + abs(second - fourth)) / 2
    assert found["gain"].to_list() == [pytest.approx(saved / 100)]


@pytest.mark.parametrize("instrumented", [False, True])
def test_between_which_calls_the_excess_lies(instrumented: bool) -> None:
    """Both ranks compute 2 ms before each receive; rank 0 computes 6 ms more behind it, all in one function."""
    story = Story(2, 100 * MS)
    recv = story.site(story.path("main", "master", "MPI_Recv"), "/src/master.c", 12)
    barrier = story.site(story.path("main", "master", "MPI_Barrier"), "/src/master.c", 40)
    for i in range(10):
        t = i * 10 * MS
        for rank in range(2):
            story.call(rank, t + 2 * MS, t + 3 * MS, recv, recv_overhead=MS)
        story.collective(barrier, "Barrier", {0: (t + 9 * MS, t + 10 * MS), 1: (t + 3 * MS, t + 10 * MS)})
    if instrumented:
        for rank, own in enumerate((80, 20)):
            story.user(rank, story.path("main", "master"), own * MS)
    finding = story.alone(load_imbalance.find).row(0, named=True)
    where = "between MPI_Recv (master.c:12) and MPI_Barrier (master.c:40)"
    assert finding["cause_region"] == (f"master, {where}" if instrumented else f"code {where}")
    assert finding["gain"] == pytest.approx(0.3)  # 80 at most, 50 on average, of 100 ms


def test_ranks_whose_calls_stand_in_another_order_share_the_same_work() -> None:
    """All work for 10 ms and meet; then an even rank sends and receives, an odd one receives and sends, rank 0 works
    for 30 ms, all others for 10, and all meet."""
    story = Story(4, 420 * MS)
    send, recv, barrier, sums = (
        story.path("main", name) for name in ("MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Allreduce")
    )
    for begin in range(0, 420 * MS, 42 * MS):
        t = begin + 10 * MS
        story.collective(sums, "Allreduce", dict.fromkeys(range(4), (t, t)))
        for rank in range(4):
            for half, path in enumerate((send, recv) if rank % 2 == 0 else (recv, send)):
                at = t + half * MS // 2
                story.call(rank, at, at + MS // 2, path, send_overhead=MS // 2)
        enters = {rank: t + (31 if rank == 0 else 11) * MS for rank in range(4)}
        story.collective(barrier, "Barrier", {rank: (enter, t + 32 * MS) for rank, enter in enters.items()})
    for rank in range(4):
        story.user(rank, story.path("main", "relax"), (300 if rank == 0 else 100) * MS)
    (found,) = story.alone(load_imbalance.find).iter_rows(named=True)
    # Each of 15 ms: of 42 ms a step takes 27.
    assert found["gain"] == pytest.approx(15 / 42)
