"""Runs of one program share most of their call paths, and spend most of their time in these."""

from __future__ import annotations

from logpost.analyzer.compare.same_program import same_program

BEFORE = {"main": 5, "main / solve": 50, "main / solve / MPI_Send": 30, "main / solve / MPI_Recv": 15}


def test_a_version_with_another_function_is_the_same_program() -> None:
    after = {path: time for path, time in BEFORE.items() if "MPI_Send" not in path} | {"main / solve / MPI_Isend": 20}
    assert same_program(BEFORE, after)  # 3 of 5 paths; 70 of 100 and 70 of 90


def test_programs_with_only_their_frame_in_common_are_two() -> None:
    assert not same_program(BEFORE, {"main": 5, "main / sort": 60, "main / sort / MPI_Alltoallv": 40})  # 1 of 6


def test_programs_without_user_functions_are_known_by_their_longest_calls() -> None:
    few = {"MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Irecv": 20, "MPI_Barrier": 2, "MPI_Init": 900}
    assert not same_program(few | {"MPI_Waitall": 500}, few | {"MPI_Wait": 500})  # 4 of 6 paths, 24 of 524


def test_runs_without_any_call_path_count_as_one_program() -> None:
    assert same_program({}, {})
