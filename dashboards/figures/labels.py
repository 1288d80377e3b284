"""Escape names for plotly, and format numbers that only figures need; other formats are the text report's.

Names come from a trace: they are data. Jinja2 escapes them in the page; plotly does not: it reads a small HTML
(`<b>`, `<br>`, `<a href>`, entities) in every label, so each name passes `plotly_text` before it reaches a figure.
"""

from __future__ import annotations

import html
import math
import re

from logpost.analyzer.words.units import SMALLEST, from_a_word, safe, shorten, to_a_word


def visible(name: str, limit: int = 400) -> str:
    """A name whose every character shows, at most `limit` long; the middle is cut, between words where it has any,
    because the ends say most."""
    shown = safe(name)
    if len(shown) <= limit:
        return shown
    tail = (limit - 1) // 2
    return f"{to_a_word(shown, limit - 1 - tail)}…{from_a_word(shown, len(shown) - tail)}"


_UNIT = r"(?:%|×|[pnµm]?s(?:/B)?|(?:[KMGT]i)?B)(?![\w/])"
_QUANTITY = re.compile(rf"± \S+(?: {_UNIT})?|(?<!\S)\(?[<~]?\d[\d.,]* {_UNIT}")


def tied(text: str) -> str:
    """A text whose lines break in no quantity: ± stays with its number, and a number with its unit."""
    return _QUANTITY.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def prose(text: str) -> str:
    """Sentences with names in them: every character shows, and only what no reader would read is left out.

    A name may be as long as a trace likes; a sentence that is cut in the middle says nothing.
    """
    return tied(visible(" ".join(visible(word, 400) for word in text.split(" ")), 4000))


def plotly_text(name: str, limit: int = 60) -> str:
    """A name for a plotly label: shortened first, then escaped, so that no tag or entity of its own survives."""
    return html.escape(visible(name, limit), quote=False)


def path_text(path: str, limit: int = 60) -> str:
    """A call path for a plotly label: its end stays whole, which is the call that one looks for."""
    return html.escape(shorten(safe(path), limit), quote=False)


def significant(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits, grouped by thousands, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if abs(value) < SMALLEST:
        return f"{'−' if value < 0 else ''}<{SMALLEST:.4f}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def grouped(count: float) -> str:
    """An integer grouped by thousands."""
    return f"{int(count):,}"


def time_unit(ps: float) -> tuple[float, str]:
    """Factor and name of the unit in which an axis up to `ps` reads well."""
    units = ((1e12, "s"), (1e9, "ms"), (1e6, "µs"), (1e3, "ns"))
    return next(((f, u) for f, u in units if ps >= 2 * f), (1.0, "ps"))
