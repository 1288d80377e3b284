"""Render a comparison of repeats as text for a terminal, with rich; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.compare.repeats.compare import FASTER, NOISE, SLOWER, RepeatedChange, Repeats
from logpost.analyzer.compare.two_runs import EFFICIENCY_PREFIX, GROUPS, LENGTHS, REGION_PREFIX, is_fraction
from logpost.analyzer.render.compare.gate import signed_percent
from logpost.analyzer.render.repeats.gate import FAILS, INCONCLUSIVE, PASSES, Decision, region_name
from logpost.analyzer.report.efficiencies import NAMES
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.undivided import SHOWN, title
from logpost.analyzer.words.units import count_text, percent_text, safe, shorten, time_text

REGIONS = 20
"""Number of regions listed without `--top`."""

_STYLE = {PASSES: "green", FAILS: "bold red", INCONCLUSIVE: "bold yellow"}


def print_repeats(
    repeats: Repeats,
    decisions: Iterable[Decision],
    console: Console,
    *,
    quiet: bool = False,
    top: int | None = None,
) -> None:
    """Write the comparison.

    Arguments:
        repeats: what to write.
        decisions: of the gates.
        console: where to.
        quiet: write only the gates that fail or are inconclusive.
        top: the most regions, and findings of each sort, to write.
    """
    if not quiet:
        _print_all(repeats, console, top)
    for decision in decisions:
        if not quiet or decision.outcome != PASSES:
            console.print(Text(decision.sentence, style=_STYLE[decision.outcome]))


def _print_all(repeats: Repeats, console: Console, top: int | None) -> None:
    for name, runs in (("A", repeats.before), ("B", repeats.after)):
        console.print(Text(f"{name}: {_runs(runs)}", style="dim"))
    for note in (*repeats.warnings, *repeats.notes):
        console.print(Text(f"! {safe(note)}", style="yellow"))
    for heading, first, names in (
        ("Length (slowest rank)", "length", tuple(LENGTHS)),
        ("Time of the program by category (sum over ranks)", "category", SHOWN),
        ("Groups of categories", "group", tuple(GROUPS)),
        ("Efficiencies", "efficiency (POP)", tuple(f"{EFFICIENCY_PREFIX}{name}" for name in NAMES)),
    ):
        if changes := repeats.changes(names):
            _section(console, heading)
            console.print(_table(first, changes))
    _section(console, "Regions, those first whose change is certain")
    console.print(_table("region", [c for c in repeats.regions() if any(c.a) or any(c.b)][: top or REGIONS]))
    _section(console, "Findings in all runs of one side and in none of the other's")
    if not (repeats.gone or repeats.appeared):
        console.print(Text("none"))
    for mark, style, findings in (("gone", "green", repeats.gone), ("new", "red", repeats.appeared)):
        for found in findings[:top]:
            console.print(Text(f"{mark:<6}{safe(found.title)}: {found.gain_text}", style=style))


def _runs(runs: Sequence[Run]) -> str:
    return f"{count_text(len(runs), 'run')}: {', '.join(safe(str(run.path)) for run in runs)}"


def _section(console: Console, heading: str) -> None:
    console.print()
    console.print(Text(heading, style="bold"))


def _table(first: str, changes: Iterable[RepeatedChange]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate((first, "mean A", "mean B", "B - A", "95 % interval", "relative", "B has")):
        table.add_column(name, justify="left" if i in (0, 6) else "right", overflow="fold", no_wrap=i > 0)
    for change in changes:
        table.add_row(*_row(change))
    return table


def _row(change: RepeatedChange) -> list[str | Text]:
    show = percent_text if is_fraction(change.name) else time_text
    contrast = change.contrast
    interval = contrast.interval
    worse = FASTER if is_fraction(change.name) else SLOWER
    verdict = change.verdict
    style = "" if verdict not in (SLOWER, FASTER) else "red" if verdict == worse else "green"
    region = change.name.startswith(REGION_PREFIX)
    return [
        shorten(region_name(change), 48) if region else title(change.name.removeprefix(EFFICIENCY_PREFIX)),
        show(contrast.a.mean),
        show(contrast.b.mean),
        Text(_signed(show(contrast.value), contrast.value), style=style),
        "-" if interval is None else f"{show(interval[0])} to {show(interval[1])}",
        "-" if is_fraction(change.name) or change.relative is None else signed_percent(change.relative),
        Text(verdict, style=style or ("dim" if verdict == NOISE else "")),
    ]


def _signed(text: str, value: float) -> str:
    return f"+{text}" if value > 0 else text
