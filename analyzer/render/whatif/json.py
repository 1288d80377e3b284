"""A prediction as an object of plain values, for scripts; times in picoseconds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from logpost.analyzer.predict.whatif import Grid, NetworkChange, Prediction, Proposal, Sweep, Use
from logpost.replay.graph import Outcome
from logpost.replay.graph.library import LibraryUse


def as_json(found: Prediction) -> dict[str, Any]:
    """The prediction as what `json.dumps` takes."""
    return {
        "measured_ps": found.measured_ps,
        "predicted_ps": found.predicted_ps,
        "interval_ps": list(found.interval_ps),
        "other_order_ps": found.other_order_ps,
        "speed_up": found.speed_up,
        "settings": found.settings,
        "recorded_machine": found.machine,
        "before": _outcome(found.before),
        "after": _outcome(found.after),
        "regions": [
            {"region": one.region, "before_ps": one.before_ps, "after_ps": one.after_ps} for one in found.regions
        ],
        "network": _network(found.network),
        "mapping": None
        if found.seats is None
        else {"nodes_of_ranks": found.seats.nodes.tolist(), "proposal": _proposal(found.proposal)},
        "sweep": None if found.sweep is None else _sweep(found.sweep),
        "grid": None if found.grid is None else _grid(found.grid),
        "library": [_library(one) for one in found.library],
        "bounded": [asdict(one) for one in found.bounded],
        "notes": found.notes,
    }


def _library(use: LibraryUse) -> dict[str, Any]:
    known = "profile" if use.stated else "unknown" if use.is_open else "trace"
    return {**asdict(use), "known_from": known, "possible": list(use.possible), "sentence": use.sentence()}


def _network(change: NetworkChange) -> dict[str, Any]:
    return {
        "contention_modelled": change.modelled,
        "why_not": change.why_not,
        "before": _use(change.before),
        "after": _use(change.after),
    }


def _use(use: Use | None) -> dict[str, Any] | None:
    return None if use is None else {**asdict(use), "saturated": use.saturated}


def _proposal(proposal: Proposal | None) -> dict[str, Any] | None:
    if proposal is None:
        return None
    tried = [{"placement": name, "cost_share": cost, "predicted_ps": ps} for name, cost, ps in proposal.tried]
    return {"placement": proposal.name, "tried": tried}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "makespan_ps": outcome.makespan_ps,
        "critical_path_ps": outcome.path_ps,
        "critical_path_messages": outcome.path_messages,
        "sensitivities": {
            **{name: values for name, values in outcome.sensitivities.items() if any(values.values())},
            "compute_ps": outcome.compute_ps,
        },
        "in_communication_ps": sum(outcome.in_calls_ps),
        "between_communication_ps": sum(outcome.between_calls_ps),
    }


def _sweep(sweep: Sweep) -> dict[str, Any]:
    return {
        "name": sweep.name,
        "points": [
            {"value": point.text, "makespan_ps": point.makespan_ps, "interval_ps": list(point.interval_ps)}
            for point in sweep.points
        ],
        "pieces": [
            {
                "from": one.start,
                "to": one.end,
                "from_value": one.start_value,
                "to_value": one.end_value,
                "makespan_ps": one.start_ps,
                "count": one.count,
                "region": one.region,
            }
            for one in sweep.pieces
        ],
        "above_ps": sweep.above_ps,
        "sampled": sweep.sampled,
        "bands": [{"from": one.begin, "to": one.end, "region": one.name} for one in sweep.bands],
        "tolerances": [asdict(one) for one in sweep.tolerances],
    }


def _grid(grid: Grid) -> dict[str, Any]:
    return {
        "names": list(grid.names),
        "values": [axis.shown for axis in grid.axes],
        "base_ps": grid.base_ps,
        "makespan_ps": grid.makespans_ps.tolist(),
        "interval_ps": grid.intervals_ps.tolist(),
        "regions": grid.regions,
        "contours": [
            {
                "percent": one.percent,
                "exact": one.exact,
                "points": [
                    [axis.number(at) for axis, at in zip(grid.axes, point, strict=True)] for point in one.points
                ],
            }
            for one in grid.contours
        ],
    }
