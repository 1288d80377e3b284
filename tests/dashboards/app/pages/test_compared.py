"""Which runs are on which side of a comparison, as the URL has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.dashboards.synthetic import Names, make_run

from logpost.dashboards.app.pages.compared import joined, sides_of
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.errors import InputError


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("sides")
    return Runs([make_run(folder / name, iterations=2).path for name in ("a.run", "b, c.run", "d.run")])


def test_without_a_choice_the_next_run_is_the_other(runs: Runs) -> None:
    assert sides_of(runs, read("/compare", "")) == (("a.run",), ("b, c.run",))
    assert sides_of(runs, read("/compare", "?run=d.run")) == (("d.run",), ("a.run",))


def test_without_a_choice_a_run_of_another_program_is_the_last_resort(tmp_path: Path) -> None:
    names = Names(regions=("app", "sum", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Init"))
    other = make_run(tmp_path / "other.run", iterations=2, names=names)
    same = make_run(tmp_path / "same.run", iterations=3)
    runs = Runs([make_run(tmp_path / "a.run", iterations=2).path, other.path, same.path])
    assert runs.of_same_program("a.run") == ["same.run"]
    assert sides_of(runs, read("/compare", "")) == (("a.run",), ("same.run",))
    assert sides_of(runs, read("/compare", "?run=other.run")) == (("other.run",), ("a.run",))


def test_repeats_join_the_run_and_are_on_one_side_only(runs: Runs) -> None:
    query = read("/compare", "").having(repeats=joined(["d.run"]), other=joined(["b, c.run", "d.run"])).search
    assert sides_of(runs, read("/compare", query)) == (("a.run", "d.run"), ("b, c.run",))


def test_a_name_that_is_no_run_is_refused(runs: Runs) -> None:
    with pytest.raises(InputError, match="no run is called /etc"):
        sides_of(runs, read("/compare", "?other=/etc"))


def test_one_side_cannot_have_every_run(runs: Runs) -> None:
    every = joined(["b, c.run", "d.run"])
    with pytest.raises(InputError, match="there is no run to compare with"):
        sides_of(runs, read("/compare", "").having(repeats=every))


def test_one_run_is_not_compared(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run to compare with: logpost dashboard A B"):
        sides_of(Runs([make_run(tmp_path / "a.run", iterations=2).path]), read("/compare", ""))
