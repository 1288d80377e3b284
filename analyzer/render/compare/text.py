"""Render a comparison as text for a terminal, with rich; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.compare.change import Change
from logpost.analyzer.compare.two_runs import Comparison
from logpost.analyzer.render.compare.gate import Verdict, signed_percent
from logpost.analyzer.report.data import PlacedFinding
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.units import percent_text, safe, shorten, time_text


def print_comparison(
    comparison: Comparison,
    verdicts: Iterable[Verdict],
    console: Console,
    *,
    quiet: bool = False,
    top: int | None = None,
) -> None:
    """Write the comparison.

    Arguments:
        comparison: what to write.
        verdicts: of the gates.
        console: where to.
        quiet: write only the gates that fail.
        top: the most regions, and findings of each sort, to write; all without it.
    """
    if not quiet:
        _print_all(comparison, console, top)
    for verdict in verdicts:
        if verdict.holds or not quiet:
            console.print(Text(verdict.sentence, style="bold red" if verdict.holds else "green"))


def _print_all(comparison: Comparison, console: Console, top: int | None) -> None:
    a, b = comparison.a, comparison.b
    console.print(Text(f"A: {safe(a.run)}  ({a.ranks} ranks)", style="dim"))
    console.print(Text(f"B: {safe(b.run)}  ({b.ranks} ranks)", style="dim"))
    for note in (*comparison.warnings, *comparison.notes):
        console.print(Text(f"! {safe(note)}", style="yellow"))
    _section(console, "Length (slowest rank; wall: from the end of start-up to the begin of shut-down)")
    console.print(_times(comparison.lengths, "length"))
    _section(console, "Time of the program by category (sum over ranks)")
    console.print(_times(comparison.categories, "category"))
    _section(console, "Groups of categories")
    console.print(_times(comparison.groups, "group"))
    _section(console, "Efficiencies")
    console.print(_efficiencies(comparison.efficiencies))
    _section(console, "Wait states (Scalasca's definitions)")
    console.print(_times(comparison.wait_states, "wait state", comparison.wait_counts))
    _section(console, "Regions that changed most")
    console.print(_regions(comparison, top))
    _section(console, "Findings")
    _findings(comparison, console, top)


def _section(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left", overflow="fold", no_wrap=i > 0)
    return table


def _delta(change: Change) -> tuple[Text, Text]:
    difference, relative = change.difference, change.relative
    if difference is None or relative is None:
        return Text("-"), Text("-")
    style = "" if difference == 0 else ("red" if difference > 0 else "green")
    sign = "+" if difference > 0 else ""
    return Text(f"{sign}{time_text(difference)}", style=style), Text(signed_percent(relative), style=style)


def _times(changes: Iterable[Change], what: str, counts: Iterable[Change] | None = None) -> Table:
    columns = [what, "A", "B", "B - A", "relative"] + ([] if counts is None else ["occurrences A", "B"])
    table = _table(*columns)
    numbers = {count.name: count for count in counts or ()}
    for change in changes:
        row: list[str | Text] = [
            title(change.name),
            _time(change.before),
            _time(change.after),
            *_delta(change),
        ]
        if counts is not None:
            count = numbers[change.name]
            row += [f"{int(count.before or 0):,}", f"{int(count.after or 0):,}"]
        table.add_row(*row)
    return table


def _time(value: float | None) -> str:
    return "-" if value is None else time_text(value)


def _efficiencies(changes: Iterable[Change]) -> Table:
    table = _table("efficiency (POP)", "A", "B", "B - A")
    for change in changes:
        if change.before is None or change.after is None:
            table.add_row(change.name.replace("_", " "), "not computed", "not computed", "-")
            continue
        points = 100 * (change.after - change.before)
        table.add_row(
            change.name.replace("_", " "),
            percent_text(change.before),
            percent_text(change.after),
            Text(f"{points:+.1f} pp", style="" if points == 0 else ("green" if points > 0 else "red")),
        )
    return table


def _regions(comparison: Comparison, top: int | None) -> Table:
    table = _table("region", "A", "B", "B - A", "relative", "calls A", "B")
    for change in comparison.regions[:top]:
        of = "" if change.kind == "communication" else f", {change.kind}"
        table.add_row(
            Text(_short(change.region) + of + (f" (was {_short(change.was)})" if change.was else "")),
            _time(change.time.before),
            _time(change.time.after),
            *_delta(change.time),
            f"{int(change.count.before or 0):,}",
            f"{int(change.count.after or 0):,}",
        )
    return table


def _short(name: str) -> str:
    return shorten(safe(folded(name)), 48)


def _findings(comparison: Comparison, console: Console, top: int | None) -> None:
    if not (comparison.gone or comparison.appeared or comparison.stayed):
        console.print(Text("none in either run"))
    for mark, style, found in (
        *(("gone", "green", f) for f in comparison.gone[:top]),
        *(("new", "red", f) for f in comparison.appeared[:top]),
    ):
        console.print(Text(f"{mark:<6}{_line(found)}", style=style))
    if comparison.gone:
        console.print(Text(f"{'':<6}{measured_without(comparison)}"))
    for before, after in comparison.stayed[:top]:
        change = Change("", before.exposed_ps, after.exposed_ps)
        console.print(
            Text(
                f"{'both':<6}{safe(after.title)}: {before.gain_text} → {after.between_text}; exposed "
                f"{time_text(before.exposed_ps)} → {time_text(after.exposed_ps)} "
                f"({signed_percent(change.relative or 0.0)})"
            )
        )


def _line(found: PlacedFinding) -> str:
    return f"{safe(found.title)}: {found.gain_text}; exposed {time_text(found.exposed_ps)}"


def measured_without(comparison: Comparison) -> str:
    """What the findings that are gone were predicted to save, next to what the program saves."""
    measured = f"measured length of the program: {signed_percent(comparison.wall.relative or 0.0)}"
    if len(comparison.gone) > 1:
        return f"each of these was predicted alone; {measured}"
    return f"predicted saving: {comparison.gone[0].between_text}; {measured}"
