"""Options of the command line are not broken at their hyphens, and keep their characters."""

from __future__ import annotations

from dash import html

from logpost.dashboards.app.panels import sentence
from logpost.dashboards.figures.options import marked, pieces
from logpost.dashboards.report.html import TEMPLATES


def test_options_are_distinguished_from_the_sentence() -> None:
    text = "Analyze with --clock clc; a machine (--machine FILE) divides --fail-if's sum -- not: a--b, x/--c--d."
    assert pieces(text)[1::2] == ["--clock", "--machine", "--fail-if"]
    assert "".join(pieces(text)) == text


def test_a_name_that_is_longer_than_a_line_may_break() -> None:
    assert pieces(f"--{'a' * 300}")[1::2] == []


def test_an_option_is_marked_in_a_page_and_everything_else_escaped() -> None:
    assert marked("<b> --clock clc & on") == '&lt;b&gt; <span class="option">--clock</span> clc &amp; on'


def test_an_option_is_marked_in_the_dashboard() -> None:
    assert sentence("no option") == "no option"
    shown = sentence("with --clock clc")
    assert isinstance(shown, html.Span)
    before, option, after = shown.children
    assert (before, option.children, option.className, after) == ("with ", "--clock", "option", " clc")


def test_what_is_marked_does_not_break() -> None:
    assert ".option { white-space: nowrap; }" in (TEMPLATES / "page.css").read_text(encoding="utf-8")
