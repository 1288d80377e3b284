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

PAGES: tuple[Any, ...] = (overview, hotspots, timeline, messages, regions, whatif, machine, network, compare)
"""In the order of the navigation; each is a `view.Page`."""
