"""Render the comparison of the models as tables: parts, residual and deficit under each, of all messages, of all
transfers and of all collective operations."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.report.data import Report
from logpost.analyzer.report.models import KINDS, Fit, best, fits_of, misfit_text, parts_present, share_text, verdict
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import percent_text, safe


def models_section(report: Report) -> Group:
    """The section of a report that was built with the models' fits."""
    lines: list[RenderableType] = []
    for kind, of in KINDS.items():
        fits = fits_of(report.models, kind)
        if kind == "messages" or any(sums.count for _, sums in fits):
            lines += [_table(fits, of), Text()]
    terms = {fit.model for fit in report.models if fit.messages}
    lines += [Text(f"{fit.model.label}: {fit.model.terms}", style="dim") for fit in report.models if fit.model in terms]
    lines += [Text(f"{fit.model.label}: {safe(fit.reason)}", style="dim") for fit in report.models if not fit.messages]
    if any(sums.share_intervals for _, sums in fits_of(report.models)):
        lines.append(Text("Second lines: 95 % intervals that the machine's values leave.", style="dim"))
    lines.append(Text(verdict(report.models, estimated=report.machine.origin == "estimated")))
    lines.append(Text(f"machine: {safe(report.machine.name)} ({safe(report.machine.label)})", style="dim"))
    return Group(Text("Models of the same messages", style="bold"), *(Padding(line, (0, 0, 0, 2)) for line in lines))


def _table(fits: Sequence[Fit], of: str) -> Table:
    """A column for each model, a row for each part."""
    first = best(fits)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(f"share of {of}", overflow="fold")
    for model, _ in fits:
        table.add_column(model.label, justify="right", no_wrap=True)
    for part in parts_present(fits):
        table.add_row(title(part), *(share_text(sums, part, "\n") for _, sums in fits))
    table.add_row("deficit (not in the sum)", *(share_text(sums, "deficit", "\n") for _, sums in fits))
    computed = any(sums.not_computed_ps for _, sums in fits)
    if computed:
        shares = (sums.not_computed_ps / max(1, sums.envelope_ps) for _, sums in fits)
        table.add_row("late receiver not computed", *map(percent_text, shares))
    table.add_row(
        "misfit: residual + deficit" + (" + not computed" if computed else ""),
        *(Text(misfit_text(sums), style="bold" if model is first else "") for model, sums in fits),
    )
    return table
