"""The report as a file: one page below 3 MB, tight policy, every part there; how it behaves is tested in a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import plotly.offline
import polars as pl
import pytest
from tests.dashboards.synthetic import Names, make_run
from tests.said import says

from logpost.analyzer.run.directory import Run, RunWriter
from logpost.analyzer.run.manifest import Windows
from logpost.analyzer.run.schema import CATEGORIES, PARTS, TABLES
from logpost.dashboards.report import html
from logpost.dashboards.report.html import LIMIT_BYTES, render, write_report
from logpost.dashboards.report.page import Caps, build
from logpost.dashboards.report.plotly_js import offline
from logpost.errors import InputError


class Elements(HTMLParser):
    """Every element with its attributes, and the text of scripts, styles and the visible page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {"script": [], "style": [], "": []}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
            self.text[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text[self._inside][-1] += data
        else:
            self.text[""].append(data)


def payload(page: Elements) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(page.text["script"][1])))
    return data


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Elements:
    folder = tmp_path_factory.mktemp("report")
    write_report(make_run(folder / "a.run", oversubscribed=True), folder / "report.html")
    return Elements((folder / "report.html").read_text(encoding="utf-8"))


def test_nothing_is_loaded_from_anywhere(page: Elements) -> None:
    for tag, attributes in page.elements:
        assert tag not in {"link", "iframe", "object", "embed", "base", "form", "img"}
        assert not {"src", "srcset", "action", "background", "data"} & attributes.keys(), tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
    assert "url(" not in "".join(page.text["style"])
    assert "@import" not in "".join(page.text["style"])


def test_policy_allows_exactly_the_two_scripts_of_the_page(page: Elements) -> None:
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    plotly_js, _, own = page.text["script"]
    inflated = gzip.decompress(base64.b64decode(plotly_js))
    assert inflated.decode() == offline(plotly.offline.get_plotlyjs())
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'" for text in (inflated, own.encode())
    }
    assert set(rules["script-src"].split()) == hashes
    assert rules["default-src"] == "'none'"
    assert {"connect-src", "font-src", "frame-src"} & rules.keys() == set()


def test_banner_is_above_everything_else(page: Elements) -> None:
    text = " ".join(" ".join(page.text[""]).split())
    assert (
        text.index("Ranks outnumber cores")
        < text.index("of their time in communication")
        < text.index("Findings Lost: ")
    )


def test_sections_are_in_the_order_of_reading(page: Elements) -> None:
    ids = [a["id"] for t, a in page.elements if t == "section"]
    assert ids == [
        "summary",
        "findings",
        "breakdown",
        "timeline",
        "path",
        "messages",
        "load",
        "waits",
        "machine",
        "limits",
    ]


def test_machine_states_value_unit_uncertainty_and_source(page: Elements) -> None:
    text = " ".join(" ".join(page.text[""]).split())
    assert says(text, "3.00 µs", "200 ns", "96")
    assert "estimated from this trace" in text
    assert says(text, "3.1 %", "0.4 %")


def test_limits_and_quality_are_stated(page: Elements) -> None:
    text = " ".join(" ".join(page.text[""]).split())
    assert "Network contention is not split yet" in text
    assert "clock violations 3 trace messages that arrived" in text


def test_charts_are_data_in_the_page(page: Elements) -> None:
    charts = payload(page)["charts"]
    assert set(charts) == {
        "overview",
        "breakdown",
        "efficiencies",
        "timeline",
        "matrix",
        "load",
        "wait_states",
        "callpaths",
    }
    holders = {a["data-chart"] for t, a in page.elements if "data-chart" in a}
    assert holders == set(charts)


@pytest.mark.parametrize("settings", [{"ranks": 1}, {"ranks": 3, "messages": False}], ids=["one-rank", "no-messages"])
def test_empty_tables_say_so(tmp_path: Path, settings: dict[str, Any]) -> None:
    text = render(build(make_run(tmp_path / "a.run", **settings), Caps()))
    assert "The trace holds no matched point-to-point messages." in text
    charts = {a["data-chart"] for _, a in Elements(text).elements if "data-chart" in a}
    assert charts == {"overview", "breakdown", "efficiencies", "timeline", "callpaths"} | (
        {"wait_states"} if settings["ranks"] > 1 else set()
    )


def test_a_run_without_any_row_is_still_a_page(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", ranks=1, messages=False)
    with RunWriter(tmp_path / "empty.run") as writer:
        for name, table in TABLES.items():
            writer.write(name, table.empty())
        empty = writer.finish(run.manifest.model_copy(update={"ranks": 0, "hosts": run.manifest.hosts}))
    page = build(empty, Caps())
    assert page.charts == {}
    assert "No rank has a measured runtime" in render(page)


def test_names_are_text_in_the_source(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    names = Names(anchor=f"{evil}/traces.otf2", label=evil, machine=evil, finding={"title": evil, "advice": "{{7*7}}"})
    source = render(build(make_run(tmp_path / "a.run", names=names), Caps()))
    assert "<script>alert" not in source
    assert source.count("<script") == 3
    assert "{{7*7}}" in source


def big_run(path: Path, ranks: int, windows: int) -> Run:
    """A run whose every cell, pair and load is random: what compresses worst."""
    rng = np.random.default_rng(7)
    small = make_run(path.with_suffix(".small"), ranks=2)
    n = ranks * windows
    cells = pl.DataFrame(
        {
            "location": np.repeat(np.arange(ranks), windows * len(CATEGORIES)),
            "window": np.tile(np.repeat(np.arange(windows), len(CATEGORIES)), ranks),
            "category": np.tile(np.array(CATEGORIES), n),
            "exposed_ps": rng.integers(1, 10**9, n * len(CATEGORIES)),
        }
    ).with_columns(phase=pl.lit("program"))
    m = 200_000
    pairs = pl.DataFrame(
        {
            "send_location": rng.integers(0, ranks, m),
            "recv_location": rng.integers(0, ranks, m),
            "messages": rng.integers(1, 10**6, m),
            "bytes": rng.integers(1, 10**12, m),
            **{name: rng.integers(1, 10**12, m) for name in ("envelope_ps", *(f"{p}_ps" for p in PARTS), "deficit_ps")},
        }
    )
    load = pl.DataFrame(
        {
            "location": np.repeat(np.arange(ranks), 2 * windows),
            "window": np.tile(np.arange(windows), 2 * ranks),
            "direction": np.tile(np.repeat(np.array(["send", "recv"]), windows), ranks),
            **{name: rng.integers(1, 10**9, 2 * n) for name in ("messages", "bytes", "busy_ps", "queued_ps")},
            "peers": rng.integers(1, 100, 2 * n),
        }
    )
    base = small.table("locations").head(1).collect()
    wall = 10**12
    locations = pl.concat([base] * ranks).with_columns(
        pl.Series("location", np.arange(ranks), dtype=pl.Int32),
        pl.Series("rank", np.arange(ranks), dtype=pl.Int32),
        pl.lit(wall).alias("wall_ps"),
        pl.lit(0, pl.Int64).alias("begin_ps"),
        pl.lit(wall).alias("end_ps"),
    )
    frames = {"accounting": cells, "pairs": pairs, "load": load, "locations": locations}
    with RunWriter(path) as writer:
        for name in TABLES:
            writer.write(name, frames.get(name, small.table(name).collect()))
        manifest = small.manifest.model_copy(
            update={"ranks": ranks, "windows": Windows(count=windows, width_ps=wall // windows)}
        )
        return writer.finish(manifest)


@pytest.mark.slow
def test_4096_ranks_of_noise_stay_below_3_mb(tmp_path: Path) -> None:
    run = big_run(tmp_path / "big.run", 4096, 20)
    write_report(run, tmp_path / "big.html")
    content = (tmp_path / "big.html").read_bytes()
    assert len(content) < LIMIT_BYTES
    assert "4,096 ranks are shown as" in content.decode()


@pytest.mark.slow
def test_a_page_above_the_limit_is_made_again_with_less_detail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = big_run(tmp_path / "big.run", 64, 16)
    write_report(run, tmp_path / "whole.html")
    whole = (tmp_path / "whole.html").stat().st_size
    assert "64 ranks are shown as" not in (tmp_path / "whole.html").read_text()
    monkeypatch.setattr(html, "LIMIT_BYTES", whole - 30_000)
    write_report(run, tmp_path / "big.html")
    assert (tmp_path / "big.html").stat().st_size < whole - 30_000
    assert "64 ranks are shown as" in (tmp_path / "big.html").read_text()


def test_long_names_do_not_grow_the_page(tmp_path: Path) -> None:
    names = Names(
        regions=tuple(f"f{i}<" + "x" * 200_000 for i in range(6)),
        finding={"evidence": [{"name": "y" * 10**6, "value": 1.0, "unit": ""}]},
    )
    write_report(make_run(tmp_path / "a.run", names=names), tmp_path / "a.html")
    assert (tmp_path / "a.html").stat().st_size < 2_100_000


def test_unwritable_place_is_an_input_error(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", ranks=1)
    with pytest.raises(InputError, match=r"nowhere/a\.html cannot be written: No such file .*choose"):
        write_report(run, tmp_path / "nowhere" / "a.html")


def test_same_run_gives_the_same_page(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    assert render(build(run, Caps())) == render(build(run, Caps()))


def test_every_number_has_a_unit_or_a_heading_that_counts(tmp_path: Path) -> None:
    grids = build(make_run(tmp_path / "a.run"), Caps()).grids
    assert set(grids) >= {"breakdown", "timeline", "matrix", "load", "wait_states", "callpaths", "machine", "hosts"}
    counts = {"messages", "occurrences", "calls", "count", "nodes", "ranks on each", "cores on each", "senders then"}
    for grid in grids.values():
        for row in grid.rows:
            for column in grid.numeric:
                bare = re.fullmatch(r"[\d,.]+", row[column]) is not None
                assert bare == (grid.headings[column] in counts), (grid.headings[column], row[column])
