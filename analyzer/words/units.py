"""Format numbers with their units, and make names from a trace safe for a terminal."""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal

_TIMES = ((10**12, "s"), (10**9, "ms"), (10**6, "µs"), (10**3, "ns"), (1, "ps"))
_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def _three_digits(value: float) -> str:
    """A number from 0 up to a few thousands with three significant digits: 1.23, 12.3, 123, 1230."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def time_text(ps: float) -> str:
    """Picoseconds as ps, ns, µs, ms or s with three significant digits; the sign is kept."""
    sign, size = ("-" if ps < 0 else ""), abs(ps)
    if size < 0.5:
        return "0 s"
    for factor, unit in _TIMES:
        # 999.6 ns reads better as 1.00 µs than as 1000 ns, so the step is taken where rounding would reach it.
        if size >= 0.9995 * factor:
            return f"{sign}{_three_digits(size / factor)} {unit}" if unit != "ps" else f"{sign}{size:.0f} ps"
    return f"{sign}{size:.0f} ps"


def three_digits(value: float) -> str:
    """A number with three significant digits and no exponent.

    >>> three_digits(1234.5), three_digits(0.00012345)
    ('1230', '0.000123')
    """
    return f"{Decimal(f'{value:.3g}'):f}"


def span_text(begin_ps: float, end_ps: float) -> str:
    """From when to when, in one unit, with the digits that distinguish the two.

    >>> span_text(1_550_200_000_000, 1_554_350_000_000)
    '1.5502 s to 1.5543 s'
    """
    if end_ps <= begin_ps:
        return f"{time_text(begin_ps)} to {time_text(end_ps)}"
    factor, unit = next(((f, u) for f, u in _TIMES if end_ps >= f), _TIMES[-1])
    # Two significant digits of the length, three of the end.
    finest = min((end_ps - begin_ps) / 10, end_ps / 100) / factor
    places = max(0, -math.floor(math.log10(finest))) if unit != "ps" else 0
    return f"{begin_ps / factor:.{places}f} {unit} to {end_ps / factor:.{places}f} {unit}"


PS = {"ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}


def quantity_text(value: float, unit: str) -> str:
    """A machine's value: times and times per byte in the unit that reads best, sizes as such, others as they are.

    >>> quantity_text(45910.0, "ps/B")
    '45.9 ns/B'
    """
    base, _, per = unit.partition("/")
    if base in PS and per in ("", "B"):
        ps = value * PS[base]
        # Below a nanosecond (a byte's gap) whole picoseconds would be too coarse.
        text = f"{plain_text(ps, 3)} ps" if 0 < abs(ps) < 999.5 else time_text(ps).replace("0 s", "0 ps")
        return f"{text}/{per}" if per else text
    if unit == "B":
        return bytes_text(value)
    return plain_text(value, 4) if unit in ("", "1") else f"{plain_text(value, 4)} {unit}"


SMALLEST = 1e-4
"""Of a value in its own unit: what is below is noise of a fit or of rounding, and its digits would say nothing."""


def plain_text(value: float, digits: int) -> str:
    """A number with so many significant digits and never a power of ten: 3.12e-18 reads as <0.0001.

    >>> plain_text(2220.0, 3)
    '2220'
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) < SMALLEST:
        return f"{'-' if value < 0 else ''}<{SMALLEST:.4f}"
    rounded = float(f"{value:.{digits}g}")
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{value:,.{places}f}" if abs(rounded) >= 10_000 else f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bytes_text(count: float) -> str:
    """Bytes as B, KiB, MiB, ... with three significant digits; whole bytes below 1 KiB stay whole."""
    for factor, unit in _SIZES:
        if abs(count) >= factor and unit != "B":
            return f"{_three_digits(count / factor)} {unit}"
    return f"{count:.0f} B" if float(count).is_integer() else f"{count:.1f} B"


def exact_bytes_text(count: int) -> str:
    """Bytes in the largest unit in which they are whole, so that 1032 B does not read as 1 KiB.

    >>> exact_bytes_text(4096), exact_bytes_text(4040)
    ('4 KiB', '4040 B')
    """
    return next(
        (f"{count // factor} {unit}" for factor, unit in _SIZES if count >= factor and count % factor == 0),
        f"{count} B",
    )


LEAST_SHOWN = 0.0005
"""Below this fraction, per cent with one decimal shows no digit."""


def percent_text(fraction: float) -> str:
    """A fraction as per cent with one decimal; a small one that is not zero never reads as zero."""
    if fraction != 0 and abs(fraction) < LEAST_SHOWN:
        return "<0.1 %" if fraction > 0 else "-<0.1 %"
    return f"{100 * fraction:.1f} %"


def change_text(fraction: float, minus: str = "−") -> str:
    """A relative change as per cent with its sign; in words where one decimal does not show it.

    >>> change_text(-0.125), change_text(0.0), change_text(0.0002)
    ('−12.5 %', '0.0 %', 'less than 0.1 % more')
    """
    if fraction != 0 and abs(fraction) < LEAST_SHOWN:
        return f"less than 0.1 % {'more' if fraction > 0 else 'less'}"
    return f"{'+' if fraction > 0 else minus if fraction < 0 else ''}{percent_text(abs(fraction))}"


def count_text(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: `1 message`, `12,345 messages`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def sentence_text(text: str) -> str:
    """A text that begins a line, with a capital; what begins with a name such as o_s or a number stays."""
    word = text.split(" ", 1)[0].strip(",:")
    plain = word.isalpha() or all(part.isalpha() and len(part) > 1 for part in word.split("-"))
    return text[:1].upper() + text[1:] if plain else text


def safe(name: str) -> str:
    """A name from a trace without anything that a terminal would obey or not show (escape sequences, bidi
    overrides)."""
    if name.isprintable():  # no character of these categories, nor another space: nearly every name
        return name
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _UNSEEN else c for c in name)


def shorten(name: str, limit: int) -> str:
    """A name of at most `limit` characters; a call path keeps its end, which says where one is."""
    return name if len(name) <= limit else "…" + from_a_word(name, len(name) - limit + 1)


def from_a_word(name: str, begin: int) -> str:
    """The rest of a name from `begin` on, from its next word where that keeps half: words are cut only where they are
    longer."""
    rest = name[begin:]
    word = re.match(r"\w+", rest)
    inside = word.end() if word is not None and re.match(r"\w", name[begin - 1 : begin]) else 0
    return rest[inside:] if inside <= len(rest) // 2 else rest


def to_a_word(name: str, end: int) -> str:
    """A name up to `end`, likewise."""
    return from_a_word(name[::-1], len(name) - end)[::-1]
