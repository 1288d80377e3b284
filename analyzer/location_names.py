"""What people call the locations of a trace."""

from __future__ import annotations

import polars as pl


def location_names(locations: pl.DataFrame) -> dict[int, str]:
    """Location → what people call it: its rank where that names it, else its name in the archive."""
    shared = set(locations.filter(pl.col("rank").is_duplicated())["rank"])
    return {
        location: f"rank {rank}" if rank >= 0 and rank not in shared else name
        for location, rank, name in locations.select("location", "rank", "name").iter_rows()
    }
