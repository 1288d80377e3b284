"""Draw explained messages for a terminal: both sides' calls and each model's partition as bars on one axis of time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from logpost.analyzer.explain.calls import CallCandidate
from logpost.analyzer.explain.messages import Candidate, ExplainedMessage, Explanation, Side, Split
from logpost.analyzer.explain.piece import Piece
from logpost.analyzer.render.explain.collective import collective_text
from logpost.analyzer.render.explain.transfer import transfer_text
from logpost.analyzer.render.report.machine import value_text
from logpost.analyzer.run.manifest import MachineValue
from logpost.analyzer.run.undivided import UNDIVIDED, title
from logpost.analyzer.words.units import bytes_text, count_text, percent_text, safe, shorten, span_text, time_text

CELLS = 100
"""Cells of a bar on a wide terminal."""
LETTERS = {
    "late_sender": ("w", "yellow"),
    "send_overhead": ("s", "green"),
    "middleware": ("m", "green"),
    "endpoint_contention": ("e", "magenta"),
    "latency": ("L", "blue"),
    "serialization": ("G", "cyan"),
    "network_contention": ("n", "magenta"),
    "late_receiver": ("p", "yellow"),
    "processor_queueing": ("q", "magenta"),
    "recv_overhead": ("r", "green"),
    "residual": ("?", "bold"),
    UNDIVIDED: ("t", "blue"),
}
"""Letter and style of each part in a bar."""
ROLE_TEXTS = {
    "send_call": "sends",
    "send_complete_call": "completes the send",
    "recv_post_call": "posts the receive",
    "recv_call": "receives",
}
ROLES_OF_SENDER = ("send_call", "send_complete_call")
ROLES_OF_RECEIVER = ("recv_post_call", "recv_call")


def print_candidates(
    messages: Sequence[Candidate],
    transfers: Sequence[CallCandidate],
    operations: Sequence[CallCandidate],
    run: str,
    machine: str,
    console: Console,
) -> None:
    """The messages and transfers that the run's model explains worst, and the longest collective operations, with their
    names for `explain`."""
    if messages:
        table = _table("_message", "_from", "_to", ">bytes", ">time", ">residual", ">deficit", "received by")
        for one in messages:
            table.add_row(
                *(one.name, safe(one.sender), safe(one.receiver), bytes_text(one.bytes), time_text(one.envelope_ps)),
                *("–" if time is None else time_text(time) for time in (one.residual_ps, one.deficit_ps)),
                Text(safe(shorten(one.region, 48))),
            )
        console.print(Text("Messages with the largest residual and deficit", style="bold"))
        console.print(table)
    if transfers:
        table = _table("_call", "what", "_from", "_at", ">bytes", ">time", ">residual", ">deficit", "started by")
        for call in transfers:
            table.add_row(
                *(str(call.call), call.what, safe(call.where), safe(call.target)),
                *(bytes_text(call.bytes), time_text(call.time_ps)),
                *("–" if time is None else time_text(time) for time in (call.residual_ps, call.deficit_ps)),
                Text(safe(shorten(call.region, 48))),
            )
        console.print(Text("Transfers with the largest residual and deficit", style="bold"))
        console.print(table)
    if operations:
        table = _table("_call", "what", "_on", ">received", ">time", "called by")
        for call in operations:
            table.add_row(
                *(str(call.call), call.what, safe(call.where), bytes_text(call.bytes), time_text(call.time_ps)),
                Text(safe(shorten(call.region, 48))),
            )
        console.print(Text("Collective operations that last longest once their late members are there", style="bold"))
        console.print(table)
    first = messages[0].name if messages else (*transfers, *operations)[0].call
    console.print(Text(f"machine: {safe(machine)}\nnext: logpost explain {safe(run)} {first}", style="dim"))


def print_explanation(found: Explanation, console: Console) -> None:
    """Every message with its bars and pieces, then the machine and each model's error."""
    for message in found.messages:
        console.print(_message(message, console.width))
        console.print()
    for one in found.collectives:
        console.print(collective_text(one))
        console.print()
    for transfer in found.transfers:
        console.print(transfer_text(transfer))
        console.print()
    for left_out, what in ((found.left_out, "further message"), (found.transfers_left_out, "further transfer")):
        if left_out:
            console.print(Text(f"{count_text(left_out, what)} of this call (--top)", style="dim"))
    console.print(_errors(found))


def _table(*columns: str) -> Table:
    """Columns by name; those with > in front are numbers, those with _ never wrap."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        right = name.startswith(">")
        whole = right or name.startswith("_")
        table.add_column(name.lstrip(">_"), justify="right" if right else "left", overflow="fold", no_wrap=whole)
    return table


def _message(message: ExplainedMessage, width: int) -> Group:
    groups = _equal(message.splits)
    kind = "rendezvous" if message.splits[0].rendezvous else "eager"
    facts = [bytes_text(message.bytes), kind, message.locality.replace("_", " "), f"tag {message.tag}"]
    if message.any_source:
        facts.append("received from any source")
    if message.hops > 0:
        facts.append(count_text(message.hops, "hop"))
    if message.layout is not None:
        layout = message.layout
        facts.append(f"{layout.blocks} blocks of {layout.block_bytes} B every {layout.stride_bytes} B")
    title = f"message {message.name}: {safe(message.sender)} to {safe(message.receiver)}, {', '.join(facts)}"
    lines: list[RenderableType] = [_sides(message)]
    if message.clock_violation:
        lines.append(
            Text("received before it was sent: the clocks contradict each other, no model is fitted", "yellow")
        )
    lines += [_bars(message, groups, width), _legend(groups), _pieces(message, groups)]
    if message.values:
        lines.append(Text(f"the machine states: {', '.join(map(_value, message.values))}", style="dim"))
    return Group(Text(title, style="bold"), *(Padding(line, (0, 0, 0, 2)) for line in lines))


def _equal(splits: Sequence[Split]) -> list[tuple[list[Split], Split]]:
    """Models that give the same partition share a row."""
    groups: dict[tuple[tuple[Piece, ...], int], list[Split]] = {}
    for split in splits:
        groups.setdefault((split.pieces, split.deficit_ps), []).append(split)
    return [(group, group[0]) for group in groups.values()]


def _sides(message: ExplainedMessage) -> Table:
    table = _table("", "", ">call", "what", "at", ">enter", ">takes")
    for side in message.sides:
        table.add_row(
            safe(side.where),
            ROLE_TEXTS[side.role],
            str(side.call),
            Text(safe(shorten(side.place.region, 40))),
            Text(safe(side.place.source)),
            _offset(side.enter_ps - message.begin_ps),
            time_text(side.leave_ps - side.enter_ps),
        )
    return table


def _offset(ps: int) -> str:
    return "0 s" if ps == 0 else f"{'+' if ps > 0 else ''}{time_text(ps)}"


def _bars(message: ExplainedMessage, groups: list[tuple[list[Split], Split]], width: int) -> Text:
    begin, end = message.begin_ps, message.end_ps
    names = [safe(message.sender), *(_names(group, ",") for group, _ in groups), safe(message.receiver)]
    label = min(max(map(len, names)), 24) + 2
    cells = max(8, min(CELLS, width - label - 2))
    bars = [_calls(message, ROLES_OF_SENDER, cells)]
    bars += [_letters(split, begin, end, cells) for _, split in groups]
    bars.append(_calls(message, ROLES_OF_RECEIVER, cells))
    text = Text(no_wrap=True, overflow="crop")
    text.append(f"{'':<{label}}0 s{time_text(end - begin):>{cells - 3}}", style="dim")
    for name, bar in zip(names, bars, strict=True):
        text.append(f"\n{shorten(name, label - 2):<{label}}").append_text(bar)
    return text


def _calls(message: ExplainedMessage, roles: tuple[str, str], cells: int) -> Text:
    """Where one side is inside of the calls of this message."""
    mine: list[Side] = [side for side in message.sides if side.role in roles]
    inside = [any(s.enter_ps < b and s.leave_ps > a for s in mine) for a, b in _cells(message, cells)]
    return Text("".join("█" if one else "·" for one in inside), style="dim")


def _cells(message: ExplainedMessage, cells: int) -> list[tuple[float, float]]:
    width = (message.end_ps - message.begin_ps) / cells
    return [(message.begin_ps + i * width, message.begin_ps + (i + 1) * width) for i in range(cells)]


def _letters(split: Split, begin: int, end: int, cells: int) -> Text:
    """A cell bears the letter of the part that has most of it."""
    text = Text()
    width = (end - begin) / cells
    first = 0
    for cell in range(cells):
        low, high = begin + cell * width, begin + (cell + 1) * width
        while first < len(split.pieces) - 1 and split.pieces[first].end_ps <= low:
            first += 1
        most, part = 0.0, ""
        for piece in split.pieces[first:]:
            if piece.begin_ps >= high:
                break
            overlap = min(high, piece.end_ps) - max(low, piece.begin_ps)
            if overlap > most:
                most, part = overlap, piece.part
        letter, style = LETTERS[part] if part else (" ", "")
        text.append(letter, style=style)
    return text


def _names(group: Sequence[Split], between: str) -> str:
    return between.join(split.model.label for split in group)


def _legend(groups: list[tuple[list[Split], Split]]) -> Text:
    used = {piece.part for _, split in groups for piece in split.pieces}
    known = [f"{letter} {title(part)}" for part, (letter, _) in LETTERS.items() if part in used]
    return Text(", ".join(["█ in a call", *known]), style="dim")


def _pieces(message: ExplainedMessage, groups: list[tuple[list[Split], Split]]) -> Table:
    table = _table("model", "part", ">from its begin", ">length", ">share")
    whole = max(1, message.end_ps - message.begin_ps)
    for group, split in groups:
        name = _names(group, ", ")
        for piece in split.pieces:
            length = piece.end_ps - piece.begin_ps
            table.add_row(
                Text(name),
                title(piece.part),
                span_text(piece.begin_ps - message.begin_ps, piece.end_ps - message.begin_ps),
                time_text(length),
                percent_text(length / whole),
            )
            name = ""
        if split.deficit_ps:
            table.add_row(name, "deficit (not in the sum)", "", time_text(split.deficit_ps), "")
    return table


def _value(value: MachineValue) -> str:
    return f"{value.parameter.replace('_per_byte', ' per byte')} = {value_text(value)}"


def _errors(found: Explanation) -> Group:
    lines = [Text(f"machine: {safe(found.machine)}; error of each model over all messages of the run:", style="dim")]
    for fit in found.fits:
        said = safe(fit.reason)
        if fit.messages is not None:
            residual, deficit = map(percent_text, (fit.messages.residual_share, fit.messages.deficit_share))
            said = f"{residual if fit.misfit_known else 'unknown'} residual, {deficit} deficit"
        lines.append(Text(f"  {fit.model.label}: {said}", style="dim"))
    return Group(*lines)
