"""A report on one screen: what the run is, how much it loses and why, what to do, and how far to trust that."""

from __future__ import annotations

import shlex

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.findings.finding import MIN_SHARE
from logpost.analyzer.render.report.files import files_text
from logpost.analyzer.render.report.layout import BAR, bar, place_text, plain, scope_line, section, source_line
from logpost.analyzer.render.report.machine import machine_error
from logpost.analyzer.report.data import PlacedFinding, Report
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import count_text, percent_text, sentence_text, time_text

LINES = 45
"""Of a screen."""
FINDINGS = 3
"""Findings on it, the ones that save most."""
PATH = 48
"""Characters of a call path, whose end is kept: with the ranks and the line of the source it fills a line."""


def print_screen(report: Report, console: Console, *, top: int = FINDINGS, replays: bool = True) -> None:
    """Write what fits on a screen of 80 columns: the first warning, one finding, and more of both where lines are left.

    Arguments:
        report: what to write.
        console: where to.
        top: the most findings, at least 1.
        replays: whether `logpost whatif` finds the findings by their numbers: not those of a part of a run.
    """
    warnings = [plain(f"! {warning}", "bold yellow") for warning in report.warnings]
    first = sum(_height(line, console) for line in warnings[:1]) + (len(warnings) > 1)
    for count in range(top, 0, -1):
        body = _body(report, count, replays=replays)
        if (left := LINES - _height(body, console)) >= first:
            break
    console.print(*_fitting(warnings, console, max(left, first)), body, sep="\n")


def _body(report: Report, top: int, *, replays: bool) -> Group:
    findings = [Group(_findings(report, top, replays=replays), Text())] if report.findings else []
    return Group(
        Group(plain(source_line(report), "bold"), plain(scope_line(report), "dim"), Text()),
        Group(_lost(report), Text()),
        *findings,
        _trust(report),
        plain(f"next: logpost report {_run(report)} --show findings,ranks (--full: all sections)"),
    )


def _run(report: Report) -> str:
    return shlex.quote(report.run)


def _height(shown: RenderableType, console: Console) -> int:
    return len(console.render_lines(shown, pad=False))


def _fitting(warnings: list[Text], console: Console, most: int) -> list[Text]:
    """As many as fit, the first ones first; how many others there are."""
    kept: list[Text] = []
    for number, line in enumerate(warnings, 1):
        most -= _height(line, console)
        if most < (number < len(warnings)):
            rest = count_text(len(warnings) - len(kept), "further warning")
            return [*kept, Text(f"! {rest}: --show warnings", style="bold yellow")]
        kept.append(line)
    return kept


def _lost(report: Report) -> Group:
    """The lost time by category, and as much of it as the findings explain."""
    of = report.coverage
    in_files = [plain(files_text(report.files))] if report.files and report.files.share >= MIN_SHARE else []
    if not of.lost_ps:
        return Group(plain(report.conclusion, "bold"), *in_files)
    lost = [one for one in report.breakdown if one.category != "compute"]
    listed = sorted((one for one in lost if one.share >= MIN_SHARE), key=lambda one: -one.share)
    rows = [(title(one.category), one.exposed_ps, one.share) for one in listed]
    if rest := of.lost_ps - sum(one.exposed_ps for one in listed):
        rows.append((f"{'other' if rows else 'several'} categories", rest, of.share * rest / of.lost_ps))
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, time, share in rows:
        table.add_row(
            Text(name),
            Text(time_text(time), justify="right"),
            Text(percent_text(share), justify="right"),
            Text(bar(share / of.share), style="cyan"),
        )
    return section(of.lost_text, table, _explained(report), *in_files)


def _explained(report: Report) -> Text:
    of = report.coverage
    if not report.findings:
        return plain(report.conclusion)
    low, known, high = (round(part * BAR) for part in of.explained_parts)
    if not high:
        return Text(of.explained_text)
    return Text.assemble(
        ("█" * low + "▓" * (known - low) + "▒" * (high - known), "green"),
        ("░" * (BAR - high), "dim"),
        f"  {of.explained_text}",
    )


def _findings(report: Report, top: int, *, replays: bool) -> Group:
    shown = [_finding(n, found, report, replays=replays) for n, found in enumerate(report.findings[:top], 1)]
    rest = len(report.findings) - len(shown)
    more = [Text(f"{count_text(rest, 'further finding')}: --show findings", style="dim")] if rest else []
    return section("Findings, by the time that their cures save", *shown, *more)


def _finding(number: int, found: PlacedFinding, report: Report, *, replays: bool) -> Group:
    lines: list[RenderableType] = [
        Text.assemble((f"{number}. saves {found.between_text}", "bold"), plain(f"  {sentence_text(found.title)}")),
        Padding(plain(f"{place_text(found, PATH)}: {_what_to_do(found)}"), (0, 0, 0, 3)),
    ]
    if found.alternatives:
        lines.append(Padding(plain(f"instead: {found.alternatives_text}"), (0, 0, 0, 3)))
    change = f"whatif {_run(report)} --without {number}"
    if not replays:
        change = f"compare {_run(report)} CHANGED.run"
    lines.append(plain(f"   verify: logpost {change}", "dim"))
    return Group(*lines)


def _what_to_do(found: PlacedFinding) -> str:
    """An advice without what follows its colon: how to do it is in `--show findings`."""
    return found.advice.partition(": ")[0].removesuffix(".")


def _trust(report: Report) -> Group:
    residual = next((one for one in report.breakdown if one.category == "residual"), None)
    unusual = [one for one in report.quality if one.count and one.severity != "info"]
    said = [sentence_text(machine_error(report))]
    if report.machine.not_measured:
        said.append(sentence_text(report.machine.not_measured))
    if residual is not None and residual.exposed_ps:
        said.append(f"{percent_text(residual.share)} of the ranks' time is not explained")
    if unusual:
        said.append(f"{count_text(len(unusual), 'kind')} of errors in the trace: --show quality")
    return Group(Text("Trust", style="bold"), *(Padding(plain(one), (0, 0, 0, 2)) for one in said))
