"""The pages: each places figures and tables, and computes nothing itself."""

from __future__ import annotations

from typing import Any

from logpost.dashboards.app.pages import (
    compare,
    hotspots,
    machine,
    messages,
    network,
    overview,
    regions,
    timeline,
    whatif,
)
from logpost.dashboards.app.view import ChartMaker

PAGES: tuple[Any, ...] = (overview, hotspots, timeline, messages, regions, whatif, machine, network, compare)
"""In the order of the navigation; each is a `view.Page`."""


def by_name() -> dict[str, Any]:
    """Each page by its name in the URL."""
    return {page.NAME: page for page in PAGES}


def chart_makers() -> dict[str, ChartMaker]:
    """What computes each chart of the pages, by the chart's name."""
    return {name: make for page in PAGES for name, make in page.CHARTS.items()}
