"""Rows and sentences of a report's section on collective operations, for a terminal and for pages."""

from __future__ import annotations

from logpost.analyzer.report.data import CollectiveKind, Collectives
from logpost.analyzer.run.undivided import UNDIVIDED, title
from logpost.analyzer.words.units import bytes_text, percent_text, time_text

HEADINGS = ("operations", "replayed as", "measured", "predicted", "residual")
"""Times are means over members and operations, beyond the waits that the operations' definitions name."""
MEANING = {
    "late_members": "members on the path of the data entered after those that the definition names",
    "send_overhead": "processors send, on the way to this member and its own",
    "latency": "L of the messages on the way",
    "endpoint_contention": "messages wait for a NIC",
    "serialization": "bytes follow the first one: (B - 1) G",
    "recv_overhead": "processors receive",
    "reduction": "members combine what they receive: gamma, per byte",
    "middleware": "the library packs and unpacks data with gaps: l_mw",
    "residual": "not explained by the replay",
    "not_divided": "fences, intercommunicators, operations that lack a member or a record",
    UNDIVIDED: "the machine does not distinguish these parts",
}


def summary(found: Collectives) -> str:
    """What the parts are about."""
    total = sum(found.parts_ps.values())
    by = f"; carried out by {found.library.split(',')[0]}" if found.library else ""
    by += f"; algorithms by the library profile {found.profile}" if found.profile else ""
    early = ""
    if found.before_last_ps:
        early = (
            f"; {time_text(found.before_last_ps)} of it before an operation's last member has entered: ranks that need "
            "no other one by the operation's definition may have waited all the same"
        )
    beyond = f"{time_text(total)} beyond the waits that the operations' definitions name"
    return f"{beyond}{early}; sum over ranks, replayed as messages{by}"


def part_rows(found: Collectives) -> list[tuple[str, str, str, str]]:
    """Part, time, share and meaning, without zeros."""
    total = max(1, sum(found.parts_ps.values()))
    return [
        (title(part), time_text(time), percent_text(time / total), MEANING[part])
        for part, time in found.parts_ps.items()
        if time
    ]


def kind_rows(found: Collectives, top: int | None) -> list[tuple[str, ...]]:
    """The kinds of most time."""
    return [_kind(kind) for kind in found.kinds[:top]]


def _kind(kind: CollectiveKind) -> tuple[str, ...]:
    least, most = bytes_text(kind.least_bytes), bytes_text(kind.most_bytes)
    size = least if least == most else f"{least} to {most}"
    return (
        f"{kind.operations} {kind.operation} of {kind.members}" + (f", {size}" if kind.most_bytes else ""),
        algorithm_text(kind.algorithm, kind.instead),
        time_text(kind.measured_ps),
        time_text(kind.predicted_ps),
        time_text(kind.residual_ps),
    )


def algorithm_text(algorithm: str, instead: str | None) -> str:
    """An algorithm's name, and the one that explains the measured ends as well."""
    named = "no messages" if algorithm == "not_known" else algorithm.replace("_", " ")
    return f"{named} (or {instead.replace('_', ' ')})" if instead else named
