"""Critical path and delay costs as lines and rows of text, for terminal and page."""

from __future__ import annotations

from logpost.analyzer.report.data import CodePlace, CriticalPath, Delays
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import count_text, percent_text, shorten, time_text

RANKS = 4
"""Ranks named; of the rest only the number."""
CATEGORIES = 4
"""Categories that are named: as many as a line has room for."""

PATH_HEADINGS = ("on the path", "share", "imbalance, all ranks", "place")
DELAY_HEADINGS = ("makes wait", "share", "directly", "passed on", "ranks", "place")


def _named(place: CodePlace) -> str:
    """`computation before main / solve / MPI_Send (cg.c:120)`."""
    if not place.path:
        return "computation after the last call"
    source = f" ({place.source})" if place.line else ""
    return f"{'computation before ' if place.computation else ''}{shorten(place.path, 72)}{source}"


def path_summary(path: CriticalPath) -> str:
    """Where the path is, and what it consists of."""
    named = [f"{one.name} {percent_text(one.share)}" for one in path.ranks[:RANKS]]
    rest = len(path.ranks) - len(named)
    ranks = ", ".join(named) + (f", {count_text(rest, 'further rank')}" if rest > 0 else "")
    largest = sorted(path.categories_ps.items(), key=lambda item: -item[1])[:CATEGORIES]
    parts = ", ".join(f"{title(name)} {percent_text(time / max(1, path.program_ps))}" for name, time in largest)
    return (
        f"{time_text(path.program_ps)} of the program, {count_text(path.changes, 'change')} of rank; "
        f"it is on {ranks}; it consists of {parts}"
    )


def path_rows(path: CriticalPath, top: int | None = None) -> list[tuple[str, ...]]:
    """By `PATH_HEADINGS`."""
    return [
        (
            time_text(one.on_path_ps),
            percent_text(one.share),
            time_text(one.imbalance_ps),
            _named(one.place),
        )
        for one in path.places[:top]
    ]


def delays_summary(delays: Delays) -> str:
    """How much of the waiting has a cause, and what the split has instead where it cannot identify waiting."""
    share = percent_text(1 - delays.unexplained_ps / delays.waits_ps)
    text = (
        f"{time_text(delays.waits_ps)} of waiting for other ranks, {share} of it explained by what these did longer "
        "since the two last met"
    )
    if delays.waits_ps <= delays.split_waits_ps or not delays.split_undivided_ps:
        return text
    return (
        f"{text}. These waits are measured: the split by category has {time_text(delays.split_waits_ps)} as waiting, "
        f"and {time_text(delays.split_undivided_ps)} not divided further"
    )


def delay_rows(delays: Delays, top: int | None = None) -> list[tuple[str, ...]]:
    """By `DELAY_HEADINGS`."""
    return [
        (
            time_text(one.short_term_ps + one.long_term_ps),
            percent_text(one.share),
            time_text(one.short_term_ps),
            time_text(one.long_term_ps),
            one.named,
            _named(one.place),
        )
        for one in delays.places[:top]
    ]
