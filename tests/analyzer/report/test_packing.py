"""User regions that pack data by hand: which count, and where they are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.story import MS, Story
from tests.said import facts

from logpost.analyzer.pipeline.pack_pattern import check, compiled
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.packing import packing_text
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError


def packed(path: Path, pattern: str | None) -> Run:
    """Two ranks of 100 ms, all compute: 10 and 20 ms in pack_x and what it calls, 5 ms of that each in copy."""
    story = Story(2, 100 * MS)
    for rank in (0, 1):
        story.user(rank, story.path("main"), (90 - 10 * rank) * MS)
        story.user(rank, story.path("main", "pack_x"), (5 + 10 * rank) * MS)
        story.user(rank, story.path("main", "pack_x", "copy"), 5 * MS)
    run = story.write(path)
    return Run(run.path, run.manifest.model_copy(update={"pack": pattern}))


def test_a_region_counts_with_the_user_regions_below_it_and_once(tmp_path: Path) -> None:
    report = build(packed(tmp_path / "run", "^pack|copy"))
    assert report.packing is not None
    assert (report.packing.regions, report.packing.exposed_ps) == (("pack_x",), 30 * MS)
    assert report.packing.share == pytest.approx(30 / 200)
    assert facts(packing_text(report)) == ["30.0 ms", "15.0 %", "compute", "middleware", "30.0 ms"]
    view = {part.name: part.exposed_ps for part in report.sens}
    assert (view["compute"], view["message_overhead"]) == (170 * MS, 30 * MS)
    assert as_json(report)["packing"] == {
        "pattern": "^pack|copy",
        "regions": ["pack_x"],
        "exposed_s": pytest.approx(0.03),
        "share_of_compute": pytest.approx(0.15),
    }


def test_nothing_is_said_where_nothing_was_named(tmp_path: Path) -> None:
    report = build(packed(tmp_path / "run", None))
    assert report.packing is None
    assert packing_text(report) == ""
    assert as_json(report)["packing"] is None
    assert {part.name: part.exposed_ps for part in report.sens}["compute"] == 200 * MS


def test_a_pattern_that_matches_nothing_is_refused_with_what_there_is() -> None:
    check("^pa", ["pack", "main"])
    with pytest.raises(InputError, match=r"--pack nix: matches no user region .* main, pack$"):
        check("nix", ["pack", "main", "pack"])
    with pytest.raises(InputError, match=r"f0, f1, .* and 4 others"):
        check("nix", [f"f{i}" for i in range(12)])
    with pytest.raises(InputError, match="the archive has no user regions"):
        check("nix", [])
    with pytest.raises(InputError, match=r"--pack \(: no regular expression: missing \)"):
        compiled("(")
