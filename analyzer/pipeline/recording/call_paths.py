"""Callers that call paths lack, as the archive states it: beyond `record --stack`, and in code of no loaded object."""

from __future__ import annotations

from collections.abc import Mapping

from logpost.analyzer.pipeline.recording.overwritten import stated_counts
from logpost.analyzer.run.manifest import QualityCount

_COUNTERS = (
    (
        "CUT_CALL_PATHS",
        "cut_call_paths",
        "calls with more callers than record keeps (--stack, 16 by default); their call paths begin at the outermost "
        "caller that was kept",
    ),
    (
        "UNNAMED_CALLERS",
        "unnamed_callers",
        "calls with callers in code of no loaded object, such as a JIT compiler's; their call paths lack these callers",
    ),
)


def call_path_counts(properties: Mapping[str, str]) -> list[QualityCount]:
    """A counter of each kind of caller that call paths lack."""
    return stated_counts(properties, _COUNTERS)
