"""Folded names: what people call a function, from what the linker calls it."""

from __future__ import annotations

import pytest

from logpost.analyzer.words.labels import distinct_ends, folded, folded_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MPI_Send", "MPI_Send"),
        ("halo::exchange", "halo::exchange"),
        ("!$omp parallel @halo.c:57", "!$omp parallel @halo.c:57"),
        ("void Foo<int>::bar(std::vector<double, std::allocator<double> > const&, int) const", "Foo<…>::bar"),
        ("Field<double, 3>::exchange(std::map<int, double>)", "Field<…>::exchange"),
        ("std::vector<int> make<int>(int)", "make<…>"),
        ("main", "main"),
        ("solve(int)", "solve"),
        ("(anonymous namespace)::solve(int)", "(anonymous namespace)::solve"),
        ("Grid::operator()(int, int) const", "Grid::operator()"),
        ("std::ostream& operator<<(std::ostream&, Grid const&)", "operator<<"),
        ("bool Grid::operator<(Grid const&) const", "Grid::operator<"),
        ("Grid::operator->()", "Grid::operator->"),
        ("run(int)::{lambda(double)#1}::operator()(double) const", "run::{lambda}::operator()"),
        ("decltype(auto) apply<void (*)(int)>(void (*)(int))", "apply<…>"),
        ("solve(int) [clone .isra.0]", "solve"),
        ("broken<int", "broken<…>"),
        ("<<<", "<<<"),
        ("solver:<module>", "solver:<module>"),
        ("loop (line 5)", "loop (line 5)"),
        ("foo::operator()<int>(int, void (*)(double))", "foo::operator()<…>"),
    ],
)
def test_folded(name: str, expected: str) -> None:
    assert folded(name) == expected


def test_folding_twice_changes_nothing() -> None:
    for name in ("void Foo<int>::bar(int) const", "(anonymous namespace)::solve(int)", "Grid::operator()(int)"):
        assert folded(folded(name)) == folded(name)


def test_a_path_is_folded_function_by_function() -> None:
    path = "main / void Solver<double>::step(std::vector<double>&, int) const / MPI_Recv"
    assert folded_path(path) == "main / Solver<…>::step / MPI_Recv"
    assert folded_path("main") == "main"


def test_paths_that_end_alike_are_distinguished_by_their_callers() -> None:
    found = distinct_ends(
        {
            1: "main / run / send / progress / wait / MPI_Wait",
            2: "main / run / drain / progress / wait / MPI_Wait",
            3: "main / run / send / MPI_Send",
            4: "wait / MPI_Wait",
            5: "main",
        }
    )
    assert found == {
        1: "send / … / MPI_Wait",
        2: "drain / … / MPI_Wait",
        3: "send / MPI_Send",
        4: "wait / MPI_Wait",
        5: "main",
    }


def test_equal_paths_keep_one_name_and_neighbours_need_no_ellipsis() -> None:
    assert distinct_ends({1: "a / b", 2: "a / b"}) == {1: "a / b", 2: "a / b"}
    assert distinct_ends({1: "a / b", 2: "c / b"}, most=1) == {1: "a / b", 2: "c / b"}
