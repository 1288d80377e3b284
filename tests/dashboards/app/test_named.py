"""Named selections: kept by run, the oldest give way, and what a browser kept is data."""

from __future__ import annotations

from typing import Any

from logpost.dashboards.app.named import LONGEST, MOST, keep, kept_of, links
from logpost.dashboards.app.state import State
from logpost.dashboards.selection.selection import Selection

CHOSEN = Selection(5, 9, ((0, 3),), None)


def test_a_name_leads_back_to_its_selection_on_any_page() -> None:
    kept = keep(None, "a.run", "first iteration", CHOSEN)
    assert kept == {"a.run": {"first iteration": "from=5&to=9&ranks=0-3"}}
    _, part = links(kept["a.run"], State("messages", more={"message": "0:1"}))
    link, forget = part.children
    assert link.href == "/messages?from=5&to=9&ranks=0-3&message=0%3A1&name=first+iteration"
    assert link.className == ""
    assert getattr(forget, "data-name") == "first iteration"
    assert links(kept["a.run"], State(selection=CHOSEN))[1].children[0].className == "here"


def test_another_selection_has_no_name_yet() -> None:
    named = State(selection=CHOSEN, more={"name": "it", "finding": "0"})
    assert named.selecting(Selection()).more == {"finding": "0"}


def test_the_oldest_names_give_way_and_runs_are_apart() -> None:
    kept: Any = {"b.run": {"other": "ranks=1"}}
    for number in range(MOST + 2):
        kept = keep(kept, "a.run", f"name {number}", CHOSEN)
    assert len(kept["a.run"]) == MOST
    assert "name 1" not in kept["a.run"]
    assert kept["b.run"] == {"other": "ranks=1"}


def test_what_cannot_be_read_is_left_out() -> None:
    stored = {"a.run": {"good": "ranks=1", "bad": "ranks=x", "none": 3, "n" * 99: "from=1"}, "b.run": "text"}
    assert kept_of(stored) == {"a.run": {"good": "ranks=1", "n" * LONGEST: "from=1"}}
    assert kept_of("text") == {}
    assert kept_of(None) == {}
