"""A chart of a view is made once; another view, and a chart that failed, are made anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.figure_cache import FigureCache
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart, figure
from logpost.errors import InputError


def test_charts_are_made_once_for_a_view(tmp_path: Path) -> None:
    runs, made, calls = Runs([make_run(tmp_path / "a.run").path]), FigureCache(most=2), list[str]()

    def make(view: View) -> Chart:
        calls.append(view.state.search)
        if view.state.selection.ranks == ((9, 9),):
            raise InputError("nothing to draw")
        return Chart(figure(), f"of {view.state.search}")

    def ask(search: str) -> str:
        return made.of("one", make, View(runs, read("/timeline", search)))[1]

    assert [ask(""), ask("?ranks=1"), ask("")] == ["of ", "of ?ranks=1", "of "]
    assert calls == ["", "?ranks=1"]
    for _ in range(2):
        with pytest.raises(InputError, match="nothing to draw"):
            ask("?ranks=9")
    assert calls[2:] == ["?ranks=9", "?ranks=9"]
    # Two are kept, and the whole run was requested last: ranks 1 is dropped.
    ask("?ranks=2")
    ask("")
    ask("?ranks=1")
    assert calls[4:] == ["?ranks=2", "?ranks=1"]
    # A chart that its page carries counts as requested, too.
    view = View(runs, read("/timeline", ""))
    assert made.known("one", view) is not None
    ask("?ranks=3")
    assert made.known("one", view) is not None
    assert made.known("one", View(runs, read("/timeline", "?ranks=1"))) is None
