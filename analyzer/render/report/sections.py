"""The sections of a report as text for a terminal, each by its name; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.findings.wording.numbers import TIME_SAVED
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
from logpost.analyzer.render.report.files import HEADINGS as FILE_HEADINGS
from logpost.analyzer.render.report.files import file_rows, files_text
from logpost.analyzer.render.report.layout import bar, place_text, plain, scope_line, section, source_line, table
from logpost.analyzer.render.report.machine import common_source, machine_error, machine_table
from logpost.analyzer.render.report.models import models_section
from logpost.analyzer.render.report.network import HEADINGS as NETWORK_HEADINGS
from logpost.analyzer.render.report.network import MEANING as NETWORK_MEANING
from logpost.analyzer.render.report.network import NOT_READ, adapter_notes, host_rows
from logpost.analyzer.render.report.packing import packing_text
from logpost.analyzer.render.report.threads import HEADINGS, thread_rows
from logpost.analyzer.report.conclusion import MEANING
from logpost.analyzer.report.data import NO_FINDING, PlacedFinding, RankTime, Report
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import (
    LEAST_SHOWN,
    bytes_text,
    count_text,
    percent_text,
    safe,
    shorten,
    span_text,
    time_text,
)
from logpost.analyzer.words.wait_states import WAIT_STATE_NAMES

KINDS = 8
"""Kinds of collective operations listed."""
RANKS = 16
"""Ranks listed one by one; of more, the extremes."""


def print_sections(report: Report, console: Console, names: Iterable[str] = (), *, top: int | None = None) -> None:
    """Write sections of a report, in the order of `SECTIONS`.

    Arguments:
        report: what to write.
        console: where to.
        names: of the sections; without any, all that the run has something for. `sens` divides the same time as
            `categories`, and is written on request alone.
        top: the most findings and places in the code to write; all without it.
    """
    wanted = list(names)
    made = {name: SECTIONS[name](report, top) for name in SECTIONS if name in (wanted or set(SECTIONS) - {"sens"})}
    shown = [
        body or Text(f"{name}: nothing of this in the run", style="dim")
        for name, body in made.items()
        if body is not None or wanted
    ]
    for number, body in enumerate(shown):
        console.print(*([""] if number else []), body, sep="\n")


def _warnings(report: Report, _top: int | None) -> Group | None:
    lines = [plain(f"! {warning}", "bold yellow") for warning in report.warnings]
    return Group(*lines) if lines else None


def _summary(report: Report, _top: int | None) -> Group:
    return Group(plain(source_line(report), "dim"), plain(scope_line(report), "dim"), plain(report.conclusion, "bold"))


def _findings(report: Report, top: int | None) -> Group:
    if not report.findings:
        return section("Findings", Text(NO_FINDING))
    shown = report.findings[:top]
    rest = len(report.findings) - len(shown)
    more = [Text(f"{count_text(rest, 'further finding')} with a smaller gain", style="dim")] if rest else []
    title = "Findings, by the time that their cures save"
    each = (_finding(n, found) for n, found in enumerate(shown, 1))
    return section(title, *each, *more, Text(TIME_SAVED, style="dim"))


def _finding(number: int, found: PlacedFinding) -> Group:
    facts = Table.grid(padding=(0, 1))
    facts.add_column(style="dim", overflow="fold")
    facts.add_column(overflow="fold")
    facts.add_row("gain", plain(found.gain_text))
    facts.add_row("cost", plain(_cost(found)))
    facts.add_row("where", plain(f"{place_text(found, 100)}, from {span_text(found.begin_ps, found.end_ps)}"))
    if found.path_share is not None:
        facts.add_row("on path", plain(f"{percent_text(found.path_share)} of the critical path is in what causes it"))
    if found.cause_region:
        facts.add_row("cause", plain(found.cause_region))
    facts.add_row("advice", plain(found.advice))
    if found.alternatives:
        facts.add_row("instead", plain(found.alternatives_text))
    facts.add_row("confidence", plain(found.confidence_text))
    evidence = Table.grid(padding=(0, 1))
    evidence.add_column(style="dim", overflow="fold")
    evidence.add_column(overflow="fold")
    for what, value in found.evidence_rows:
        evidence.add_row(plain(f"{what}:"), plain(value))
    facts.add_row("evidence", evidence)
    title = Text.assemble((f"{number}. ", "bold"), (safe(found.title), "bold"))
    return Group(title, Padding(facts, (0, 0, 0, 3)))


def _cost(found: PlacedFinding) -> str:
    return (
        f"{time_text(found.exposed_ps)} exposed over all ranks that lose it; {percent_text(found.share)} of the "
        "slowest rank's time on the rank that loses most"
    )


def _categories(report: Report, _top: int | None) -> Group:
    rows = table(("category", False), ("time", True), ("share", True), ("", False), ("what", False))
    largest = max((share.share for share in report.breakdown), default=0.0)
    for share in report.breakdown:
        if share.share >= LEAST_SHOWN:
            rows.add_row(
                title(share.category),
                time_text(share.exposed_ps),
                percent_text(share.share),
                Text(bar(share.share / largest, 12), style="cyan"),
                Text(MEANING[share.category], style="dim"),
            )
    little = [title(share.category) for share in report.breakdown if 0 < share.share < LEAST_SHOWN]
    notes = [f"{', '.join(little)}: {percent_text(LEAST_SHOWN / 2)} each"] if little else []
    notes += [packing_text(report)] if report.packing else []
    notes += [files_text(report.files)] if report.files else []
    total = sum(rank.program_ps for rank in report.rank_times)
    return section(
        f"Where the time went (sum over ranks: {time_text(total)})", rows, *(Text(note, style="dim") for note in notes)
    )


def _sens(report: Report, _top: int | None) -> Group:
    rows = table(("part (SENS)", False), ("time", True), ("share", True), ("", False), ("categories in it", False))
    largest = max((part.share for part in report.sens), default=0.0)
    for part in report.sens:
        known = part.exposed_ps is not None
        rows.add_row(
            part.title,
            time_text(part.exposed_ps) if part.exposed_ps is not None else "-",
            percent_text(part.share) if known else "-",
            Text(bar(part.share / largest if largest else 0.0, 12), style="cyan"),
            Text(", ".join(title(one) for one in part.categories) if known else "not divided", style="dim"),
        )
    total = sum(rank.program_ps for rank in report.rank_times)
    return section(f"Where the time went (sum over ranks: {time_text(total)})", rows)


def _collectives(report: Report, top: int | None) -> Group | None:
    found = report.collectives
    if found is None:
        return None
    parts = table(("in collectives", False), ("time", True), ("share", True), ("what", False))
    for *row, what in part_rows(found):
        parts.add_row(*row, Text(what, style="dim"))
    kinds = table(*((name, number > 1) for number, name in enumerate(COLLECTIVE_HEADINGS)))
    for cells in kind_rows(found, min(KINDS, top or KINDS)):
        kinds.add_row(*map(safe, cells))
    rest = len(found.kinds) - min(KINDS, top or KINDS)
    body: list[RenderableType] = [Text(summary(found), style="dim"), parts]
    if found.kinds:
        body += [Text(""), kinds]
    if rest > 0:
        body.append(Text(f"{count_text(rest, 'further kind')} took less", style="dim"))
    return section("Collective operations", *body)


def _ranks(report: Report, _top: int | None) -> Group:
    threads = any(rank.named.thread is not None for rank in report.rank_times)
    rows = table(
        ("rank.thread" if threads else "rank", True),
        ("host", False),
        ("program", True),
        ("compute", True),
        ("waiting", True),
        ("communication", True),
    )
    shown, note = _extremes(report.rank_times)
    for rank in shown:
        rows.add_row(
            rank.named.short if rank.named.rank is not None else rank.named.text,
            plain(rank.host),
            time_text(rank.program_ps),
            _with_share(rank.compute_ps, rank.program_ps),
            _with_share(rank.waiting_ps, rank.program_ps),
            _with_share(rank.communication_ps, rank.program_ps),
        )
    title = "Ranks and their threads that communicate" if threads else "Ranks"
    return section(f"{title} (communication contains waiting)", rows, *([Text(note, style="dim")] if note else []))


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


def _efficiencies(report: Report, _top: int | None) -> Group:
    rows = table(("efficiency (POP)", False), ("value", True), ("", False))
    for efficiency in report.efficiencies:
        indent = {"parallel_efficiency": 0, "load_balance": 1, "communication_efficiency": 1}.get(efficiency.name, 2)
        name = "  " * indent + efficiency.name.replace("_", " ")
        if efficiency.value is None:
            rows.add_row(name, "-", Text(efficiency.reason, style="dim"))
        else:
            rows.add_row(name, percent_text(efficiency.value), Text(bar(efficiency.value), style="cyan"))
    notes = (lowest_text(report.stretches), residual_text(report))
    return section("Efficiencies", rows, *(Text(note, style="dim") for note in notes if note))


def _threads(report: Report, _top: int | None) -> Group | None:
    found = thread_rows(report)
    if not found:
        return None
    rows = table(*((heading, i > 0) for i, heading in enumerate(HEADINGS)))
    for row in found:
        rows.add_row(*row)
    return section("Threads and accelerators (in addition to the ranks' accounts)", rows)


def _waits(report: Report, _top: int | None) -> Group | None:
    states = [state for state in report.wait_states if state.wait_ps]
    if not states:
        return None
    rows = table(("wait state", False), ("time", True), ("occurrences", True))
    for state in states:
        rows.add_row(WAIT_STATE_NAMES[state.name], time_text(state.wait_ps), f"{state.count:,}")
    return section("Wait states (Scalasca's definitions, sum over ranks)", rows)


def _path(report: Report, top: int | None) -> Group | None:
    path = report.critical_path
    if path is None:
        return None
    rows = table(*((heading, i < 3) for i, heading in enumerate(PATH_HEADINGS)))
    for row in path_rows(path, top):
        rows.add_row(*map(plain, row))
    return section("Critical path (of the recorded execution)", plain(path_summary(path)), rows)


def _delays(report: Report, top: int | None) -> Group | None:
    delays = report.delays
    if delays is None:
        return None
    rows = table(*((heading, i < 4) for i, heading in enumerate(DELAY_HEADINGS)))
    for row in delay_rows(delays, top):
        rows.add_row(*map(plain, row))
    return section("Delay costs (which code makes others wait)", plain(delays_summary(delays)), rows)


def _regions(report: Report, top: int | None) -> Group | None:
    places = [place for place in report.places[:top] if place.share >= LEAST_SHOWN]
    if not places:
        return None
    rows = table(
        ("time", True),
        ("share", True),
        ("waiting", True),
        ("calls", True),
        ("mostly", False),
        ("call path", False),
        ("at", False),
    )
    for place in places:
        rows.add_row(
            time_text(place.exposed_ps),
            percent_text(place.share),
            time_text(place.waiting_ps),
            f"{place.calls:,}",
            title(place.largest),
            plain(shorten(place.path or place.region, 72)),
            plain(place.source),
        )
    return section("Communication by place in the code (sum over ranks)", rows)


def _files(report: Report, top: int | None) -> Group | None:
    if report.files is None:
        return None
    rows = table(*((heading, i < 3) for i, heading in enumerate(FILE_HEADINGS)))
    for row in file_rows(report.files, top):
        rows.add_row(*map(plain, row))
    return section("Files (in compute, sum over ranks)", rows)


def _messages(report: Report, _top: int | None) -> Group | None:
    messages = report.messages
    if messages.count == 0:
        return None
    average = f"{bytes_text(messages.bytes / messages.count)} and {time_text(messages.envelope_ps / messages.count)}"
    rows = table(("part of a message", False), ("per message", True), ("share", True))
    for part, time in sorted(messages.parts_ps.items(), key=lambda item: -item[1]):
        if time and time >= LEAST_SHOWN * messages.envelope_ps:
            rows.add_row(title(part), time_text(time / messages.count), percent_text(time / messages.envelope_ps))
    return section(
        "Messages",
        Text(
            f"{count_text(messages.count, 'message')}, {bytes_text(messages.bytes)}; on average {average} from the "
            "first enter to the receive's leave"
        ),
        rows,
        plain(machine_error(report), "dim"),
    )


def _network(report: Report, _top: int | None) -> Group | None:
    if not report.network:
        return None
    read = any(host.adapters for host in report.network)
    rows = table(*((heading, i not in (0, 3)) for i, heading in enumerate(NETWORK_HEADINGS)))
    for row in host_rows(report.network):
        rows.add_row(*row)
    notes = [*adapter_notes(report.network), NETWORK_MEANING if read else NOT_READ]
    return section("Network by host", rows, *(plain(note, "dim") for note in notes))


def _models(report: Report, _top: int | None) -> Group | None:
    return models_section(report) if report.models else None


def _machine(report: Report, _top: int | None) -> Group:
    machine = report.machine
    file = f" ({machine.file})" if machine.file else ""
    body: list[RenderableType] = [plain(f"{machine.name}: {machine.label}{file}")]
    if machine.values:
        body.append(machine_table(machine))
    if common_source(machine):
        body.append(plain(common_source(machine), "dim"))
    body.append(plain(machine_error(report)))
    body += [plain(f"note: {note}", "dim") for note in machine.notes]
    return section("Machine", *body)


def _quality(report: Report, _top: int | None) -> Group:
    counted = [count for count in report.quality if count.count > 0]
    if not counted:
        return section("Quality of the trace", Text("nothing unusual"))
    rows = table(("severity", False), ("count", True), ("of", False), ("what", False))
    order = {"data_loss": 0, "error": 1, "info": 2}
    style = {"data_loss": "bold red", "error": "red", "info": ""}
    for count in sorted(counted, key=lambda c: (order[c.severity], c.name)):
        rows.add_row(
            Text(count.severity.replace("_", " "), style=style[count.severity]),
            f"{count.count:,}",
            count.blame,
            plain(f"{count.name}: {count.sentence}"),
        )
    return section("Quality of the trace", rows)


def _limits(report: Report, _top: int | None) -> Group:
    return section("Limits of this analysis", *(plain(f"- {line}") for line in report.limits))


SECTIONS: Mapping[str, Callable[[Report, int | None], Group | None]] = {
    "warnings": _warnings,
    "summary": _summary,
    "findings": _findings,
    "categories": _categories,
    "sens": _sens,
    "collectives": _collectives,
    "ranks": _ranks,
    "efficiencies": _efficiencies,
    "threads": _threads,
    "waits": _waits,
    "path": _path,
    "delays": _delays,
    "regions": _regions,
    "files": _files,
    "messages": _messages,
    "network": _network,
    "models": _models,
    "machine": _machine,
    "quality": _quality,
    "limits": _limits,
}
"""What `--show` names, in the order of `--full`; of what a run has nothing, None."""
