"""What is said of a recording that ended early: states of ranks, the ranks that did not arrive, and the deadlock."""

from __future__ import annotations

from tests.said import facts

from logpost.analyzer.pipeline.recording.ended_early import OpenCall, cycle, sentences
from logpost.analyzer.words.location_names import Rank


def ranks(count: int) -> list[Rank]:
    return [Rank(rank) for rank in range(count)]


WORLD = {0: ranks(4)}


def recv(rank: int, peer: object, place: str = "") -> OpenCall:
    return OpenCall(Rank(rank), "MPI_Recv", place, f"recv from={peer} tag=7 comm=0")


def barrier(rank: int) -> OpenCall:
    return OpenCall(Rank(rank), "MPI_Barrier", "b.c:9", "collective comm=0")


def test_where_every_call_ended_nothing_is_said() -> None:
    assert sentences([], ranks(4), WORLD) == []


def test_two_that_receive_from_each_other_are_a_deadlock() -> None:
    found = sentences([recv(0, 1, "a.c:12"), recv(1, 0, "a.c:15")], ranks(2), {0: ranks(2)})
    first, *calls, deadlock = found
    assert first.startswith("The recording ended early: ranks 0-1 ")
    assert calls == ["rank 0: MPI_Recv at a.c:12 from rank 1, tag 7.", "rank 1: MPI_Recv at a.c:15 from rank 0, tag 7."]
    assert deadlock.startswith("Deadlock: ")
    assert facts(deadlock) == ["0", "MPI_Recv", "a.c:12", "1", "MPI_Recv", "a.c:15", "0"]


def test_a_peer_that_the_archive_does_not_have_is_no_rank() -> None:
    # The process of rank 0 is not defined: the archive has rank 1 alone.
    found = sentences([recv(1, 0)], [Rank(1)], {})
    assert found[-1] == "rank 1: MPI_Recv from an unknown rank, tag 7."


def test_an_archive_of_a_program_that_still_ran_says_so() -> None:
    found = sentences([barrier(0)], ranks(4), WORLD, so_far=True)
    assert found[0].startswith("The program still ran ")
    assert facts(found[0]) == ["0"]


def test_ranks_that_did_not_arrive_are_named_and_equal_ranks_share_a_line() -> None:
    found = sentences([barrier(0), barrier(1), barrier(3), recv(2, "any")], ranks(4), WORLD)
    assert found[1:] == [
        "ranks 0-1, 3: MPI_Barrier at b.c:9; rank 2 did not arrive.",
        "rank 2: MPI_Recv from any rank, tag 7.",
    ]


def test_a_rank_that_computes_is_in_no_call_and_no_deadlock() -> None:
    found = sentences([barrier(rank) for rank in range(3)], ranks(4), WORLD)
    assert found[-2:] == [
        "ranks 0-2: MPI_Barrier at b.c:9; rank 3 did not arrive.",
        "rank 3: in no call of the library.",
    ]


def test_a_circle_through_a_barrier_is_found() -> None:
    # Rank 2 waits for rank 0, which waits in the barrier for rank 2.
    assert cycle([barrier(0), barrier(1), barrier(3), recv(2, 0)], WORLD) == [0, 2]


def test_a_chain_is_no_circle() -> None:
    assert cycle([recv(0, 1), recv(1, 2), recv(2, 3)], WORLD) == []


def test_a_circle_behind_a_chain_is_found_without_the_chain() -> None:
    assert cycle([recv(0, 1), recv(1, 2), recv(2, 3), recv(3, 1)], WORLD) == [1, 2, 3]


def test_waitany_waits_for_none_alone_and_waitall_for_each() -> None:
    text = "requests=2: recv from=0 tag=5 comm=0; recv from=1 tag=6 comm=0"
    assert OpenCall(Rank(2), "MPI_Waitany", "", text).peers == ()
    assert OpenCall(Rank(2), "MPI_Waitall", "", text).peers == (0, 1)
    assert OpenCall(Rank(2), "MPI_Waitall", "", text).state(ranks(4)) == " from rank 0, tag 5; from rank 1, tag 6"


def test_thousands_of_ranks_are_read_at_once() -> None:
    calls = [barrier(rank) for rank in range(5000) if rank != 17]
    found = sentences([*calls, recv(17, 16)], ranks(5000), {0: ranks(5000)})
    assert facts(found[1]) == ["0-16", "18-4999", "MPI_Barrier", "b.c:9", "17"]
    assert facts(found[-1]) == ["17", "MPI_Recv", "16", "MPI_Barrier", "b.c:9", "17"]
