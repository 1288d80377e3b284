"""The dashboard in a real browser: every page draws, contacts no other host, and follows one selection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.analyzer.in_process import analyze
from tests.browser.served import DRAWN, drawn, go, opened, served
from tests.browser.test_report_page import HOSTILE, hostile
from tests.browser.visit import Visit
from tests.dashboards.synthetic import make_run

from logpost.analyzer.pipeline.request import Request
from logpost.dashboards import figures
from logpost.dashboards.app.pages import PAGES, chart_makers, timeline
from logpost.dashboards.app.panels import rank_spans
from logpost.dashboards.figures import single_calls
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("LOGPOST_SCREENSHOTS", "")
"""A folder that keeps a picture of every page, for a developer to look at."""
REAL = ("scorep-npb-is-A-nocomp-8", "scorep-shmem-stencil-4")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Iterator[str]:
    """A dashboard over a stencil with a hot receiver, a faster one, and two real programs: MPI and SHMEM."""
    folder = tmp_path_factory.mktemp("dashboard")
    runs = [make_run(folder / "slow.run").path, make_run(folder / "fast.run", iterations=6).path]
    for name in REAL:
        runs.append(folder / f"{name}.run")
        analyze(Request(str(next((traces / name).glob("*.otf2"))), str(runs[-1])))
    with served(*runs) as at:
        yield at


@pytest.fixture
def view(address: str, chromium: Any) -> Iterator[Callable[..., Visit]]:
    seen: list[Visit] = []

    def open_(path: str = "/", **settings: Any) -> Visit:
        seen.append(opened(chromium, address + path, **settings))
        return seen[-1]

    yield open_
    for one in seen:
        one.page.context.close()


def query(seen: Visit) -> dict[str, list[str]]:
    return parse_qs(urlsplit(seen.page.url).query)


def well(seen: Visit) -> None:
    assert seen.console == []
    assert seen.requests == []
    assert seen.dialogs == []


@pytest.mark.parametrize("run", ["slow.run", *(f"{name}.run" for name in REAL)])
def test_every_page_draws_and_contacts_no_other_host(run: str, view: Callable[..., Visit]) -> None:
    seen = view(f"/?run={run}")
    for page in PAGES:
        go(seen, page.TITLE)
        assert seen.page.locator("#page .banner.loud", has_text="a bug in logpost").count() == 0
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.TITLE} is too wide"
        said = seen.page.locator("figcaption").all_inner_texts()
        assert not [text for text in said if "bug" in text], said
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            seen.page.screenshot(path=f"{SHOTS}/{run}-{page.NAME or 'overview'}.png", full_page=True)
    well(seen)


@pytest.mark.parametrize("width", [800, 1240])
def test_a_narrow_window_shows_every_page_and_control(width: int, view: Callable[..., Visit]) -> None:
    # Not the run whose charts other tests count as not yet drawn.
    seen = view("/?run=fast.run", viewport={"width": width, "height": 900})
    for page in PAGES:
        go(seen, page.TITLE)
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.TITLE} is too wide"
    for control in ("#run", "#search", "#theme-button"):
        box = seen.page.locator(control).bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width, control


def test_the_first_page_can_be_read_before_plotly_is_loaded(address: str, chromium: Any) -> None:
    page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
    held: list[Any] = []
    free: list[bool] = []
    page.route("**/plotly.min.js", lambda one: one.continue_() if free else held.append(one))
    page.goto(address)
    page.wait_for_selector("#page section .facts")
    assert page.locator("#page section").first.inner_text()
    assert page.locator(".main-svg").count() == 0
    free.append(True)
    for one in held:
        one.continue_()
    page.wait_for_function(DRAWN)
    page.context.close()


def test_a_finding_that_is_picked_sets_every_page(view: Callable[..., Visit]) -> None:
    seen = view("/hotspots")
    seen.page.locator(".ag-row", has_text="receives from every other rank").click()
    seen.page.wait_for_url("**finding=0**")
    seen.page.wait_for_selector("text=its NIC was busy")
    drawn(seen)
    assert seen.page.locator('[data-chart="hotspots.matrix"]').bounding_box()["y"] < 500, "out of the first screen"
    chosen = query(seen)
    assert chosen["ranks"] == ["0-3"], "rank 0, and those that wait for it"
    assert chosen["path"] == ["3"]
    assert {"from", "to"} <= set(chosen)
    go(seen, "Overview")
    assert query(seen) == chosen
    assert "4 of 4" in seen.page.inner_text(".facts")
    seen.page.locator("#selection").get_by_text("Clear").click()
    seen.page.wait_for_function("() => !location.search")
    seen.page.wait_for_selector("text=Whole program, all ranks")
    seen.page.go_back()
    seen.page.wait_for_url("**finding=0**")
    well(seen)


def still(seen: Visit, area: Any) -> dict[str, float]:
    """Where an area is that a mouse can hit: charts above it and its own may be drawn anew for some time."""
    box: dict[str, float] = {}
    while (now := area.bounding_box()) != box:
        box = now
        seen.page.wait_for_timeout(500)
    return box


def test_a_dragged_rectangle_selects_time_and_ranks_and_shows_single_calls(
    view: Callable[..., Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where most cells are compute, the chart names the view without compute as its first, and the switch says so.
    with monkeypatch.context() as patched:
        patched.setattr(timeline, "MOST_CALLS", 0)
        patched.setattr(figures.timeline, "DULL", 0.0)
        seen = view("/timeline")
        chart = "[data-chart='timeline.timeline']"
        seen.page.wait_for_selector(f"{chart} label.selected:has-text('Dominant outside compute')")
        cells = seen.page.evaluate(f'document.querySelector("{chart} .js-plotly-plot").calcdata[0][0].z')
        assert not any(0 in row for row in cells), "no cell shows compute"
    box = still(seen, seen.page.locator(".nsewdrag").first)
    mouse = seen.page.mouse
    mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.7 * box["height"], steps=4)
    mouse.up()
    seen.page.wait_for_url("**from=**")
    seen.page.wait_for_selector("text=Each bar is a call")
    drawn(seen)
    chosen = query(seen)
    # 30 to 70 % of four rows touches rank 1 and rank 2.
    assert chosen["ranks"] == ["1-2"]
    assert int(chosen["from"][0]) < int(chosen["to"][0])
    seen.page.locator("#selection a.part", has_text="ranks 1-2").click()
    seen.page.wait_for_function("() => !location.search.includes('ranks')")
    well(seen)


def test_a_drag_over_the_efficiencies_selects_their_time(view: Callable[..., Visit]) -> None:
    seen = view("/timeline")
    area = seen.page.locator("figure[data-chart='timeline.efficiency'] .nsewdrag").first
    area.scroll_into_view_if_needed()
    box, mouse = still(seen, area), seen.page.mouse
    mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.6 * box["height"], steps=4)
    mouse.up()
    seen.page.wait_for_url("**from=**")
    chosen = query(seen)
    assert int(chosen["from"][0]) < int(chosen["to"][0])
    assert "ranks" not in chosen
    drawn(seen)
    well(seen)


def test_what_is_out_of_sight_is_drawn_after_what_is_in_sight(address: str, chromium: Any) -> None:
    page = chromium.new_context(viewport={"width": 1280, "height": 300}).new_page()
    page.goto(f"{address}/messages")
    order: list[str] = []
    names = list(chart_makers())
    page.on("request", lambda one: order.extend(name for name in names if f'"{name}"' in (one.post_data or "")))
    page.reload()
    page.wait_for_function(DRAWN)
    assert order.index("messages.matrix") < order.index("messages.model")
    page.context.close()


def test_the_overview_leads_to_what_changed(view: Callable[..., Visit]) -> None:
    seen = view("/")
    said = seen.page.inner_text("#page section.tight .note")
    assert "fast.run lasts" in said
    assert "−" in said
    seen.page.get_by_role("link", name="What changed").first.click()
    seen.page.wait_for_url("**/compare?other=fast.run")
    seen.page.wait_for_selector("text=A: slow.run, B: fast.run")
    drawn(seen)
    well(seen)


def test_a_click_on_a_call_shows_its_parts(view: Callable[..., Visit]) -> None:
    seen = view("/timeline?from=1000000000&to=3000000000")
    seen.page.wait_for_selector("text=A click on either shows its parts below")
    area = seen.page.locator(".nsewdrag").first
    bar = seen.page.locator(".barlayer .point").first.bounding_box()
    corner = area.bounding_box()
    area.click(position={"x": bar["x"] - corner["x"] + bar["width"] / 2, "y": bar["y"] - corner["y"] + 2})
    seen.page.wait_for_url("**call=**")
    seen.page.wait_for_selector("#page h2:has-text(' of rank ')")
    drawn(seen)
    assert "call" in query(seen)
    seen.page.get_by_role("link", name="Close").click()
    seen.page.wait_for_function("() => !location.search.includes('call=')")
    well(seen)


def test_the_pointer_on_a_call_shows_its_messages_where_there_are_many(
    view: Callable[..., Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_calls, "MOST_ARROWS", 3)
    seen = view("/timeline?from=1000000000&to=2900000000")  # of which the server keeps no chart of another test
    area = still(seen, seen.page.locator("figure[data-chart='timeline.timeline'] .nsewdrag"))
    chart = seen.page.locator("figure[data-chart='timeline.timeline']")
    known = seen.page.evaluate("document.querySelector('.js-plotly-plot').layout.meta.arrows")
    places = [one.bounding_box() for one in chart.locator(".barlayer .point").all()]
    assert known["calls"]
    assert chart.locator(".arrows").count() == 0
    for box in places:
        seen.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 3)
        seen.page.wait_for_timeout(100)
        if chart.locator(".arrows").count() and chart.locator(".arrows").get_attribute("d"):
            break
    else:
        pytest.fail("no call shows its messages")
    seen.page.mouse.move(area["x"] + 2, area["y"] - 60)
    seen.page.wait_for_function("() => !document.querySelector('.arrows')")
    well(seen)


def test_a_collective_operation_shows_its_way(view: Callable[..., Visit]) -> None:
    run = "scorep-npb-is-A-nocomp-8.run"
    seen = view(f"/timeline?run={run}&call=999999999")
    assert "the run has no call 999999999" in seen.page.inner_text("#page .empty")
    seen = view(f"/timeline?run={run}&call=2")
    seen.page.wait_for_selector("#page h2:has-text('MPI_')")
    drawn(seen)
    well(seen)


def test_one_click_removes_the_cause_of_a_finding(view: Callable[..., Visit]) -> None:
    seen = view("/?run=scorep-npb-is-A-nocomp-8.run")
    seen.page.get_by_role("link", name="Replay without it").first.click()
    seen.page.wait_for_url("**/whatif?**without=0**")
    seen.page.wait_for_selector("text=Without its cause")
    drawn(seen)
    seen.page.get_by_role("link", name="Put it back").click()
    seen.page.wait_for_function("() => !location.search.includes('without')")
    well(seen)


def test_another_mapping_is_shown_next_to_the_recorded_one(view: Callable[..., Visit]) -> None:
    seen = view("/network")
    seen.page.get_by_role("radio", name="cyclic", exact=True).check()
    seen.page.wait_for_url("**mapping=cyclic**")
    seen.page.wait_for_selector("text=/as it was; .* mapped cyclic/")
    go(seen, "What if")
    assert seen.page.input_value("#mapping") == "cyclic"
    well(seen)


def test_machines_are_side_by_side(view: Callable[..., Visit]) -> None:
    seen = view("/whatif?run=scorep-npb-is-A-nocomp-8.run")
    seen.page.locator("#machines").click()
    seen.page.get_by_role("option", name="alewife", exact=True).click()
    seen.page.wait_for_url("**machines=alewife**")
    seen.page.wait_for_selector("text=on alewife")
    drawn(seen)
    well(seen)


def test_the_form_selects_without_a_mouse(view: Callable[..., Visit]) -> None:
    seen = view("/")
    seen.page.locator("#selection summary").press("Enter")
    for field in ("from", "to", "ranks", "name"):
        assert seen.page.locator(f"#select-{field}").bounding_box()["width"] >= 80, f"{field} is too narrow to read"
    seen.page.fill("#select-ranks", "2-3")
    seen.page.fill("#select-from", "1 parsec")
    seen.page.locator("#select-apply").press("Enter")
    seen.page.wait_for_selector("text=write a time with its unit")
    seen.page.fill("#select-from", "1ms")
    seen.page.locator("#select-apply").press("Enter")
    seen.page.wait_for_url("**ranks=2-3**")
    assert query(seen)["from"] == ["1000000000"]


def test_a_named_selection_stays_and_a_step_leads_back(view: Callable[..., Visit]) -> None:
    seen = view("/messages")
    seen.page.locator("#selection summary").press("Enter")
    seen.page.fill("#select-ranks", "2-3")
    seen.page.fill("#select-name", "the <b>late</b> pair")
    seen.page.locator("#select-apply").press("Enter")
    seen.page.wait_for_url("**ranks=2-3**")
    seen.page.wait_for_selector("#step-back:enabled")
    seen.page.locator("#selection").get_by_text("Clear").click()
    seen.page.wait_for_function("() => !location.search.includes('ranks')")
    # A person reads the page before the next step: back at the first selection there is no step to go back.
    seen.page.wait_for_selector("#step-back:disabled", state="attached")
    seen.page.locator("#named-links").get_by_role("link", name="the <b>late</b> pair").click()
    seen.page.wait_for_url("**ranks=2-3**")
    go(seen, "Overview")
    # A name is forgotten also while the answer that draws the links anew is in flight.
    seen.page.evaluate("""() => {
        const soon = fetch;
        window.fetch = async (...of) => { await new Promise((on) => setTimeout(on, 300)); return soon(...of); };
    }""")
    seen.page.click("#step-back")
    seen.page.wait_for_function("() => !location.search.includes('ranks') && location.pathname === '/'")
    seen.page.locator("#named-links").get_by_role("button", name="Forget").click()
    seen.page.wait_for_function("() => !document.querySelector('#named-links a')")
    well(seen)


def test_a_click_on_a_group_of_ranks_opens_it(chromium: Any, tmp_path: Path) -> None:
    run = make_run(tmp_path / "many.run", ranks=96)
    scoped = SelectedRun(run, Selection())
    alike = scoped.behaving(64)
    assert alike.grouping
    first = ranks_text(rank_spans(alike, scoped)[0])
    with served(run.path) as at:
        for page, drag in (("/", ".barlayer"), ("/timeline", ".heatmaplayer")):
            seen = opened(chromium, at + page)
            area = seen.page.locator(f".js-plotly-plot:has({drag} *) .nsewdrag").last
            size = area.bounding_box()
            area.click(position={"x": 0.2 * size["width"], "y": size["height"] / alike.count / 2})
            seen.page.wait_for_url("**ranks=**")
            assert query(seen)["ranks"] == [first], page
            drawn(seen)
            well(seen)
            seen.page.context.close()


def ranks_text(spans: list[int]) -> str:
    """First, last, first, last ... as a URL has them."""
    return Selection(ranks=tuple(zip(spans[::2], spans[1::2], strict=True))).ranks_text


def test_a_run_without_findings_says_so_within_its_page(chromium: Any, tmp_path: Path) -> None:
    with served(make_run(tmp_path / "quiet.run", ranks=2, iterations=1, messages=False).path) as address:
        seen = opened(chromium, address)
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        seen.page.context.close()


def test_charts_draw_once(view: Callable[..., Visit]) -> None:
    """Margins hold the labels around a chart, so that plotly need not draw it again to make room."""
    seen = view("/messages")
    drawn = "[...document.querySelectorAll('.js-plotly-plot')].map(one => one._fullLayout._redrawFromAutoMarginCount)"
    assert [count for count in seen.page.evaluate(drawn) if count is not None] == []


def test_efficiencies_need_all_that_ranks_do(view: Callable[..., Visit]) -> None:
    seen = view("/timeline?path=3")
    seen.page.wait_for_selector("text=remove the call path from the selection")


def test_the_curve_of_an_estimated_machine_has_its_interval(view: Callable[..., Visit]) -> None:
    seen = view("/machine?run=scorep-npb-is-A-nocomp-8.run")
    assert "interval" in seen.page.locator("figure[data-chart='machine.curves'] .legend").text_content()


def test_the_map_of_overlap_follows_its_fields(view: Callable[..., Visit]) -> None:
    seen = view("/whatif?run=scorep-npb-is-A-nocomp-8.run&machine=piz_daint")
    seen.page.fill("#overlap-volume", "1MiB")
    seen.page.locator("#overlap-volume").press("Enter")
    seen.page.wait_for_url("**volume=1MiB**")
    seen.page.wait_for_selector("text=/1.00 MiB with .* of computation/")
    assert "Best: messages of" in seen.page.inner_text("figure:has-text('MiB with') figcaption")
    well(seen)


def test_the_search_finds_findings_and_regions(view: Callable[..., Visit]) -> None:
    seen = view("/timeline")
    for text, wanted in (("from every other rank", "finding=0"), ("exchange / MPI_Send", "path=2&")):
        seen.page.locator("#search").click()
        seen.page.keyboard.type(text)
        seen.page.get_by_role("option", name=text).first.click()
        seen.page.wait_for_url(f"**{wanted}**")
    well(seen)


def test_the_matrix_shows_the_time_of_one_part(view: Callable[..., Visit]) -> None:
    seen = view("/messages")
    seen.page.locator("#page .note").get_by_role("link", name="late sender", exact=True).click()
    seen.page.wait_for_url("**part=late_sender**")
    drawn(seen)
    seen.page.wait_for_selector("figure[data-chart='messages.matrix'] >> text=late sender, all messages")
    well(seen)


def test_a_double_click_shows_the_whole_time_again(view: Callable[..., Visit]) -> None:
    seen = view("/timeline?from=1000000000&to=4000000000")
    box = still(seen, seen.page.locator(".nsewdrag").first)
    seen.page.mouse.dblclick(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    seen.page.wait_for_function("() => !location.search.includes('from=')")


def test_another_run_starts_whole(view: Callable[..., Visit]) -> None:
    seen = view("/timeline?ranks=1")
    seen.page.locator("#run").click()
    seen.page.get_by_role("option", name="fast.run").click()
    seen.page.wait_for_url("**run=fast.run**")
    assert query(seen) == {"run": ["fast.run"]}
    well(seen)


def test_dark_and_light(view: Callable[..., Visit]) -> None:
    seen = view("/", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = seen.page.evaluate(ground)
    seen.page.click("#theme-button")
    seen.page.wait_for_function(f"() => {ground} !== '{dark}'")
    assert seen.page.evaluate("document.documentElement.dataset.theme") == "light"
    well(seen)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/?run=/etc", "no run is called /etc"),
        ("/timeline?ranks=99", "no rank of the run is in"),
        ("/nowhere", "there is no such page"),
        ("/?from=x", "from in the address is no number"),
    ],
)
def test_a_wrong_address_is_one_line(path: str, said: str, view: Callable[..., Visit]) -> None:
    seen = view(path)
    assert said in seen.page.inner_text("#page .banner >> nth=0")
    well(seen)


def test_a_damaged_run_is_one_line(chromium: Any, tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    (run.path / "accounting.parquet").write_bytes(b"PAR1 no table")
    with served(run.path) as at:
        seen = opened(chromium, at)
        assert "a table of the run cannot be read" in seen.page.inner_text("#page .banner")
        seen.page.context.close()


def test_names_of_a_trace_never_run_and_never_become_markup(chromium: Any, tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", names=hostile(), oversubscribed=True)
    other = make_run(tmp_path / "b.run")
    with served(run.path, other.path) as at:
        seen = opened(chromium, at)
        for page in PAGES:
            go(seen, page.TITLE)
            foreign = "#page img, #page iframe, #page svg a, #page script"
            assert seen.page.locator(foreign).count() == 0, page.NAME
            assert not seen.page.locator("#page svg text", has_text="49").filter(has_text="raw").count()
        go(seen, "Overview")
        assert HOSTILE[0] in seen.page.inner_text("#page")
        well(seen)
        seen.page.context.close()


def test_a_one_sided_call_shows_its_transfers(view: Callable[..., Visit]) -> None:
    seen = view("/timeline?run=scorep-shmem-stencil-4.run&call=117")
    seen.page.wait_for_selector("#page p:has-text('One-sided transfers that it starts or completes')")
    drawn(seen)
    rows = seen.page.locator("figure[data-chart='timeline.call'] .ytick").all_text_contents()
    assert any("LogGP, " in row for row in rows), rows
    well(seen)
