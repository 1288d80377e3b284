"""The URL states the value of a field; a value that changes nothing, or cannot be read, leaves the URL as it is."""

from __future__ import annotations

import dash

from logpost.dashboards.app.picking import having


def test_another_value_is_in_the_query_and_the_same_one_changes_nothing() -> None:
    assert having("/whatif", "?run=a&ranks=1-2", grid="L=1us:2us:2") == "?run=a&ranks=1-2&grid=L%3D1us%3A2us%3A2"
    assert having("/whatif", "?ranks=1-2&grid=x", grid="x") is dash.no_update
    assert having("/whatif", "?grid=x", grid="") == ""


def test_a_query_that_cannot_be_read_stays() -> None:
    assert having("/whatif", "?from=tomorrow", grid="x") is dash.no_update
