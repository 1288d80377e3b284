"""What a run's clocks were found to be, and what was done about it, in sentences."""

from __future__ import annotations

from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.analyzer.run.manifest import Clock, ClockViolations
from logpost.analyzer.words.units import count_text, time_text

_WAYS_OUT = {
    ClockMode.none: "Analyze with --clock offsets or --clock clc.",
    ClockMode.offsets: "Analyze with --clock clc.",
    ClockMode.clc: "Their records wait for each other in a circle, which no clock explains.",
}


def clock_warning(clock: Clock, unmatched: int = 0) -> str | None:
    """That clocks disagree, where they still do.

    Args:
        clock: of the run.
        unmatched: sends and receives without the other one, by the trace's own fault: what names wrong ranks there may
            name wrong ones here, too.
    """
    found = _violations(clock.left)
    if not found:
        return None
    disagree = "The clocks of this trace disagree"
    if unmatched:
        ends = count_text(unmatched, "send or receive has", "sends and receives have")
        disagree += f", or its records name wrong ranks ({ends} no partner)"
    return f"{disagree}: {found}. Waits and message times are wrong by at least as much. {_WAYS_OUT[clock.correction]}"


def clock_note(clock: Clock) -> str | None:
    """What the logical clock corrected, where it did."""
    if not clock.processes:
        return None
    transit = ", ".join(f"{time_text(least)} ({where})" for where, least in clock.transit_ps.items() if least)
    return (
        f"{_violations(clock.recorded)} in the recorded times: the controlled logical clock moved times of "
        f"{count_text(clock.processes, 'process', 'processes')}, the largest by {time_text(clock.largest_ps)}"
        + (f"; a moved message lasts at least {transit}" if transit else "")
        + "."
    )


def _violations(found: ClockViolations) -> str:
    parts = []
    if found.messages:
        verb = "was" if found.messages == 1 else "were"
        they = "it" if found.messages == 1 else "they"
        parts.append(f"{count_text(found.messages, 'message')} {verb} received before {they} {verb} sent")
    if found.collectives:
        members = count_text(found.collectives, "time")
        parts.append(f"{members} a member left a collective operation before another that it had to wait for arrived")
    return " and ".join(parts)
