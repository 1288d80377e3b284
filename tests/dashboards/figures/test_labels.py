"""Names that plotly cannot misread, and numbers for axes."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.dashboards.figures.labels import (
    grouped,
    path_text,
    plotly_text,
    prose,
    significant,
    tied,
    time_unit,
    visible,
)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ('<a href="javascript:1">', '&lt;a href="javascript:1"&gt;'),
        ("a<br>b", "a&lt;br&gt;b"),
        ("&lt;i&gt;", "&amp;lt;i&amp;gt;"),
        ("std::map<int, T&&>", "std::map&lt;int, T&amp;&amp;&gt;"),
    ],
)
def test_markup_of_a_name_is_text(name: str, shown: str) -> None:
    assert plotly_text(name) == shown


@given(st.text(max_size=300), st.integers(8, 80))
def test_every_name_is_short_visible_and_free_of_tags(name: str, limit: int) -> None:
    label = plotly_text(name, limit)
    assert "<" not in label
    assert ">" not in label
    # What is read back is what `visible` shows: nothing was cut inside an entity.
    assert html.unescape(label) == visible(name, limit)
    assert len(visible(name, limit)) <= limit
    assert visible(name, limit).isprintable() or " " in visible(name, limit) or max(visible(name, limit)) >= "\u00a0"


def test_the_middle_of_a_long_name_gives_way() -> None:
    # 7 characters: 3 of the end, the ellipsis, 3 of the beginning.
    assert visible("abcdefghij", 7) == "abc…hij"


def test_control_and_bidi_characters_show_as_replacement() -> None:
    assert visible("a\nb\u202ec\u2028") == "a\ufffdb\ufffdc\ufffd"


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(0.0, 3, "0"), (3.0, 4, "3.000"), (0.12204, 4, "0.1220"), (4096.0, 4, "4,096"), (65536.0, 3, "65,536")],
)
def test_significant_digits(value: float, digits: int, shown: str) -> None:
    assert significant(value, digits) == shown


@pytest.mark.parametrize(
    ("length_ps", "unit"), [(1, "ps"), (5e3, "ns"), (1.5e9, "µs"), (2e9, "ms"), (1.9e12, "ms"), (3e12, "s")]
)
def test_axis_unit_gives_at_least_two_of_itself(length_ps: float, unit: str) -> None:
    # 1.5 ms reads as 1500 µs on an axis, 2 ms as 2 ms: from two units on, the larger one.
    assert time_unit(length_ps)[1] == unit


def test_integers_are_grouped() -> None:
    assert grouped(1234567) == "1,234,567"


def test_an_uncertainty_stays_on_a_line() -> None:
    """With what it belongs to: only the spaces within it do not break."""
    tie = "\N{NO-BREAK SPACE}"
    assert tied("saves 9.1 %, ± 1.8 %") == f"saves 9.1{tie}%, ±{tie}1.8{tie}%"
    assert tied("76.6 B meet 3.4 × as many in <0.1 s") == f"76.6{tie}B meet 3.4{tie}× as many in <0.1{tie}s"
    assert tied("step 3 sends 5 Bytes") == "step 3 sends 5 Bytes"
    assert tied("(± 20.0 ns/B) or ± 3 of them") == f"(±{tie}20.0{tie}ns/B) or ±{tie}3 of them"
    assert prose("5 ms ± 1 ms.") == f"5{tie}ms ±{tie}1{tie}ms."


def test_a_name_is_cut_between_words() -> None:
    assert visible("Ranks 0-15 send to the same rank at once in MPI_Waitany", 32) == "Ranks 0-15 send … in MPI_Waitany"
    # One word alone is cut in it.
    assert visible("exchange_the_halo_of_all_planes", 12) == "exchan…lanes"


def test_a_call_path_keeps_its_call() -> None:
    path = "channel_send / … / MPI_Waitany (messages.c:86)"
    assert path_text(path, 60) == path
    assert path_text(path, 44) == "… / … / MPI_Waitany (messages.c:86)"
    assert path_text("main / <b>", 8) == "… / &lt;b&gt;"
