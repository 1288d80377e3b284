"""A drag in a chart sets the one selection, which the URL states: ranks, pairs of ranks, call paths, time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.browser.served import drawn, go, opened, served
from tests.browser.visit import Visit
from tests.dashboards.synthetic import EXCHANGE, make_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A stencil of four ranks."""
    folder = tmp_path_factory.mktemp("brushing")
    with served(make_run(folder / "a.run").path, make_run(folder / "b.run", iterations=6).path) as at:
        yield at


@pytest.fixture
def view(address: str, chromium: Any) -> Iterator[Callable[..., Visit]]:
    seen: list[Visit] = []

    def open_(path: str = "/") -> Visit:
        seen.append(opened(chromium, address + path))
        return seen[-1]

    yield open_
    for one in seen:
        assert one.console == []
        one.page.context.close()


def query(seen: Visit) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(seen.page.url).query).items()}


def box_of(seen: Visit, chart: str, part: str = ".nsewdrag") -> dict[str, float]:
    """Where a part of a chart is, once it no longer moves: charts above it may be drawn anew for some time."""
    selector = f"figure[data-chart='{chart}'] {part}"
    area = seen.page.locator(selector).first
    box: dict[str, float] | None = None
    area.wait_for()
    while (now := area.bounding_box()) != box or box is None:
        box = now
        # Not by the locator: it fails where the element is replaced during the call.
        seen.page.evaluate("part => document.querySelector(part)?.scrollIntoView({block: 'center'})", selector)
        seen.page.wait_for_timeout(500)
    return box


def drag(seen: Visit, box: dict[str, float], begin: tuple[float, float], *further: tuple[float, float]) -> None:
    """With the mouse, by shares of the box's width and height."""
    mouse = seen.page.mouse

    def to(at: tuple[float, float], **how: Any) -> None:
        mouse.move(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"], **how)

    to(begin)
    mouse.down()
    for one in further:
        to(one, steps=6)
    mouse.up()


def test_a_drag_over_bars_of_ranks_selects_them(view: Callable[..., Visit]) -> None:
    seen = view("/")
    # 30 to 70 % of four bars touches those of rank 1 and rank 2.
    drag(seen, box_of(seen, "overview.breakdown"), (0.2, 0.3), (0.5, 0.7))
    seen.page.wait_for_url("**ranks=1-2**")
    seen.page.wait_for_selector("#selection a.part:has-text('ranks 1-2')")
    drawn(seen)
    seen.page.click("#step-back")
    seen.page.wait_for_function("() => !location.search.includes('ranks')")


def test_no_step_is_lost_where_two_follow_each_other_at_once(view: Callable[..., Visit]) -> None:
    seen = view("/")
    seen.page.wait_for_selector("#step-back:disabled", state="attached")
    seen.page.evaluate("""() => {
      const to = (search) => dash_clientside.set_props("url", { search });
      to("?ranks=1-2");
      setTimeout(() => to("?ranks=3"), 3);
    }""")
    seen.page.wait_for_selector("#selection a.part:has-text('rank 3')")
    drawn(seen)
    seen.page.click("#step-back")
    seen.page.wait_for_url("**ranks=1-2**")
    seen.page.wait_for_selector("#selection a.part:has-text('ranks 1-2')")
    seen.page.click("#step-back")
    seen.page.wait_for_function("() => !location.search.includes('ranks')")
    seen.page.wait_for_selector("#step-back:disabled", state="attached")


def test_a_lasso_holds_the_bars_within_it(view: Callable[..., Visit]) -> None:
    seen = view("/")
    box = box_of(seen, "overview.breakdown")
    seen.page.mouse.move(box["x"] + 5, box["y"] + 5)
    seen.page.locator("figure[data-chart='overview.breakdown'] .modebar-btn[data-title='Lasso Select']").click()
    # Around what is right of the middle of ranks 2 and 3, in the two lower quarters.
    drag(seen, box, (0.3, 0.55), (0.3, 0.98), (0.6, 0.98), (0.6, 0.55), (0.3, 0.55))
    seen.page.wait_for_url("**ranks=2-3**")


def test_a_rectangle_in_the_matrix_selects_senders_and_receivers(view: Callable[..., Visit]) -> None:
    seen = view("/messages")
    # Sender 1 (the second of four rows), receivers 2 and 3.
    drag(seen, box_of(seen, "messages.matrix"), (0.55, 0.3), (0.95, 0.45))
    seen.page.wait_for_url("**ranks=1-3**")
    seen.page.wait_for_selector("#selection >> text=ranks 1-3")
    drawn(seen)
    go(seen, "Timeline")
    assert query(seen) == {"ranks": "1-3"}


def test_a_drag_over_boxes_of_the_call_tree_selects_what_calls_them(view: Callable[..., Visit]) -> None:
    seen = view("/regions")
    boxes = seen.page.locator("figure[data-chart='regions.tree'] .slice path")
    box_of(seen, "regions.tree", ".slice path")
    places = sorted((boxes.nth(i).bounding_box() for i in range(boxes.count())), key=lambda box: (box["y"], box["x"]))
    first, last = [one for one in places if one["y"] == places[-1]["y"]][:: len(places) - 3]
    whole = {
        "x": first["x"],
        "y": first["y"],
        "width": last["x"] + last["width"] - first["x"],
        "height": first["height"],
    }
    drag(seen, whole, (0.1, 0.4), (0.98, 0.6))
    seen.page.wait_for_url(f"**path={EXCHANGE}**")
    seen.page.wait_for_selector("#selection a.part:has-text('exchange')")
    assert query(seen) == {"path": str(EXCHANGE)}
    drawn(seen)


def test_a_drag_over_calls_selects_their_path(view: Callable[..., Visit]) -> None:
    seen = view("/regions")
    box = box_of(seen, "regions.calls")
    drag(seen, box, (0.2, 0.05), (0.4, 0.95))
    seen.page.wait_for_url(f"**path={EXCHANGE}**")
    seen.page.locator("#selection").get_by_text("Clear").click()
    seen.page.wait_for_function("() => !location.search")
    drawn(seen)
    drag(seen, box_of(seen, "regions.calls"), (0.2, 0.05), (0.4, 0.1))
    seen.page.wait_for_url("**path=**")
    assert query(seen)["path"] != str(EXCHANGE)


def test_a_lasso_over_the_timeline_selects_time_and_ranks(view: Callable[..., Visit]) -> None:
    seen = view("/timeline")
    box = box_of(seen, "timeline.timeline")
    seen.page.mouse.move(box["x"] + 5, box["y"] + 5)
    seen.page.locator("figure[data-chart='timeline.timeline'] .modebar-btn[data-title='Lasso Select']").click()
    drag(seen, box, (0.4, 0.3), (0.6, 0.3), (0.6, 0.7), (0.4, 0.7), (0.4, 0.3))
    seen.page.wait_for_url("**from=**")
    assert query(seen)["ranks"] == "1-2"
    assert int(query(seen)["from"]) < int(query(seen)["to"])


def test_no_hint_covers_the_controls_after_a_drag(view: Callable[..., Visit]) -> None:
    seen = view("/timeline")
    drag(seen, box_of(seen, "timeline.timeline"), (0.3, 0.3), (0.6, 0.7))
    seen.page.wait_for_url("**from=**")
    assert seen.page.locator(".notifier-note").count() == 0


def test_a_single_run_fits_a_narrow_window(chromium: Any, tmp_path: Path) -> None:
    with served(make_run(tmp_path / "a.run").path) as at:
        seen = opened(chromium, at, viewport={"width": 800, "height": 900})
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        seen.page.context.close()


def test_a_drag_over_the_changes_of_ranks_selects_them(view: Callable[..., Visit]) -> None:
    seen = view("/compare")
    drag(seen, box_of(seen, "compare.ranks"), (0.5, 0.05), (0.6, 0.2))
    seen.page.wait_for_url("**ranks=0**")


def test_repeats_join_a_side_of_the_comparison(tmp_path: Path, chromium: Any) -> None:
    runs = [
        make_run(tmp_path / f"{name}.run", iterations=count).path for name, count in (("a", 12), ("b", 6), ("c", 13))
    ]
    with served(*runs) as at:
        seen = opened(chromium, f"{at}/compare?other=b.run")
        seen.page.wait_for_selector("text=A: a.run, B: b.run")
        seen.page.locator("#repeats").click()
        seen.page.get_by_role("option", name="c.run").click()
        seen.page.wait_for_url("**repeats=c.run**")
        seen.page.keyboard.press("Escape")
        seen.page.wait_for_selector("text=A: 2 runs, B: b.run")
        drawn(seen)
        # Twelve and thirteen iterations against six, and no repeat of B: it is taken to scatter like A.
        assert "more than noise" in seen.page.inner_text("figure[data-chart='compare.repeated'] figcaption")
        assert seen.page.locator("text=/B over time \\(b.run\\)/").count() == 1
        assert seen.console == []
        seen.page.context.close()


def _stretch(seen: Visit) -> tuple[int, int]:
    found = query(seen)
    return int(found["from"]), int(found["to"])


def test_keys_and_the_wheel_zoom_and_move_time(view: Callable[..., Visit]) -> None:
    seen = view("/timeline")
    box_of(seen, "timeline.timeline")
    shown = "document.querySelector(\"figure[data-chart='timeline.timeline'] .js-plotly-plot\")._fullLayout.xaxis.range"
    before = seen.page.evaluate(shown)
    # Continuous: the picture is zoomed before the page is computed for the stretch, which takes its place.
    press = 'document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "w", bubbles: true }))'
    now = seen.page.evaluate(f"() => {{ {press}; {press}; return {shown}; }}")
    assert now[1] - now[0] == pytest.approx((before[1] - before[0]) / 1.25**2)
    assert sum(now) == pytest.approx(sum(before))
    seen.page.wait_for_url("**from=**")
    drawn(seen)
    begin, end = _stretch(seen)
    seen.page.wait_for_selector("#selection a.part")
    seen.page.wait_for_timeout(1000)
    seen.page.keyboard.press("d")
    seen.page.wait_for_function(f"() => !location.search.includes('from={begin}&')")
    drawn(seen)
    moved = _stretch(seen)
    assert moved[0] > begin
    assert moved[1] - moved[0] == pytest.approx(end - begin, rel=0.05)
    # Around the pointer: what is at the left end stays there.
    seen.page.wait_for_timeout(1000)
    box = box_of(seen, "timeline.timeline")
    seen.page.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2)
    seen.page.keyboard.down("Control")
    seen.page.mouse.wheel(0, -100)
    seen.page.keyboard.up("Control")
    seen.page.wait_for_function(f"() => !location.search.includes('to={moved[1]}')")
    drawn(seen)
    assert _stretch(seen)[0] == pytest.approx(moved[0], abs=0.05 * (moved[1] - moved[0]))
    seen.page.wait_for_timeout(1000)
    for _ in range(8):
        seen.page.keyboard.press("s")
    seen.page.wait_for_function("() => !location.search.includes('from')")


def test_keys_that_are_written_into_a_field_zoom_nothing(view: Callable[..., Visit]) -> None:
    seen = view("/timeline")
    seen.page.locator("#selection summary").click()
    seen.page.locator("#select-name").fill("")
    seen.page.locator("#select-name").press_sequentially("was")
    seen.page.wait_for_timeout(600)
    assert query(seen) == {}
