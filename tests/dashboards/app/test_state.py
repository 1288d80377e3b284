"""A selection survives its URL, and what cannot be read is refused with what to do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.dashboards.app.selection_bar import chosen_by, moment
from logpost.dashboards.app.state import State, read
from logpost.dashboards.selection.selection import Selection, parse, spans_of
from logpost.errors import InputError

RANKS = st.sets(st.integers(0, 10_000), max_size=30).map(spans_of)
SELECTIONS = st.builds(
    lambda times, ranks, path: Selection(min(times, default=None), max(times, default=None), ranks, path),
    st.just(set()) | st.sets(st.integers(0, 10**17), min_size=2, max_size=2),
    RANKS,
    st.none() | st.integers(0, 10**6),
)


@given(SELECTIONS, st.sampled_from(["", "timeline"]), st.text(max_size=20))
def test_a_view_survives_its_url(selection: Selection, page: str, name: str) -> None:
    state = State(page, "a b&c", selection, {"name": name} if name else {})
    assert read(f"/{page}", state.search) == state


def test_consecutive_ranks_are_one_span() -> None:
    assert spans_of([5, 1, 2, 3, 9]) == ((1, 3), (5, 5), (9, 9))
    assert Selection(ranks=((1, 3), (5, 5))).ranks_text == "1-3,5"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"from": "1", "to": "1"}, "1 ps, is not before its end"),
        ({"from": "-1"}, "from in the address is no number"),
        ({"to": "1e3"}, "to in the address is no number"),
        ({"ranks": "1;2"}, "ranks cannot be read; write ranks=0,3-5"),
        ({"ranks": "5-3"}, "ends before it begins"),
        ({"ranks": ",".join(["1"] * 5001)}, "more than 5000 spans"),
        ({"path": "../x"}, "path in the address is no number"),
    ],
)
def test_what_cannot_be_read_is_refused(query: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(query)


def test_the_form_reads_times_with_units() -> None:
    assert [moment(text) for text in ("1.5 ms", "2s", "", None)] == ["1500000000", "2000000000000", None, None]
    with pytest.raises(InputError, match="write a time with its unit"):
        moment("5")
    state = chosen_by(State("timeline", selection=Selection(callpath=3)), "1us", "2us", "0, 4-6", " start ")
    assert state.selection == Selection(10**6, 2 * 10**6, ((0, 0), (4, 6)), 3)
    assert state.more == {"name": "start"}
