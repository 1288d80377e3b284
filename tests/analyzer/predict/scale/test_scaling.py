"""Growth of whole programs: a wave whose length is known at every size, and what is refused."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.chains import OVERHEAD, WAY, WORK, chain, mean_length
from tests.analyzer.story import MS, Story
from tests.said import facts, says

from logpost.analyzer.predict.scale import Scaling, scale, synthesis
from logpost.analyzer.render.scale.json import as_json
from logpost.analyzer.render.scale.text import conclusion, print_scaling
from logpost.analyzer.run.directory import Run
from logpost.dashboards.figures.scaling import scaling_chart
from logpost.dashboards.report.scaling import write_scaling
from logpost.errors import InputError


@pytest.fixture(scope="module")
def wave(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    place = tmp_path_factory.mktemp("wave")
    return [chain(ranks, place / f"{ranks}.run") for ranks in (8, 16)]


@pytest.fixture(scope="module")
def found(wave: list[Run]) -> Scaling:
    return scale(wave, 64)


@pytest.mark.slow
def test_a_wave_is_replayed_to_the_picosecond(found: Scaling) -> None:
    assert found.pattern == "messages to neighbours on a chain of 16 ranks"
    assert found.total[-1].mean == pytest.approx(mean_length(64))
    late = found.categories[0]
    assert (late.name, late.growth.best.text) == ("late_sender", "1.00 x replay")
    # Rank r has waited for r - 1 steps of work and way, and the first rank's work.
    assert late.there.mean == pytest.approx(sum((r - 1) * (WORK + WAY) + WORK for r in range(1, 64)) / 64)
    assert late.there.most == pytest.approx(62 * (WORK + WAY) + WORK)
    overhead = next(one for one in found.categories if one.name == "send_overhead")
    # Of 63 messages; the receiver waits through its sender's overhead, too.
    assert overhead.there.mean == pytest.approx(2 * 63 * OVERHEAD / 64)


def test_sizes_that_are_too_large_continue_what_smaller_ones_say(
    wave: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replayed on 8, 16 and 32 ranks; a rank's wait is nearly linear in the ranks, from a few of them on."""
    monkeypatch.setattr(synthesis, "MOST_PAIRS", 32)
    found = scale(wave, 64)
    assert facts(found.notes[0]) == ["32", "64", "60", "32"]
    assert found.total[-1].mean == pytest.approx(mean_length(64), rel=0.02)


def test_what_dominates_is_said_from_which_size_on(found: Scaling) -> None:
    assert [(one.ranks, one.category) for one in found.dominating] == [(8, "late_sender")]
    assert found.runner_up is None
    assert [one.ranks for one in found.total] == [8, 16, 32, 64]


def test_counts_are_those_of_the_busiest_rank(found: Scaling) -> None:
    counts = {one.name: (one.values, one.term) for one in found.structure.counts}
    assert counts == {"messages": ((1, 1), "1"), "bytes": ((2048, 2048), "1"), "partners": ((1, 1), "1")}


@pytest.mark.slow
def test_work_that_is_divided_is_continued(tmp_path: Path) -> None:
    """Half of the work on twice the ranks: strong scaling; on 32 ranks a quarter of that on 8."""
    runs = [chain(ranks, tmp_path / f"{ranks}.run", work=80_000_000 // ranks) for ranks in (4, 8, 16)]
    found = scale(runs, 32)
    compute = next(one for one in found.categories if one.name == "compute")
    assert compute.growth.best.text == "c 1/P"
    assert compute.there.mean == pytest.approx(2_500_000)
    assert found.total[-1].mean == pytest.approx(mean_length(32, 2_500_000), rel=0.01)


def test_without_a_pattern_growth_alone_is_left(tmp_path: Path) -> None:
    """Collective operations whose time doubles with the ranks; nothing but the counts says how."""
    runs = []
    for ranks in (4, 8, 16):
        story = Story(ranks, 100 * MS)
        story.communicator(*range(ranks - 1))
        path = story.path("main", "MPI_Allreduce")
        for step in range(4):
            at = 20 * step * MS
            story.collective(path, "Allreduce", dict.fromkeys(range(ranks), (at, at + ranks * MS)))
        runs.append(story.write(tmp_path / f"{ranks}.run"))
    found = scale(runs, 64)
    assert found.pattern == ""
    assert says(found.notes[0], "collective", "15", "16")
    collective = next(one for one in found.categories if one.name == "collective")
    assert collective.growth.best.text == "c P"
    assert collective.there.mean == pytest.approx(256 * MS)
    assert found.dominating[-1].category == "collective"


def test_runs_of_one_size_are_refused(wave: list[Run]) -> None:
    with pytest.raises(InputError, match=r"at least two numbers .* have 8; add a run"):
        scale([wave[0], wave[0]], 64)


def test_a_target_that_is_measured_is_refused(wave: list[Run]) -> None:
    with pytest.raises(InputError, match="--to 16: a run has 16 ranks already; give a larger number"):
        scale(wave, 16)


def test_runs_of_different_programs_are_refused(wave: list[Run], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no call path in common: .*same program"):
        scale([chain(4, tmp_path / "other.run", name="other"), wave[1]], 64)


def test_a_run_without_communication_is_refused(wave: list[Run], tmp_path: Path) -> None:
    run = chain(4, tmp_path / "a.run")
    file = run.path / "locations.parquet"
    pl.read_parquet(file).with_columns(accounted=False).write_parquet(file)
    with pytest.raises(InputError, match=r"no rank communicates: .* grows"):
        scale([run, wave[1]], 64)


def test_what_two_sizes_do_not_determine_is_refused(tmp_path: Path) -> None:
    """Waits of 1 and 4 ms, on 4 and 5 ranks: by 4096 they may be anything."""
    runs = []
    for ranks, wait in ((4, 1), (5, 4)):
        story = Story(ranks, 100 * MS)
        path = story.path("main", "MPI_Barrier")
        story.collective(path, "Barrier", {rank: (0 if rank else wait * MS, wait * MS + 1) for rank in range(ranks)})
        for rank in range(ranks):
            story.shut_down(rank, wait * MS + 1)
        runs.append(story.write(tmp_path / f"{ranks}.run"))
    with pytest.raises(InputError, match=r"runs on 4 and 5 ranks .* 4,096: .* add runs"):
        scale(runs, 4096)


def test_json_page_and_figure_say_the_same(found: Scaling, tmp_path: Path) -> None:
    data = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert data["total"][-1]["mean_s"] == pytest.approx(mean_length(64) * 1e-12)
    assert (data["to"], data["dominating"][0]["category"]) == (64, "late_sender")
    assert data["replayed"] == found.pattern
    chart = scaling_chart(found)
    assert chart.figure.data[0].y[-1] == pytest.approx(mean_length(64) / 1e9)
    assert chart.summary.startswith("On 64 ranks: 181 µs (181-181 µs), most of it late sender (96.9 %)")
    assert f"{conclusion(found)}." == chart.summary
    write_scaling(found, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert 'data-chart="scaling"' in page
    assert "chain of 16 ranks" in page


def test_names_from_a_trace_are_harmless(found: Scaling, tmp_path: Path) -> None:
    hostile = replace(found, notes=("<script>alert(1)</script> \x1b[31m is not called on both",), pattern="<b>\x1b[0m")
    write_scaling(hostile, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "<script>alert(1)" not in page
    assert "<b>" not in page
    text = io.StringIO()
    print_scaling(hostile, Console(file=text, width=120))
    assert "\x1b" not in text.getvalue()
