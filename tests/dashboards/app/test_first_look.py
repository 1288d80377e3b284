"""The first HTML shows a page that was made, as its components say, and nothing of a run becomes markup in it."""

from __future__ import annotations

import collections
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from dash import dcc, html
from tests.dashboards.synthetic import Names, make_run

from logpost.dashboards.app.app import make_app
from logpost.dashboards.app.first_look import first_look
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View

EVIL = "</script><script>alert(1)</script>{%scripts%}"


def _look(*children: object) -> str:
    """HTML of components, without what is around all of them."""
    text = first_look(html.Div([html.Div(id="page")], className="app"), {"page": list(children)})
    before, after = '<div id="first-look" inert><div class="app"><div>', "</div></div></div>"
    assert text.startswith(before)
    return text[len(before) : text.rindex(after)]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (html.P(["a < b", html.B(3), None], className="lead"), '<p class="lead">a &lt; b<b>3</b></p>'),
        (html.I(style={"width": "7.5%", "minHeight": "3px"}), '<i style="width:7.5%;min-height:3px"></i>'),
        (html.Td("x", colSpan=2, id="own", tabIndex=0), '<td colspan="2">x</td>'),
        (dcc.Link('"go"', href='/a?b=1&c="'), '<a href="/a?b=1&amp;c=&quot;">&quot;go&quot;</a>'),
        (html.Button("Back", disabled=True), '<button disabled="">Back</button>'),
        (dcc.Input(id="from", type="text", placeholder="0 s"), '<input placeholder="0 s">'),
        (
            dcc.RadioItems([{"label": "by rank", "value": 0}], className="switch"),
            '<div class="switch"><label>by rank</label></div>',
        ),
        (
            dcc.Dropdown([{"label": "a", "value": 0}, {"label": "other", "value": 1}], 1, className="runs"),
            '<div class="runs still">other</div>',
        ),
        (dcc.Dropdown([], placeholder="Region"), '<div class="still">Region</div>'),
        (dcc.Interval(interval=1), ""),
        (dcc.Store(id="colours", data={"a": EVIL}), None),
        (dcc.Store(id={"part": "payload", "chart": "c"}, data={"x": 1}), ""),
        (
            html.Figure(dcc.Store(id={"part": "payload", "chart": "c"}, data={"x": 1}), className="chart sketched"),
            '<figure class="chart sketched"><script type="application/json" class="payload">{"x": 1}</script></figure>',
        ),
    ],
)
def test_components_become_html(part: object, expected: str | None) -> None:
    text = _look(part)
    if expected is not None:
        assert text == expected
        return
    assert text.count("<script") == text.count("</script") == 1
    assert json.loads(text[text.index(">") + 1 : text.rindex("</script")]) == {"a": EVIL}


class _Texts(HTMLParser):
    """What is on a page, and how many scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.sources.append(dict(attrs).get("src") or dict(attrs).get("type") or "")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_page_comes_with_the_first_html_once_it_was_made(tmp_path: Path) -> None:
    names = Names(label=EVIL)
    runs = Runs([make_run(tmp_path / "a.run", names=names).path])
    client = make_app(runs).server.test_client()
    before = _Texts()
    before.feed(client.get("/").get_data(as_text=True))
    assert "first-look" not in client.get("/").get_data(as_text=True)
    runs.figures.mark_shown(View(runs, read("/", "")))
    after = _Texts()
    after.feed(client.get("/").get_data(as_text=True))
    # Other pages, and other selections, may take their time.
    assert "first-look" not in client.get("/?ranks=0").get_data(as_text=True)
    assert "first-look" not in client.get("/timeline").get_data(as_text=True)
    assert EVIL in after.texts
    own = collections.Counter(after.sources) - collections.Counter(before.sources)
    assert own == {"application/json": 1, "/_logpost/stand_in.js": 1}  # the colours, no chart being known
    assert after.tags.count("h1") == 1
    assert "Findings" in after.texts
