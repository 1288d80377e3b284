"""Names and numbers as people read them, and as plotly may see them.

Names come from a trace: they are data. Jinja2 escapes them in the page; plotly does not: it reads a small HTML
(`<b>`, `<br>`, `<a href>`, entities) in every label, so each name passes `plotly_text` before it reaches a figure.
"""

from __future__ import annotations

import html
import math
import unicodedata

_TIME = ((1e12, "s"), (1e9, "ms"), (1e6, "µs"), (1e3, "ns"), (1.0, "ps"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that draw nothing or reorder text (control, bidi overrides, line separators, unassigned)."""


def visible(name: str, limit: int = 400) -> str:
    """A name whose every character shows, at most `limit` long; the middle gives way, because the ends tell most."""
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _HIDDEN else c for c in name)
    if len(shown) <= limit:
        return shown
    tail = (limit - 1) // 2
    return f"{shown[: limit - 1 - tail]}…{shown[len(shown) - tail :]}"


def plotly_text(name: str, limit: int = 60) -> str:
    """A name for a plotly label: shortened first, then escaped, so that no tag or entity of its own survives."""
    return html.escape(visible(name, limit), quote=False)


def significant(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits, grouped by thousands, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def _scaled(value: float, units: tuple[tuple[float, str], ...], digits: int) -> str:
    # 999.6 ms must read "1.00 s", so the unit is chosen after rounding.
    rounded = float(f"{value:.{digits - 1}e}")
    factor, unit = next(((f, u) for f, u in units if abs(rounded) >= f), units[-1])
    return f"{significant(rounded / factor, digits)} {unit}"


def time_text(ps: float, digits: int = 3) -> str:
    """Picoseconds as ps, ns, µs, ms or s."""
    return "0 s" if ps == 0 else _scaled(ps, _TIME, digits)


def bytes_text(count: float, digits: int = 3) -> str:
    """Bytes with decimal prefixes; whole bytes below 1 kB."""
    return f"{count:.0f} B" if abs(count) < 1000 and count == int(count) else _scaled(count, _BYTES, digits)


def share_text(share: float) -> str:
    """A fraction as per cent: one decimal below 10 %, and "< 0.1 %" instead of a nought that is none."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def count_text(count: float) -> str:
    """An integer grouped by thousands."""
    return f"{int(count):,}"


def time_unit(ps: float) -> tuple[float, str]:
    """Factor and name of the unit in which an axis up to `ps` reads well."""
    return next(((f, u) for f, u in _TIME if ps >= 2 * f), _TIME[-1])
