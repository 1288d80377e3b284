"""The page of two runs: signs, factors, and findings on the right side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.dashboards.figures.test_figures import drawn
from tests.dashboards.report.test_html import Elements
from tests.dashboards.synthetic import COLLECTIVE_PS, Names, make_run

from logpost.analyzer.compare.change import Change
from logpost.analyzer.run.directory import Run
from logpost.dashboards.figures.comparison import changes, totals
from logpost.dashboards.report.comparison import _facts, build_comparison, relative, signed
from logpost.dashboards.report.html import render_comparison, write_comparison
from logpost.dashboards.report.page import Caps

MS = 10**9


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [(4, 5, "+25.0 %"), (4, 3, "−25.0 %"), (4, 4, "0.0 %"), (0, 5, "new"), (0, 0, "0.0 %"), (1, 12, "× 12.0")],
)
def test_relative_change(before: float, after: float, shown: str) -> None:
    assert relative(Change("x", before, after)) == shown


def test_unknown_change_is_a_dash() -> None:
    assert relative(Change("serialization", None, 0.5)) == "–"


def test_signs_are_true_minus() -> None:
    assert [signed(d) for d in (2 * MS, -2 * MS, 0)] == ["+2.00 ms", "−2.00 ms", "0 s"]


def test_changes_are_listed_largest_first_with_their_signs() -> None:
    chart = changes(
        [Change("compute", 5 * MS, 5 * MS), Change("latency", 4 * MS, 1 * MS), Change("residual", 0, 5 * MS)]
    )
    assert [(bar["meta"]["category"], bar["x"]) for bar in drawn(chart)] == [("residual", [5]), ("latency", [-3])]
    assert drawn(chart)[1]["text"] == [" −3.00 ms "]
    assert chart.summary == "B has 5.00 ms more residual than A."


def test_totals_stack_both_runs(tmp_path: Path) -> None:
    page = build_comparison(make_run(tmp_path / "a.run"), make_run(tmp_path / "b.run", iterations=6), Caps())
    chart = totals(page.comparison.categories)
    bars = {bar["meta"]["category"]: bar["x"] for bar in drawn(chart)}
    # 4 ranks join 12 (A) and 6 (B) allreduces of 12 µs each; the axis is in ms.
    assert bars["collective"] == [4 * 12 * COLLECTIVE_PS / MS, 4 * 6 * COLLECTIVE_PS / MS]


def test_page_says_which_findings_are_gone(tmp_path: Path) -> None:
    a = make_run(tmp_path / "a.run")
    b = make_run(
        tmp_path / "b.run", iterations=6, names=Names(finding={"kind": "late_sender_chain", "title": "new one"})
    )
    page = build_comparison(a, b, Caps())
    assert [row.found.title for row, _ in page.pairs["new"]] == ["new one", "new one"]
    assert "Rank 0 receives from every other rank" in page.pairs["gone"][0][0].found.title
    # The program of A has 12 iterations, that of B 6; start-up is not part of it.
    assert page.verdict.startswith("B runs ")
    assert "shorter than A (−50.0 %)" in page.verdict
    text = " ".join(" ".join(Elements(render_comparison(page)).text[""]).split())
    assert text.index("Gone in B") < text.index("New in B") < text.index("In both")


def test_facts_that_a_machine_does_not_give_are_the_categories_that_change_most(tmp_path: Path) -> None:
    page = build_comparison(make_run(tmp_path / "a.run"), make_run(tmp_path / "b.run", iterations=6), Caps())
    assert [label for label, *_ in page.facts] == [
        "Program", "Communication", "Waiting", "Contention", "Parallel efficiency"
    ]  # fmt: skip
    unknown = tuple(Change(one.name, None, None) for one in page.comparison.groups if one.name != "communication")
    (communication,) = (one for one in page.comparison.groups if one.name == "communication")
    facts = _facts(replace(page.comparison, groups=(communication, *unknown)))
    largest = sorted(page.comparison.categories[1:], key=lambda one: abs(one.difference or 0))[-1]
    assert len(facts) == len(page.facts)
    assert facts[2][1] == signed(largest.difference or 0)
    assert not [value for _, value, _ in facts if value == "–"]


def test_warnings_of_either_run_are_loud_and_what_findings_saved_is_next_to_the_measured_time(tmp_path: Path) -> None:
    a = make_run(tmp_path / "a.run")
    page = build_comparison(a, make_run(tmp_path / "b.run", names=Names(finding={"kind": "late_sender_chain"})), Caps())
    page = replace(page, comparison=replace(page.comparison, warnings=("Both: Ranks outnumber cores.",)))
    html = render_comparison(page)
    assert html.count('class="banner loud"') == 1
    assert "measured length of the program" in page.measured_without
    assert page.measured_without.partition(";")[0] in " ".join(Elements(html).text[""])


def test_timelines_share_one_scale(tmp_path: Path) -> None:
    a, b = make_run(tmp_path / "a.run"), make_run(tmp_path / "b.run", iterations=3)
    charts = build_comparison(a, b, Caps()).charts
    ranges = [charts[f"timeline_{side}"].payload()["figure"]["layout"]["xaxis"]["range"] for side in "ab"]
    # Each begins where its program does, and both are as long as the longer one, in ms.
    assert [begin for begin, _ in ranges] == [program_begin_ps(run) / MS for run in (a, b)]
    assert [end - begin for begin, end in ranges] == pytest.approx([program_windows(a) / MS] * 2)


def program_begin_ps(run: Run) -> int:
    """Begin of the window in which the first program begins."""
    width = run.manifest.windows.width_ps
    begin = run.table("locations").collect()["begin_ps"].min()
    assert isinstance(begin, int)
    return begin // width * width


def program_windows(run: Run) -> int:
    """Length of the windows in which any program runs."""
    width = run.manifest.windows.width_ps
    end = run.table("locations").collect()["end_ps"].max()
    assert isinstance(end, int)
    return -(-end // width) * width - program_begin_ps(run)


def test_two_equal_runs_show_no_change(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    page = build_comparison(run, run, Caps())
    assert "changes" not in page.charts
    assert "No category changed." in render_comparison(page)
    assert page.verdict == "B runs as long as A."


def test_names_are_text_and_the_page_is_small(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    run = make_run(
        tmp_path / "a.run", names=Names(regions=(evil,) * 6, anchor=f"{evil}/x.otf2", finding={"title": evil})
    )
    other = make_run(tmp_path / "b.run", iterations=3)
    write_comparison(run, other, tmp_path / "c.html")
    source = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<script>alert" not in source
    assert source.count("<script") == 3
    assert len(source.encode()) < 2_100_000
