"""What a reader sees first, and that nothing is cut off: 1280 × 720, and as narrow as a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.browser.pages import PAGES
from tests.browser.visit import Visit
from tests.dashboards.synthetic import Names, make_run

from logpost.dashboards.report.html import write_report

pytestmark = pytest.mark.browser

CUT_TEXT = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(p => p.offsetParent).flatMap(plot => {
  const frame = plot.getBoundingClientRect();
  return [...plot.querySelectorAll('svg text')].filter(t => t.textContent.trim())
    .map(t => [t, t.getBoundingClientRect()])
    .filter(([, b]) => b.width && (b.left < frame.left - 1 || b.right > frame.right + 1
      || b.top < frame.top - 1 || b.bottom > frame.bottom + 1))
    .map(([t]) => plot.dataset.chart + ': ' + t.textContent); })"""

CUT_BOXES = """() => [...document.querySelectorAll('main *, header *')].filter(e => {
  const style = getComputedStyle(e);
  return e.offsetParent && !e.closest('.plot') && !e.matches('caption, legend, .scroll, .skip')
    && (style.overflowX !== 'visible' || style.textOverflow === 'ellipsis') && e.scrollWidth > e.clientWidth + 1;
  }).map(e => e.className + ': ' + e.textContent.slice(0, 60))"""

SIDEWAYS = """() => [...document.querySelectorAll('.scroll')].filter(e => e.offsetParent)
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label'))"""


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_first_chart_is_above_the_fold(name: str, pages: dict[str, Path], visit: Callable[..., Visit]) -> None:
    seen = visit(pages[name], viewport={"width": 1280, "height": 720})
    assert seen.drawn() == "drawn"
    box = seen.page.locator(".js-plotly-plot").first.bounding_box()
    assert box["y"] + box["height"] <= 720


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off(name: str, width: int, pages: dict[str, Path], visit: Callable[..., Visit]) -> None:
    seen = visit(pages[name], viewport={"width": width, "height": 720})
    assert seen.drawn() == "drawn"
    seen.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    seen.page.wait_for_timeout(300)  # Charts of opened details are drawn then.
    assert seen.becomes(CUT_TEXT, []) == []
    assert seen.becomes(CUT_BOXES, []) == []
    if width == 1280:
        assert seen.becomes(SIDEWAYS, []) == []


def test_a_long_sentence_is_shown_whole(visit: Callable[..., Visit], tmp_path: Path) -> None:
    sentence = " ".join(f"word{i}" for i in range(200))
    write_report(
        make_run(tmp_path / "a.run", names=Names(finding={"certainty": sentence, "advice": sentence})),
        tmp_path / "a.html",
    )
    seen = visit(tmp_path / "a.html")
    assert seen.drawn() == "drawn"
    assert sentence in seen.page.inner_text("#findings")


def test_findings_show_their_size_as_bars_in_descending_order(
    pages: dict[str, Path], visit: Callable[..., Visit]
) -> None:
    seen = visit(pages["report"])
    assert seen.drawn() == "drawn"
    widths = seen.page.eval_on_selector_all(
        "#findings .size .track i", "all => all.map(i => i.getBoundingClientRect().width / i.parentElement.clientWidth)"
    )
    said = seen.page.locator("#findings .size b").all_inner_texts()
    shares = [float(text.split("%")[0].split()[-1]) for text in said]
    assert shares == sorted(shares, reverse=True)
    assert widths == pytest.approx([share / shares[0] for share in shares], abs=0.01)
    assert len(widths) >= 2
