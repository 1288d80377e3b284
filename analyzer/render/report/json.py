"""A report as one JSON object, for scripts: seconds as floats, shares as fractions, null with a reason where
unknown. Categories that an estimated machine does not distinguish (`undivided`) are null, and `transport_undivided` is
their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from logpost.analyzer.report.data import (
    Collectives,
    CriticalPath,
    Delay,
    Delays,
    Messages,
    ModelFit,
    OnPath,
    PlacedFinding,
    RankTime,
    Report,
)
from logpost.analyzer.run.schema import COLLECTIVE_PARTS, PARTS
from logpost.analyzer.run.undivided import merged
from logpost.analyzer.words.location_names import Rank

PS_PER_S = 10**12
"""Of a second."""


def as_json(report: Report, top: int | None = None) -> dict[str, Any]:
    """The object that `logpost report RUN --json` prints; its keys are a promise to scripts.

    Arguments:
        report: what to write.
        top: the most findings and places in the code; all without it.
    """
    unknown: dict[str, float | None] = dict.fromkeys(report.machine.undivided)
    wait_states: dict[str, float | int] = {}
    for state in report.wait_states:
        wait_states[f"{state.name}_s"] = state.wait_s
        wait_states[f"{state.name}_count"] = state.count
    return {
        "run": report.run,
        "source": report.source,
        "tool_version": report.tool_version,
        "wall_s": report.wall_ps / PS_PER_S,
        "program_s": report.program_ps / PS_PER_S,
        "start_up_s": report.start_up_ps / PS_PER_S,
        "shut_down_s": report.shut_down_ps / PS_PER_S,
        "outside_s": report.outside_ps / PS_PER_S,
        "ranks": report.ranks,
        **_ranks(report.rank_times),
        "events": report.events,
        "communication_events": report.communication_events,
        "paradigms": list(report.paradigms),
        "hosts": {
            "nodes": report.hosts.nodes,
            "ranks_per_node": list(report.hosts.ranks_per_node),
            "cores_per_node": list(report.hosts.cores_per_node),
            "oversubscribed": report.hosts.oversubscribed,
            "without_core": report.hosts.without_core,
        },
        "predicted": None if report.predicted is None else report.predicted.model_dump(),
        "warnings": list(report.warnings),
        "faults": [fault.model_dump() for fault in report.faults],
        "conclusion": report.conclusion,
        "quality": [count.model_dump() for count in report.quality],
        "machine": report.machine.model_dump(),
        "clock": report.clock.model_dump(mode="json"),
        "breakdown_s": unknown | {share.category: share.exposed_ps / PS_PER_S for share in report.breakdown},
        "undivided": list(report.machine.undivided),
        "threads": None if report.threads is None else _seconds(asdict(report.threads)),
        "accelerators": None if report.accelerators is None else _seconds(asdict(report.accelerators)),
        "network": [
            {
                "host": host.host,
                "sent_bytes": host.sent_bytes,
                "received_bytes": host.received_bytes,
                "adapters": [adapter.model_dump() for adapter in host.adapters],
            }
            for host in report.network
        ],
        "packing": None
        if report.packing is None
        else {
            "pattern": report.packing.pattern,
            "regions": list(report.packing.regions),
            "exposed_s": report.packing.exposed_ps / PS_PER_S,
            "share_of_compute": report.packing.share,
        },
        "files": None
        if report.files is None
        else {
            "exposed_s": report.files.exposed_ps / PS_PER_S,
            "share": report.files.share,
            "uses": [_seconds(asdict(use)) for use in report.files.uses[:top]],
        },
        "sens_s": {part.name: None if part.exposed_ps is None else part.exposed_ps / PS_PER_S for part in report.sens},
        "efficiencies": {efficiency.name: efficiency.value for efficiency in report.efficiencies},
        "coverage": _seconds(asdict(report.coverage)),
        "uneven": None if report.uneven is None else _seconds(asdict(report.uneven)),
        "efficiency_reasons": {
            efficiency.name: efficiency.reason for efficiency in report.efficiencies if efficiency.value is None
        },
        "efficiencies_over_time": [
            {
                "begin_s": one.begin_ps / PS_PER_S,
                "end_s": one.end_ps / PS_PER_S,
                "parallel_efficiency": one.parallel_efficiency,
                "load_balance": one.load_balance,
                "communication_efficiency": one.communication_efficiency,
                "serialization": one.serialization,
                "transfer": one.transfer,
            }
            for one in report.stretches
        ],
        "wait_states": wait_states,
        "critical_path": None if report.critical_path is None else _critical_path(report.critical_path, top),
        "collectives": None if report.collectives is None else _collectives(report.collectives, unknown),
        "delays": None if report.delays is None else _delays(report.delays, top),
        "messages": _messages(report.messages, report.machine.undivided),
        "models": [_model(fit, report.machine.undivided) for fit in report.models] or None,
        "places": [_seconds(asdict(place)) for place in report.places[:top]],
        "findings": [finding_json(found) for found in report.findings[:top]],
        "notes": list(report.limits),
    }


def _ranks(times: Sequence[RankTime]) -> dict[str, Any]:
    """Every location with its time, and lists by rank. Where threads of a rank communicate, its time is that of the one
    that is there longest, and its computation the mean over them."""
    of_rank: dict[tuple[Rank | None, int], list[RankTime]] = {}
    for one in times:
        of_rank.setdefault((one.named.rank, one.named.process), []).append(one)
    return {
        "rank_numbers": [rank for rank, _ in of_rank],
        "rank_wall_s": [max(one.wall_ps for one in some) / PS_PER_S for some in of_rank.values()],
        "rank_program_s": [max(one.program_ps for one in some) / PS_PER_S for some in of_rank.values()],
        "rank_compute_s": [sum(one.compute_ps for one in some) / len(some) / PS_PER_S for some in of_rank.values()],
        "locations": [
            {
                "name": one.named.text,
                "rank": one.named.rank,
                "thread": one.named.thread,
                "host": one.host,
                "wall_s": one.wall_ps / PS_PER_S,
                "program_s": one.program_ps / PS_PER_S,
                "compute_s": one.compute_ps / PS_PER_S,
                "waiting_s": one.waiting_ps / PS_PER_S,
                "communication_s": one.communication_ps / PS_PER_S,
            }
            for one in times
        ],
    }


def _collectives(found: Collectives, unknown: dict[str, float | None]) -> dict[str, Any]:
    """Parts of the time in collectives, and each kind with its algorithm: means over members and operations."""
    parts = {part: time / PS_PER_S for part, time in found.parts_ps.items()}
    return {
        "parts_s": {part: None for part in COLLECTIVE_PARTS if part in unknown} | parts,
        "before_last_s": found.before_last_ps / PS_PER_S,
        "kinds": [_seconds(asdict(kind)) for kind in found.kinds],
        "library": found.library or None,
        "profile": found.profile or None,
    }


def _critical_path(path: CriticalPath, top: int | None) -> dict[str, Any]:
    return {
        "program_s": path.program_ps / PS_PER_S,
        "whole_s": path.whole_ps / PS_PER_S,
        "changes_of_rank": path.changes,
        "categories_s": {category: time / PS_PER_S for category, time in path.categories_ps.items()},
        "ranks": [_seconds(asdict(rank)) for rank in path.ranks],
        "places": [asdict(one.place) | _seconds(_without_place(one)) for one in path.places[:top]],
    }


def _delays(delays: Delays, top: int | None) -> dict[str, Any]:
    return {
        "waits_s": delays.waits_ps / PS_PER_S,
        "split_waits_s": delays.split_waits_ps / PS_PER_S,
        "split_undivided_s": delays.split_undivided_ps / PS_PER_S,
        "unexplained_s": delays.unexplained_ps / PS_PER_S,
        "places": [asdict(one.place) | _seconds(_without_place(one)) for one in delays.places[:top]],
    }


def _without_place(row: OnPath | Delay) -> dict[str, Any]:
    return {name: value for name, value in asdict(row).items() if name != "place"}


def _messages(messages: Messages, undivided: Sequence[str]) -> dict[str, Any]:
    unknown: dict[str, float | None] = dict.fromkeys(part for part in undivided if part in PARTS)
    return {
        "count": messages.count,
        "bytes": messages.bytes,
        "envelope_s": messages.envelope_ps / PS_PER_S,
        "parts_s": unknown | {part: time / PS_PER_S for part, time in merged(messages.parts_ps, undivided).items()},
        "deficit_s": messages.deficit_ps / PS_PER_S,
        "residual_share": None if "residual" in undivided else messages.residual_share,
        "deficit_share": messages.deficit_share,
    }


def _model(fit: ModelFit, undivided: Sequence[str]) -> dict[str, Any]:
    """One model's split of messages, transfers and collective operations; null with a reason where the machine has no
    values for it."""
    sums = {"messages": fit.messages, "transfers": fit.transfers, "collectives": fit.collectives}
    return {
        "model": fit.model.value,
        "terms": fit.model.terms,
        **{kind: None if of is None else _messages(of, undivided) for kind, of in sums.items()},
        "not_computed_share": fit.not_computed_share if fit.messages is not None else None,
        "misfit_share": fit.misfit_share if fit.misfit_known else None,
        "share_intervals": {
            kind: {part: list(ends) for part, ends in of.share_intervals.items()}
            for kind, of in sums.items()
            if of is not None
        },
        "reason": fit.reason,
    }


def finding_json(found: PlacedFinding) -> dict[str, Any]:
    """A finding: its numbers with units, and the words made from them."""
    words = {"evidence_text": found.evidence_text, "confidence_text": found.confidence_text}
    return _seconds(asdict(found)) | words


def _seconds(row: dict[str, Any]) -> dict[str, Any]:
    """Picosecond fields as seconds, their names changed with them."""
    return {
        f"{name[:-3]}_s" if name.endswith("_ps") else name: value / PS_PER_S if name.endswith("_ps") else value
        for name, value in row.items()
    }
