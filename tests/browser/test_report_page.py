"""The report in a real browser: it draws offline, requests nothing, and runs nothing that a trace wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tests.browser.visit import Visit, watched
from tests.dashboards.report.test_contrast import AA, contrast
from tests.dashboards.synthetic import Names, make_run

from logpost.dashboards.figures.palette import INKS
from logpost.dashboards.report.html import write_comparison, write_report

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>alert(1)</script>",
    '<img src=x onerror="alert(2)">',
    '<a href="javascript:alert(3)">click</a>',
    "{{7*7}}{% raw %}${alert(4)}",
    "<b>bold</b><br>next<sub>low</sub><span style='color:red'>red</span>",
    "--></style><svg onload=alert(5)>\u2028\u2029\u202e&lt;i&gt;",
)
"""One name each for main, exchange, MPI_Send, MPI_Recv, MPI_Allreduce and MPI_Init."""

CHARTS = {"overview", "breakdown", "efficiencies", "timeline", "matrix", "load", "wait_states", "callpaths"}


def report(tmp_path: Path, **settings: Any) -> Path:
    page = tmp_path / "report.html"
    write_report(make_run(tmp_path / "a.run", **settings), page)
    return page


def hostile() -> Names:
    return Names(
        anchor=f"/data/{HOSTILE[1]}/traces.otf2",
        host=HOSTILE[1],
        regions=HOSTILE,
        comm=HOSTILE[0],
        machine=HOSTILE[2],
        label=HOSTILE[0],
        location=HOSTILE[4],
        finding={column: HOSTILE[i] for i, column in enumerate(("title", "region", "cause_region", "certainty"))}
        | {"advice": HOSTILE[2], "evidence": [{"name": HOSTILE[1], "value": 1.0, "unit": HOSTILE[0]}]},
    )


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Visit]:
    """One page, opened once, for the tests that only look at it and use its switches."""
    path = report(tmp_path_factory.mktemp("seen"), names=Names(host="<b>n</b>"))
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900}, color_scheme="light")
    found = watched(context, path)
    assert found.drawn() == "drawn"
    yield found
    context.close()


def test_page_draws_every_chart_and_requests_only_itself(seen: Visit) -> None:
    assert [Path(unquote(urlsplit(url).path)).name for url in seen.requests] == ["report.html"]
    assert seen.console == []
    plots = seen.page.query_selector_all(".plot.js-plotly-plot")
    assert {plot.get_attribute("data-chart") for plot in plots} == CHARTS
    # 4 ranks with compute, collective wait, collective, send overhead and MPI other at least: a <path> per bar.
    assert seen.page.locator('[data-chart="breakdown"] .bars .point path').count() >= 4 * 5
    # Heat maps are images that the page makes itself.
    for chart in ("timeline", "matrix", "load"):
        image = seen.page.locator(f'[data-chart="{chart}"] .heatmaplayer image').first
        assert image.evaluate("image => image.href.baseVal").startswith("data:image/png;base64,")


def test_names_of_a_trace_never_run_and_never_become_markup(tmp_path: Path, visit: Callable[..., Any]) -> None:
    seen = visit(report(tmp_path, names=hostile(), oversubscribed=True))
    page = seen.page
    assert seen.drawn() == "drawn"
    for chart in ("breakdown", "timeline", "matrix", "load", "wait_states", "callpaths"):
        box = page.locator(f'[data-chart="{chart}"] .nsewdrag').first
        box.scroll_into_view_if_needed()
        size = box.bounding_box()
        for x in (0.03, 0.2, 0.5, 0.8):
            page.mouse.move(size["x"] + x * size["width"], size["y"] + size["height"] / 2)
            page.wait_for_timeout(60)
    assert (seen.dialogs, seen.console) == ([], [])
    assert len(seen.requests) == 1
    # No element stems from a name: no image, no foreign link, no script but the page's own two.
    assert page.locator("img").count() == 0
    links = page.eval_on_selector_all(
        "a", "all => all.map(a => a.getAttribute('href') || a.getAttribute('xlink:href'))"
    )
    assert all((link or "#").startswith("#") for link in links)
    assert page.locator("script:not([type])").count() == 2
    # The axis of the call paths shows the name as it is, tags and entities included, and draws none of it.
    labels = page.locator('[data-chart="callpaths"] .ytick text').all_text_contents()
    assert all(label.startswith("…") for label in labels), labels
    assert any(label.endswith('href="javascript:alert') for label in labels), labels
    assert any("<script>alert" in label for label in labels), labels
    assert page.locator('[data-chart="callpaths"] .ytick tspan').count() == 0
    # The table shows it too, with the template's braces untouched.
    assert "{{7*7}}{% raw %}" in page.inner_text("#findings")


def test_hover_names_the_cell_and_escapes_the_host(seen: Visit) -> None:
    box = seen.page.locator('[data-chart="matrix"] .nsewdrag').first
    box.scroll_into_view_if_needed()
    size = box.bounding_box()
    seen.page.locator('[data-for="matrix"] label', has_text="Bytes").click()
    # Column 0, row 3 of a 4 × 4 matrix: the messages from rank 3 to rank 0 (12 blocks of 64 KiB and 12 halos of 8 KiB).
    seen.page.mouse.move(size["x"] + size["width"] / 8, size["y"] + size["height"] * 7 / 8)
    seen.page.wait_for_selector(".hovertext")
    assert seen.page.locator(".hovertext").text_content() == "rank 3 on <b>n</b>03 → rank 0 on <b>n</b>00864 KiB"


def test_views_switch_by_keyboard(seen: Visit) -> None:
    views = seen.page.locator('[data-for="matrix"]')
    assert views.locator("label", has=seen.page.locator("input[checked]")).text_content() == "Queueing", "of a crowd"
    views.locator("label", has_text="Bytes").click()
    seen.page.wait_for_function(
        "() => document.querySelector('[data-chart=\"matrix\"] .cbtitle').textContent === 'bytes'"
    )
    seen.page.focus('[data-for="matrix"] input:checked')
    seen.page.keyboard.press("ArrowRight")
    seen.page.wait_for_function(
        "() => document.querySelector('[data-chart=\"matrix\"] .cbtitle').textContent === 'messages and transfers'"
    )


def test_a_category_is_switched_off_by_its_name(seen: Visit) -> None:
    before = seen.page.locator('[data-chart="breakdown"] .trace.bars').count()
    button = seen.page.locator('[data-legend="breakdown"] button[data-category="compute"]')
    count = "n => document.querySelectorAll('[data-chart=\"breakdown\"] .trace.bars').length === n"
    for pressed, bars in (("false", before - 1), ("true", before)):
        button.click()
        assert button.get_attribute("aria-pressed") == pressed
        seen.page.wait_for_function(count, arg=bars)


def test_themes_recolour_page_and_charts_and_keep_contrast(seen: Visit) -> None:
    fill = "() => getComputedStyle(document.querySelector('[data-chart=\"breakdown\"] .bars .point path')).fill"
    variables = (
        "() => ['--ink', '--soft', '--paper'].map(v => getComputedStyle(document.documentElement)"
        ".getPropertyValue(v).trim())"
    )
    for theme in ("light", "dark"):
        if theme == "dark":
            seen.page.click("#theme")
        seen.page.wait_for_function(f"want => ({fill})() === want", arg=rgb(getattr(INKS["compute"], theme)))
        ink, soft, paper = seen.page.evaluate(variables)
        # WCAG 2.1 level AA requires 4.5 : 1.
        assert contrast(ink, paper) > 7
        assert contrast(soft, paper) > 4.5
        tick = seen.page.locator('[data-chart="breakdown"] .xtick text').first
        assert tick.evaluate("t => getComputedStyle(t).fill") == rgb(soft)


@pytest.mark.parametrize(
    "settings",
    [{"ranks": 1}, {"ranks": 3, "messages": False}, {"ranks": 256, "iterations": 2, "windows": 40}],
    ids=["one-rank", "no-messages", "256-ranks"],
)
def test_page_never_scrolls_sideways(tmp_path: Path, visit: Callable[..., Any], settings: dict[str, Any]) -> None:
    names = Names(regions=("main", "std::vector<" * 40, *Names().regions[2:]))
    seen = visit(report(tmp_path, names=names, **settings))
    assert seen.drawn() == "drawn"
    for width in (1280, 400):
        seen.page.set_viewport_size({"width": width, "height": 800})
        assert seen.becomes("document.documentElement.scrollWidth", width) == width
    assert seen.console == []


def test_comparison_draws_both_runs(tmp_path: Path, visit: Callable[..., Any]) -> None:
    a = make_run(tmp_path / "a.run", names=hostile())
    b = make_run(tmp_path / "b.run", iterations=5, names=hostile())
    write_comparison(a, b, tmp_path / "c.html")
    seen = visit(tmp_path / "c.html")
    assert seen.drawn() == "drawn"
    assert (seen.dialogs, seen.console, len(seen.requests)) == ([], [], 1)
    plots = seen.page.query_selector_all(".plot.js-plotly-plot")
    assert {plot.get_attribute("data-chart") for plot in plots} == {"totals", "changes", "timeline_a", "timeline_b"}


def test_tables_are_readable_without_script(tmp_path: Path, visit: Callable[..., Any]) -> None:
    seen = visit(report(tmp_path), java_script_enabled=False)
    assert "Scripts are off" in seen.page.inner_text("noscript")
    seen.page.click("#breakdown summary")
    assert "collective wait" in seen.page.inner_text("#breakdown details table")


def test_an_old_browser_shows_a_message_and_the_tables(tmp_path: Path, chromium: Any) -> None:
    path = report(tmp_path)
    context = chromium.new_context(offline=True)
    context.add_init_script("delete window.DecompressionStream")
    page = context.new_page()
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-charts=failed]", state="attached")
    assert "older than 2023" in page.inner_text("#trouble")
    assert page.locator("#breakdown details table").first.is_visible()
    context.close()


def rgb(colour: str) -> str:
    """#rrggbb as browsers compute it."""
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_in_bars_and_boxes_can_be_read(seen: Visit, mode: str) -> None:
    themed = """([mode, category, light, dark]) => {
        const theme = { categories: { [category]: mode === "dark" ? dark : light } };
        const entry = { figure: { data: [{ meta: { category } }], layout: {} }, views: [] };
        const style = { theme: { [mode]: theme }, mode, css: () => "#777777", width: 1200, hidden: () => false };
        return logpostThemed(entry, 0, style).data[0].insidetextfont.color;
    }"""
    low = {}
    for category, ink in INKS.items():
        text = seen.page.evaluate(themed, [mode, category, ink.light, ink.dark])
        low[category] = round(contrast(text, ink.dark if mode == "dark" else ink.light), 2)
    assert {category: value for category, value in low.items() if value < AA} == {}
