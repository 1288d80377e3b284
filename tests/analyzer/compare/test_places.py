"""Regions of two versions of a program: renamed, moved by lines, with other arguments; none is guessed."""

from __future__ import annotations

from pathlib import Path

from tests.analyzer.story import MS, Story

from logpost.analyzer.compare.places import Surroundings, renamed
from logpost.analyzer.compare.two_runs import compare
from logpost.analyzer.render.compare.gate import check, parse


def place(file: str = "", callers: tuple[str, ...] = ("main",), callees: tuple[str, ...] = ()) -> Surroundings:
    return Surroundings(file, frozenset(callers), frozenset(callees))


def test_a_name_that_both_have_is_one_region_wherever_it_moved() -> None:
    before = {"solve": place("a.c", ("main",), ("MPI_Recv",))}
    assert renamed(before, {"solve": place("b.c", ("driver",), ())}) == {}


def test_lines_in_names_do_not_count() -> None:
    before = {"!$omp for @a.c:10": place(), "!$omp for @a.c:20": place(), "!$omp for @b.c:5": place()}
    after = {"!$omp for @a.c:20": place(), "!$omp for @a.c:31": place(), "!$omp for @b.c:5": place()}
    assert renamed(before, after) == {
        "!$omp for @a.c:10": "!$omp for @a.c:20",
        "!$omp for @a.c:20": "!$omp for @a.c:31",
    }


def test_a_loop_more_makes_lines_undecidable() -> None:
    before = {"!$omp for @a.c:10": place()}
    after = {"!$omp for @a.c:12": place(), "!$omp for @a.c:30": place()}
    assert renamed(before, after) == {}


def test_other_arguments_are_the_same_function() -> None:
    assert renamed({"solve(int)": place()}, {"solve(int, double)": place()}) == {"solve(int)": "solve(int, double)"}


def test_the_same_callers_and_callees_are_the_same_place_also_one_below_another() -> None:
    before = {
        "main": place("", ("",), ("solve",)),
        "solve": place("", ("main",), ("exchange",)),
        "exchange": place("", ("solve",), ("MPI_Send", "MPI_Recv")),
    }
    after = {
        "main": place("", ("",), ("solve_all",)),
        "solve_all": place("", ("main",), ("swap",)),
        "swap": place("", ("solve_all",), ("MPI_Send", "MPI_Recv", "MPI_Wtime")),
    }
    # Without a file, solve_all is only known by what it calls, and that by its callers: no fixed point to start from.
    assert renamed(before, after) == {}
    kept = after | {"swap": place("", ("solve_all",), ("MPI_Send", "MPI_Recv"))}
    kept["solve_all"] = place("", ("main",), ("swap", "MPI_Barrier"))
    before["solve"] = place("", ("main",), ("exchange", "MPI_Barrier", "MPI_Bcast"))
    kept["solve_all"] = place("", ("main",), ("swap", "MPI_Barrier", "MPI_Bcast"))
    assert renamed(before, kept) == {"solve": "solve_all", "exchange": "swap"}


def test_two_that_fit_alike_are_not_guessed() -> None:
    before = {"one": place("a.c"), "two": place("a.c")}
    assert renamed(before, {"three": place("a.c")}) == {}


def _story(name: str, late: int) -> Story:
    story = Story(2, 100 * MS, windows=10)
    send, recv = story.path("main", name, "MPI_Send"), story.path("main", name, "MPI_Recv")
    story.call(0, late * MS, (late + 1) * MS, send, send_overhead=MS)
    story.call(1, 0, (late + 1) * MS, recv, late_sender=late * MS, latency=MS)
    times = (late * MS, (late + 1) * MS), (0, (late + 1) * MS)
    story.message(0, 1, 8, *times, (send, recv), late_sender=late * MS, latency=MS)
    story.user(0, story.path("main", name), 90 * MS)
    story.user(1, story.path("main", name), 70 * MS)
    return story


def test_a_renamed_function_is_compared_with_itself(tmp_path: Path) -> None:
    found = compare(_story("solve", 20).write(tmp_path / "a"), _story("solve_fast", 19).write(tmp_path / "b"))
    (change,) = [c for c in found.regions if c.kind == "compute" and c.region == "solve_fast"]
    assert (change.was, change.time.before, change.time.after) == ("solve", 160 * MS, 160 * MS)
    assert "solve" not in {c.region for c in found.regions}
    for name in ("solve", "solve_fast"):
        assert not check(parse(f"region.{name} > +1%"), found).holds
    assert any("solve → solve_fast" in note for note in found.notes)
    assert not found.gone
    assert not found.appeared
    assert found.stayed
