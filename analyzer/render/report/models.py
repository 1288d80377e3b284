"""Render the comparison of the models as a table: parts, residual and deficit of all messages under each."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.report.data import Report
from logpost.analyzer.report.models import best, misfit_text, parts_present, usable, verdict
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import percent_text, safe


def models_section(report: Report) -> Group:
    """The section of a report that was built with the models' fits."""
    fits = usable(report.models)
    first = best(report.models)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("share of message time", overflow="fold")
    for fit in fits:
        table.add_column(fit.model.label, justify="right", no_wrap=True)
    split = [fit.messages for fit in fits if fit.messages is not None]
    for part in parts_present(report.models):
        shares = (one.parts_ps.get(part, 0) / max(1, one.envelope_ps) for one in split)
        table.add_row(title(part), *map(percent_text, shares))
    table.add_row("deficit (not in the sum)", *(percent_text(one.deficit_share) for one in split))
    table.add_row(
        "misfit: residual + deficit",
        *(Text(misfit_text(fit), style="bold" if fit is first else "") for fit in fits),
    )
    lines: list[RenderableType] = [table]
    lines += [Text(f"{fit.model.label}: {fit.model.terms}", style="dim") for fit in fits]
    lines += [Text(f"{fit.model.label}: {safe(fit.reason)}", style="dim") for fit in report.models if not fit.messages]
    lines.append(Text(verdict(report.models, estimated=report.machine.origin == "estimated")))
    lines.append(Text(f"machine: {safe(report.machine.name)} ({safe(report.machine.label)})", style="dim"))
    return Group(Text("Models of the same messages", style="bold"), *(Padding(line, (0, 0, 0, 2)) for line in lines))
