"""A program's growth as one JSON object: seconds of a rank as floats."""

from __future__ import annotations

from typing import Any

from logpost.analyzer.predict.scale import Scaling
from logpost.analyzer.predict.scale.scaling import Point
from logpost.analyzer.render.report.json import PS_PER_S


def as_json(found: Scaling) -> dict[str, Any]:
    """The object that `logpost scale --json` prints; its keys are a promise to scripts."""
    return {
        "runs": [
            {
                "run": path,
                "ranks": ranks,
                "times_s": {one.name: one.measured[i].mean / PS_PER_S for one in found.categories},
                "most_s": {one.name: one.measured[i].most / PS_PER_S for one in found.categories},
            }
            for i, (path, ranks) in enumerate(zip(found.runs, found.sizes, strict=True))
        ],
        "machine": found.machine,
        "to": found.target,
        "replayed": found.pattern or None,
        "total": [_point(one) for one in found.total],
        "categories": [
            {
                "category": one.name,
                "growth": one.growth.best.text,
                "constant_s": one.growth.best.constant / PS_PER_S,
                "error": one.growth.error,
                "also_admissible": [other.text for other in one.growth.admissible if other != one.growth.best],
                "points": [_point(point) for point in one.points],
            }
            for one in found.categories
        ],
        "dominating": [{"from_ranks": one.ranks, "category": one.category} for one in found.dominating],
        "may_dominate_too": None if found.runner_up is None else found.runner_up.name,
        "counts": [
            {"count": one.name, "of_the_busiest_rank": list(one.values), "grows_like": one.term}
            for one in found.structure.counts
        ],
        "notes": list(found.notes),
    }


def _point(one: Point) -> dict[str, Any]:
    return {
        "ranks": one.ranks,
        "mean_s": one.mean / PS_PER_S,
        "interval_s": [one.low / PS_PER_S, one.high / PS_PER_S],
        "most_s": one.most / PS_PER_S,
    }
