"""The What if page's map of two parameters: what a page does not wait for is refused before anything is replayed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from logpost.analyzer.predict.whatif import Ask
from logpost.dashboards.app.pages import whatif_grid
from logpost.errors import InputError


def test_more_cells_than_a_page_waits_for_are_refused() -> None:
    view: Any = SimpleNamespace(state=SimpleNamespace(more={"grid": "L=1us:100us:40,G=1ns/B:9ns/B:30"}))
    replay: Any = None
    with pytest.raises(InputError, match=r"1,200 cells; .* at most 256: use logpost whatif --grid --html"):
        whatif_grid.over(view, replay, Ask())
