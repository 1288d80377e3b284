"""A roofline as one JSON object: seconds as floats, of the busiest rank."""

from __future__ import annotations

import math
from typing import Any

from logpost.analyzer.predict.roofline import Roofline
from logpost.analyzer.render.report.json import PS_PER_S


def as_json(found: Roofline) -> dict[str, Any]:
    """The object that `logpost roofline RUN --json` prints; its keys are a promise to scripts."""
    return {
        "machine": found.machine,
        "notes": list(found.notes),
        "regions": [
            {
                "region": roof.region,
                "where": roof.where,
                "ranks": roof.ranks,
                "messages": roof.messages,
                "bytes": roof.bytes,
                "rounds": roof.rounds,
                "rank_bytes": roof.rank_bytes,
                "time_s": roof.time_ps / PS_PER_S,
                "limits_s": {name: limit / PS_PER_S for name, limit in roof.limits_ps.items()},
                "roof_s": roof.roof_ps / PS_PER_S,
                "limit": roof.limit,
                "distance": _finite(roof.distance),
                "achieved_bytes_per_s": _finite(roof.achieved_bytes_per_s),
            }
            for roof in found.roofs
        ],
        "ceilings": [
            {
                "where": one.where,
                "bytes": list(one.sizes),
                "one_at_a_time_bytes_per_s": [_finite(rate) for rate in one.one_at_a_time],
                "pipelined_bytes_per_s": [_finite(rate) for rate in one.pipelined],
            }
            for one in found.ceilings
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
