"""Render a report as text for a terminal, with rich; nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.findings.wording.numbers import BOUNDS
from logpost.analyzer.render.report.causes import (
    DELAY_HEADINGS,
    PATH_HEADINGS,
    delay_rows,
    delays_summary,
    path_rows,
    path_summary,
)
from logpost.analyzer.render.report.collectives import HEADINGS as COLLECTIVE_HEADINGS
from logpost.analyzer.render.report.collectives import kind_rows, part_rows, summary
from logpost.analyzer.render.report.efficiencies import lowest_text, residual_text
from logpost.analyzer.render.report.machine import common_source, machine_error, machine_table
from logpost.analyzer.render.report.models import models_section
from logpost.analyzer.render.report.packing import packing_text
from logpost.analyzer.render.report.threads import HEADINGS, thread_rows
from logpost.analyzer.report.conclusion import MEANING
from logpost.analyzer.report.data import (
    NO_FINDING,
    Collectives,
    CriticalPath,
    Delays,
    PlacedFinding,
    RankTime,
    Report,
)
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import bytes_text, count_text, percent_text, safe, shorten, span_text, time_text

WAIT_STATE_NAMES = {
    "late_sender": "Late Sender",
    "late_receiver": "Late Receiver",
    "wait_at_barrier": "Wait at Barrier",
    "wait_at_nxn": "Wait at NxN",
    "late_broadcast": "Late Broadcast",
    "early_reduce": "Early Reduce",
    "wait_at_fence": "Wait at Fence",
    "wait_at_creation": "Wait at Creation",
}
"""As Scalasca spells them; it has none at creation."""

BAR = 24
"""Cells of the longest bar."""
KINDS = 8
"""Kinds of collective operations listed."""
RANKS = 16
"""Ranks listed one by one; of more, the extremes."""


def print_report(
    report: Report, console: Console, *, quiet: bool = False, top: int | None = None, sens: bool = False
) -> None:
    """Write the whole report.

    Arguments:
        report: what to write.
        console: where to.
        quiet: write only the warnings, the conclusion and the findings' titles.
        top: the most findings and places in the code to write; all without it.
        sens: divide the time into SENS's parts instead of categories.
    """
    console.print(_head(report, quiet=quiet))
    if quiet:
        for number, found in enumerate(report.findings[:top], 1):
            console.print(Text(f"{number}. {safe(found.title)}  ({found.gain_text})"))
        _say_rest(report, top, console)
        return
    for section in (
        _findings(report, top),
        _sens(report) if sens else _breakdown(report),
        *([_collectives(report.collectives, top)] if report.collectives else []),
        _ranks(report),
        _efficiencies(report),
        *([_threads(rows)] if (rows := thread_rows(report)) else []),
        _wait_states(report),
        *([_critical_path(report.critical_path, top)] if report.critical_path else []),
        *([_delays(report.delays, top)] if report.delays else []),
        _places(report, top),
        _messages(report),
        *([models_section(report)] if report.models else []),
        _machine(report),
        _quality(report),
        _limits(report),
    ):
        console.print()
        console.print(section)


def _say_rest(report: Report, top: int | None, console: Console) -> None:
    rest = len(report.findings) - len(report.findings[:top])
    if rest > 0:
        console.print(Text(f"{count_text(rest, 'further finding')} with a smaller gain", style="dim"))


def bar(fraction: float, cells: int = BAR) -> str:
    """A bar of eighths of a cell; something that is not zero is never invisible."""
    eighths = round(max(0.0, min(1.0, fraction)) * cells * 8)
    if fraction > 0:
        eighths = max(1, eighths)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _section(title: str, *body: RenderableType) -> Group:
    return Group(Text(title, style="bold"), *(Padding(part, (0, 0, 0, 2)) for part in body))


def _table(*columns: tuple[str, bool]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, right in columns:
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return table


def _plain(value: str, style: str = "") -> Text:
    return Text(safe(value), style=style)


def _head(report: Report, *, quiet: bool) -> Group:
    lines: list[RenderableType] = [_plain(f"! {warning}", "bold yellow") for warning in report.warnings]
    if not quiet:
        what, count = report.counted
        placed = " ".join(part for part in (count_text(count, what), report.nodes_text) if part)
        lines.append(
            _plain(
                f"{report.source}: {placed}, {time_text(report.wall_ps)}, "
                f"{count_text(report.events, 'event')}, {count_text(report.messages.count, 'message')}",
                "dim",
            )
        )
        lines.append(_plain(_scope(report), "dim"))
    lines.append(_plain(report.conclusion, "bold"))
    return Group(*lines)


def _scope(report: Report) -> str:
    """What the figures are about, and what is outside of it."""
    outside = [f"start-up {time_text(report.start_up_ps)}", f"shut-down {time_text(report.shut_down_ps)}"]
    if report.outside_ps:
        outside.append(f"outside of the region of interest {time_text(report.outside_ps)}")
    what = "region of interest" if report.outside_ps else "program"
    return f"{what} {time_text(report.program_ps)} (all figures are about it); outside of it {', '.join(outside)}"


def _findings(report: Report, top: int | None) -> Group:
    if not report.findings:
        return _section("Findings", Text(NO_FINDING))
    shown = report.findings[:top]
    rest = len(report.findings) - len(shown)
    more = [Text(f"{count_text(rest, 'further finding')} with a smaller gain", style="dim")] if rest else []
    title = "Findings, by the time that their cures save at most"
    each = (_finding(n, found) for n, found in enumerate(shown, 1))
    return _section(title, *each, *more, Text(BOUNDS, style="dim"))


def _finding(number: int, found: PlacedFinding) -> Group:
    facts = Table.grid(padding=(0, 1))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("gain", _plain(found.gain_text))
    facts.add_row("cost", _plain(_cost(found)))
    facts.add_row("where", _plain(_where(found)))
    if found.path_share is not None:
        facts.add_row("on path", _plain(f"{percent_text(found.path_share)} of the critical path is in what causes it"))
    if found.cause_region:
        facts.add_row("cause", _plain(found.cause_region))
    facts.add_row("evidence", _plain(found.evidence_text))
    facts.add_row("advice", _plain(found.advice))
    facts.add_row("confidence", _plain(found.confidence_text))
    title = Text.assemble((f"{number}. ", "bold"), (safe(found.title), "bold"))
    return Group(title, Padding(facts, (0, 0, 0, 3)))


def _cost(found: PlacedFinding) -> str:
    return (
        f"{time_text(found.exposed_ps)} exposed over all ranks that lose it; {percent_text(found.share)} of the "
        "slowest rank's time on the rank that loses most"
    )


def _where(found: PlacedFinding) -> str:
    place = shorten(found.path or found.region, 100) + (f" ({found.source})" if found.source else "")
    window = f"from {span_text(found.begin_ps, found.end_ps)}"
    return ", ".join(part for part in (found.named_text, place, window) if part)


def _breakdown(report: Report) -> Group:
    table = _table(("category", False), ("time", True), ("share", True), ("", False), ("what", False))
    largest = max((share.share for share in report.breakdown), default=0.0)
    for share in report.breakdown:
        if share.exposed_ps == 0 and share.category != "network_contention":
            continue
        table.add_row(
            title(share.category),
            time_text(share.exposed_ps),
            percent_text(share.share),
            Text(bar(share.share / largest if largest else 0.0, 12), style="cyan"),
            Text(MEANING[share.category], style="dim"),
        )
    listed = {"network_contention"}
    zero = [
        title(share.category) for share in report.breakdown if share.exposed_ps == 0 and share.category not in listed
    ]
    notes = [packing_text(report)] if report.packing else []
    notes += [f"zero: {', '.join(zero)}"] if zero else []
    total = sum(rank.program_ps for rank in report.rank_times)
    return _section(
        f"Where the time went (sum over ranks: {time_text(total)})", table, *(Text(note, style="dim") for note in notes)
    )


def _sens(report: Report) -> Group:
    table = _table(("part (SENS)", False), ("time", True), ("share", True), ("", False), ("categories in it", False))
    largest = max((part.share for part in report.sens), default=0.0)
    for part in report.sens:
        known = part.exposed_ps is not None
        table.add_row(
            part.title,
            time_text(part.exposed_ps) if part.exposed_ps is not None else "-",
            percent_text(part.share) if known else "-",
            Text(bar(part.share / largest if largest else 0.0, 12), style="cyan"),
            Text(", ".join(title(one) for one in part.categories) if known else "not divided", style="dim"),
        )
    total = sum(rank.program_ps for rank in report.rank_times)
    return _section(f"Where the time went (sum over ranks: {time_text(total)})", table)


def _collectives(found: Collectives, top: int | None) -> Group:
    parts = _table(("in collectives", False), ("time", True), ("share", True), ("what", False))
    for *row, what in part_rows(found):
        parts.add_row(*row, Text(what, style="dim"))
    kinds = _table(*((name, number > 1) for number, name in enumerate(COLLECTIVE_HEADINGS)))
    for cells in kind_rows(found, min(KINDS, top or KINDS)):
        kinds.add_row(*map(safe, cells))
    rest = len(found.kinds) - min(KINDS, top or KINDS)
    body: list[RenderableType] = [Text(summary(found), style="dim"), parts]
    if found.kinds:
        body += [Text(""), kinds]
    if rest > 0:
        body.append(Text(f"{count_text(rest, 'further kind')} took less", style="dim"))
    return _section("Collective operations", *body)


def _ranks(report: Report) -> Group:
    threads = any(rank.named.thread is not None for rank in report.rank_times)
    table = _table(
        ("rank.thread" if threads else "rank", True),
        ("host", False),
        ("program", True),
        ("compute", True),
        ("waiting", True),
        ("communication", True),
    )
    shown, note = _extremes(report.rank_times)
    for rank in shown:
        table.add_row(
            rank.named.short if rank.named.rank is not None else rank.named.text,
            _plain(rank.host),
            time_text(rank.program_ps),
            _with_share(rank.compute_ps, rank.program_ps),
            _with_share(rank.waiting_ps, rank.program_ps),
            _with_share(rank.communication_ps, rank.program_ps),
        )
    title = "Ranks and their threads that communicate" if threads else "Ranks"
    return _section(f"{title} (communication contains waiting)", table, *([Text(note, style="dim")] if note else []))


def _with_share(time: int, whole: int) -> str:
    return f"{time_text(time)} {percent_text(time / whole if whole else 0.0):>7}"


def _extremes(ranks: tuple[RankTime, ...]) -> tuple[list[RankTime], str]:
    if len(ranks) <= RANKS:
        return list(ranks), ""
    by_compute = sorted(ranks, key=lambda rank: rank.compute_ps)
    by_wait = sorted(ranks, key=lambda rank: rank.waiting_ps)
    chosen = {rank.location: rank for rank in (*by_compute[:4], *by_compute[-4:], *by_wait[:4], *by_wait[-4:])}
    return [chosen[key] for key in sorted(chosen)], (
        f"{count_text(len(ranks) - len(chosen), 'rank')} between these extremes of compute and waiting not shown"
    )


def _efficiencies(report: Report) -> Group:
    table = _table(("efficiency (POP)", False), ("value", True), ("", False))
    for efficiency in report.efficiencies:
        indent = {"parallel_efficiency": 0, "load_balance": 1, "communication_efficiency": 1}.get(efficiency.name, 2)
        name = "  " * indent + efficiency.name.replace("_", " ")
        if efficiency.value is None:
            table.add_row(name, "-", Text(efficiency.reason, style="dim"))
        else:
            table.add_row(name, percent_text(efficiency.value), Text(bar(efficiency.value), style="cyan"))
    notes = (lowest_text(report.stretches), residual_text(report))
    return _section("Efficiencies", table, *(Text(note, style="dim") for note in notes if note))


def _threads(rows: list[tuple[str, str, str]]) -> Group:
    table = _table(*((heading, i > 0) for i, heading in enumerate(HEADINGS)))
    for row in rows:
        table.add_row(*row)
    return _section("Threads and accelerators (in addition to the ranks' accounts)", table)


def _wait_states(report: Report) -> Group:
    table = _table(("wait state", False), ("time", True), ("occurrences", True))
    for state in report.wait_states:
        table.add_row(WAIT_STATE_NAMES[state.name], time_text(state.wait_ps), f"{state.count:,}")
    return _section("Wait states (Scalasca's definitions, sum over ranks)", table)


def _critical_path(path: CriticalPath, top: int | None) -> Group:
    table = _table(*((heading, i < 3) for i, heading in enumerate(PATH_HEADINGS)))
    for row in path_rows(path, top):
        table.add_row(*map(_plain, row))
    return _section("Critical path (of the recorded execution)", _plain(path_summary(path)), table)


def _delays(delays: Delays, top: int | None) -> Group:
    table = _table(*((heading, i < 4) for i, heading in enumerate(DELAY_HEADINGS)))
    for row in delay_rows(delays, top):
        table.add_row(*map(_plain, row))
    return _section("Delay costs (which code makes others wait)", _plain(delays_summary(delays)), table)


def _places(report: Report, top: int | None) -> Group:
    table = _table(
        ("time", True),
        ("share", True),
        ("waiting", True),
        ("calls", True),
        ("mostly", False),
        ("call path", False),
        ("at", False),
    )
    for place in report.places[:top]:
        table.add_row(
            time_text(place.exposed_ps),
            percent_text(place.share),
            time_text(place.waiting_ps),
            f"{place.calls:,}",
            title(place.largest),
            _plain(shorten(place.path or place.region, 72)),
            _plain(place.source),
        )
    return _section("Communication by place in the code (sum over ranks)", table)


def _messages(report: Report) -> Group:
    messages = report.messages
    if messages.count == 0:
        return _section("Messages", Text("none matched"))
    average = f"{bytes_text(messages.bytes / messages.count)} and {time_text(messages.envelope_ps / messages.count)}"
    table = _table(("part of a message", False), ("per message", True), ("share", True))
    for part, time in sorted(messages.parts_ps.items(), key=lambda item: -item[1]):
        if time > 0:
            table.add_row(
                title(part),
                time_text(time / messages.count),
                percent_text(time / messages.envelope_ps if messages.envelope_ps else 0.0),
            )
    return _section(
        "Messages",
        Text(
            f"{count_text(messages.count, 'message')}, {bytes_text(messages.bytes)}; on average {average} from the "
            "first enter to the receive's leave"
        ),
        table,
        _plain(machine_error(report), "dim"),
    )


def _machine(report: Report) -> Group:
    machine = report.machine
    file = f" ({machine.file})" if machine.file else ""
    body: list[RenderableType] = [_plain(f"{machine.name}: {machine.label}{file}")]
    if machine.values:
        body.append(machine_table(machine))
    if common_source(machine):
        body.append(_plain(common_source(machine), "dim"))
    body.append(_plain(machine_error(report)))
    body += [_plain(f"note: {note}", "dim") for note in machine.notes]
    return _section("Machine", *body)


def _quality(report: Report) -> Group:
    counted = [count for count in report.quality if count.count > 0]
    if not counted:
        return _section("Quality of the trace", Text("nothing unusual"))
    table = _table(("severity", False), ("count", True), ("of", False), ("what", False))
    order = {"data_loss": 0, "error": 1, "info": 2}
    style = {"data_loss": "bold red", "error": "red", "info": ""}
    for count in sorted(counted, key=lambda c: (order[c.severity], c.name)):
        table.add_row(
            Text(count.severity.replace("_", " "), style=style[count.severity]),
            f"{count.count:,}",
            count.blame,
            _plain(f"{count.name}: {count.sentence}"),
        )
    return _section("Quality of the trace", table)


def _limits(report: Report) -> Group:
    return _section("Limits of this analysis", *_list(report.limits))


def _list(lines: Iterable[str]) -> list[RenderableType]:
    return [_plain(f"- {line}") for line in lines]
