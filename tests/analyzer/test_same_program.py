"""Runs of one program share most of their call paths."""

from __future__ import annotations

from logpost.analyzer.same_program import same_program

BEFORE = {"main", "main / solve", "main / solve / MPI_Send", "main / MPI_Init"}


def test_a_version_with_another_function_is_the_same_program() -> None:
    after = BEFORE - {"main / solve / MPI_Send"} | {"main / solve / MPI_Isend"}
    assert same_program(BEFORE, after)  # 3 of 5


def test_programs_with_only_their_frame_in_common_are_two() -> None:
    assert not same_program(BEFORE, {"main", "main / MPI_Init", "main / sort", "main / sort / MPI_Alltoallv"})  # 2 of 6


def test_runs_without_any_call_path_are_not_told_apart() -> None:
    assert same_program(set(), set())
