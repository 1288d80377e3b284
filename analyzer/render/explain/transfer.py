"""Show the parts of a one-sided transfer for a terminal."""

from __future__ import annotations

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.explain.transfer import ExplainedTransfer, TransferSplit
from logpost.analyzer.run.manifest import Layout
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import bytes_text, percent_text, safe, time_text


def transfer_text(one: ExplainedTransfer) -> Group:
    """The transfer and its parts under each model; models that give the same parts share a row."""
    facts = [bytes_text(one.bytes)]
    facts += [f"{where} {_layout(of)}" for where, of in (("from", one.layout), ("to", one.target_layout)) if of]
    ends = f"{safe(one.origin)} at {safe(one.target)}"
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, right in (("model", False), ("part", False), ("length", True), ("share", True)):
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=right)
    whole = max(1, one.end_ps - one.begin_ps)
    for group in _equal(one.splits):
        name = ", ".join(split.model.label for split in group)
        for part, time in group[0].parts_ps.items():
            if time:
                table.add_row(name, title(part), time_text(time), percent_text(time / whole))
                name = ""
        if group[0].deficit_ps:
            table.add_row(name, "deficit (not in the sum)", time_text(group[0].deficit_ps), "")
    head = Text(f"{one.kind} of {ends}, {', '.join(facts)}: {time_text(one.end_ps - one.begin_ps)}", style="bold")
    return Group(head, Padding(table, (0, 0, 0, 2)))


def _layout(layout: Layout) -> str:
    return f"{layout.blocks} blocks of {layout.block_bytes} B every {layout.stride_bytes} B"


def _equal(splits: tuple[TransferSplit, ...]) -> list[list[TransferSplit]]:
    groups: dict[tuple[tuple[tuple[str, int], ...], int], list[TransferSplit]] = {}
    for split in splits:
        groups.setdefault((tuple(split.parts_ps.items()), split.deficit_ps), []).append(split)
    return list(groups.values())
