"""The pages: each places figures and tables, and computes nothing itself."""

from __future__ import annotations

from typing import Any

from logpost.dashboards.app.pages import hotspots, overview, timeline

PAGES: tuple[Any, ...] = (overview, hotspots, timeline)
"""In the order of the navigation; each is a `view.Page`."""
