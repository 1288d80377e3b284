"""Messages whose cost the machine's tables had to be continued for, as counters of the manifest."""

from __future__ import annotations

from typing import Protocol

from logpost.analyzer.run.manifest import QualityCount


class Counted(Protocol):
    """An analysis, as far as it counts them."""

    @property
    def beyond_sizes(self) -> int:
        """Messages of which some term was read beyond the largest measured size or number of blocks."""

    @property
    def beyond_strides(self) -> int:
        """Messages whose stride is larger than the largest measured one."""


def extrapolated(analysis: Counted) -> list[QualityCount]:
    """A counter of each kind that some message is of."""
    counts = (
        ("beyond_measured_sizes", analysis.beyond_sizes, "sizes (or numbers of blocks)"),
        ("beyond_measured_strides", analysis.beyond_strides, "strides"),
    )
    return [
        QualityCount(
            name=name,
            severity="info",
            blame="analysis",
            count=count,
            sentence=f"messages beyond the machine's measured {what}: their terms are extrapolated",
        )
        for name, count, what in counts
        if count
    ]
