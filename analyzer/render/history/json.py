"""A history as one JSON object; times are seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logpost.analyzer.compare.history import Entry
from logpost.analyzer.render.report.json import PS_PER_S


def as_json(found: Sequence[Entry]) -> dict[str, Any]:
    """The object that `logpost history show FILE --json` prints; its keys are a promise to scripts."""
    return {
        "runs": [
            {
                "label": one.label,
                "added": one.added.isoformat(),
                "run": one.run,
                "ranks": one.ranks,
                "machine": one.machine,
                "program_s": one.program_ps / PS_PER_S,
                "ranks_s": one.ranks_ps / PS_PER_S,
                "lost": one.lost,
                "finding": one.finding,
                "gain": one.gain,
                "exposed_s": {name: time / PS_PER_S for name, time in one.exposed_ps.items()},
            }
            for one in found
        ]
    }
