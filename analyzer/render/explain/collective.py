"""Draw a member's path through a collective operation for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.explain.collective import ExplainedCollective, ModelledPath
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import count_text, percent_text, safe, span_text, time_text


def collective_text(one: ExplainedCollective) -> Group:
    """The operation, its wait, and the path under each model; models that give the same path share a row."""
    where = one.place.region + (f" ({one.place.source})" if one.place.source else "")
    head = f"{one.operation} of {count_text(one.members, 'member')}: {one.where} in call {one.call}, {where}"
    measured = one.leave_ps - one.since_ps
    facts = f"{time_text(one.since_ps - one.enter_ps)} waiting for late members, then {time_text(measured)}"
    lines: list[RenderableType] = [Text(facts)]
    if not any(path.stretches for path in one.paths) and all(path.algorithm == "not_known" for path in one.paths):
        lines.append(Text("not divided: a member, a record of it, or an algorithm is missing", style="yellow"))
    else:
        lines.append(_ways(one))
    return Group(Text(safe(head), style="bold"), *(Padding(line, (0, 0, 0, 2)) for line in lines))


def _ways(one: ExplainedCollective) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, right in (("model", False), ("part", False), ("from", True), ("length", True), ("share", True)):
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=right)
    groups: dict[tuple[object, ...], list[ModelledPath]] = {}
    for path in one.paths:
        groups.setdefault((path.algorithm, path.stretches), []).append(path)
    whole = max(1, one.leave_ps - one.since_ps)
    for group in groups.values():
        path = group[0]
        name = f"{', '.join(each.model.label for each in group)} as {path.algorithm.replace('_', ' ')}"
        for stretch in path.stretches:
            length = stretch.end_ps - stretch.begin_ps
            span = span_text(stretch.begin_ps - one.since_ps, stretch.end_ps - one.since_ps)
            table.add_row(name, title(stretch.part), span, time_text(length), percent_text(length / whole))
            name = ""
        beyond = one.leave_ps - path.end_ps
        if beyond > 0:
            table.add_row(name, "residual", "", time_text(beyond), percent_text(beyond / whole))
        elif beyond < 0:
            table.add_row(name, "deficit (the parts above yield it)", "", time_text(-beyond), "")
    return table
