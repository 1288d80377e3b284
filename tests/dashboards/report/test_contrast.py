"""Text can be read on its background, in both themes: 4.5 : 1 at least (WCAG 2.2, success criterion 1.4.3)."""

from __future__ import annotations

import re

import pytest

from logpost.dashboards.report.html import TEMPLATES

AA = 4.5
CSS = (TEMPLATES / "page.css").read_text(encoding="utf-8")
PAIRS = [
    ("ink", "paper"),
    ("ink", "ground"),
    ("soft", "paper"),
    ("soft", "ground"),
    ("accent", "paper"),
    ("accent", "ground"),
    ("accent", "quiet-bg"),
    ("ink", "quiet-bg"),
    ("ink", "loud-bg"),
    ("ink", "code"),
    ("loud-ink", "paper"),
    ("paper", "accent"),
]
"""Text, and what is below it."""


def luminance(colour: str) -> float:
    """WCAG's relative luminance of #rrggbb."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [":root", ':root[data-theme="dark"]', ':root:not([data-theme="light"])'])
def test_text_can_be_read(theme: str) -> None:
    block = re.search(re.escape(theme) + r" \{(.*?)\}", CSS, re.DOTALL)
    assert block is not None
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))
    low = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in PAIRS}
    assert {pair: value for pair, value in low.items() if value < AA} == {}


def test_what_marks_an_estimate_has_an_ink_of_text() -> None:
    """A border may be as light as 3 : 1; its text may not."""
    assert re.search(r"\.chip\.estimated \{[^}]* color: var\(--loud-ink\)", CSS)


def test_the_luminance_is_wcags() -> None:
    """Black on white is 21 : 1; #767676 is the lightest grey that white bears at 4.5 : 1."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") >= AA > contrast("#777777", "#ffffff")
