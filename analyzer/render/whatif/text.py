"""A prediction as text for a terminal, drawn with rich; nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from logpost.analyzer.predict.whatif import Lengths, Prediction, Proposal, RegionChange, Sweep, Tolerance
from logpost.analyzer.render.whatif.grid import print_grid
from logpost.analyzer.words.units import percent_text, safe, shorten, time_text
from logpost.replay.graph import Outcome

if TYPE_CHECKING:
    from logpost.analyzer.predict.loggopsim import Scheduled

BARS = "▁▂▃▄▅▆▇█"
MOST_PIECES = 12
"""of a curve; a terminal shows the first and the last ones"""


def print_prediction(found: Prediction, console: Console, *, top: int) -> None:
    """Write the prediction; of the regions the `top` that change most."""
    console.print(Text(f"machine of the run: {safe(found.machine)}", style="dim"))
    if found.settings:
        console.print(Text(f"what if {safe(', '.join(found.settings))}", style="bold"))
    for note in found.notes:
        console.print(Text(f"! {safe(note)}", style="yellow"))
    for use in found.library:
        if not use.is_open:
            console.print(Text(f"MPI library: {use.sentence()}", style="dim"))
    low, high = found.interval_ps
    console.print(Text(f"measured   {time_text(found.measured_ps)}"))
    if found.settings:
        console.print(
            Text(
                f"predicted  {time_text(found.predicted_ps)}  ({time_text(low)} to {time_text(high)}), {_change(found)}"
            )
        )
    else:
        console.print(Text(f"replayed   {time_text(found.predicted_ps)}: nothing is changed"))
    _print_network(found, console)
    if found.proposal is not None:
        console.print(_placements(found.proposal))
    console.print(_path(found))
    short = -min(found.before.path_ps["residual"], found.after.path_ps["residual"], 0)
    if short:
        console.print(f"residual below 0: the machine's values make steps {time_text(short)} longer than was measured")
    console.print(_sensitivities(found.after))
    changed = [one for one in found.regions if one.gain_ps != 0]
    if changed:
        console.print(_regions(sorted(changed, key=lambda one: -abs(one.gain_ps))[:top]))
    if found.sweep is not None:
        _print_sweep(found.sweep, found.measured_ps, console)
    if found.grid is not None:
        print_grid(found.grid, console)


def print_lengths(found: Lengths, console: Console) -> None:
    """Write what `--quick` computes."""
    console.print(Text(f"machine of the run: {safe(found.machine)}", style="dim"))
    console.print(Text(f"measured   {time_text(found.measured_ps)}"))
    console.print(Text(f"predicted  {time_text(found.predicted_ps)}, {_change(found)}; without --quick: its interval"))


def print_scheduled(found: Scheduled, console: Console) -> None:
    """Write what a schedule lasts by the rules of another simulator."""
    console.print(Text(f"rules of LogGOPSim, machine {safe(found.machine)}"))
    for what, count in found.left_out.items():
        console.print(Text(f"! not in the schedule as recorded: {count:,} × {safe(what)}", style="yellow"))
    console.print(Text(f"as it is   {time_text(found.before_ps)}"))
    if found.settings:
        changed = f"predicted  {time_text(found.predicted_ps)}, {_by(found.before_ps, found.predicted_ps)}"
        console.print(Text(f"what if {safe(', '.join(found.settings))}", style="bold"))
        console.print(Text(changed))


def _change(found: Prediction | Lengths) -> str:
    return _by(found.measured_ps, found.predicted_ps)


def _by(before_ps: int, after_ps: int) -> str:
    if after_ps == before_ps:
        return "no change"
    way = "faster" if after_ps < before_ps else "slower"
    return f"{percent_text(abs(after_ps / max(before_ps, 1) - 1))} {way}"


def _print_network(found: Prediction, console: Console) -> None:
    change = found.network
    if change.after is None:
        console.print(Text(f"contention in the network: not modelled: {safe(change.why_not)}", style="dim"))
        return
    console.print(Text(f"contention in the network: modelled: {safe(change.topology) or 'NICs only'}", style="dim"))
    uses = [("before", change.before), ("after", change.after)] if found.settings else [("", change.after)]
    for name, use in uses:
        if use is None:
            continue
        text = (
            f"{name:7}{use.delayed:,} of {use.messages:,} messages between nodes waited, in the network "
            f"{time_text(use.waited_ps)} in all"
        )
        if use.busiest:
            text += f"; link {use.busiest} carries data {percent_text(use.utilisation)} of the time"
        if use.saturated:
            text += ": saturated"
        console.print(Text(text))


def _placements(proposal: Proposal) -> Table:
    table = Table(title="Placements that were replayed", title_justify="left")
    for name in ("placement", "cost of its messages", "predicted"):
        table.add_column(name, justify="left" if name == "placement" else "right")
    for name, cost, makespan in proposal.tried:
        mark = "  <- best" if name == proposal.name else ""
        table.add_row(name + mark, percent_text(cost), time_text(makespan))
    return table


def _path(found: Prediction) -> Table:
    table = Table(title="Critical path", title_justify="left")
    table.add_column("part")
    table.add_column("before", justify="right")
    table.add_column("share", justify="right")
    if found.settings:
        table.add_column("after", justify="right")
        table.add_column("share", justify="right")
    for part, before in found.before.path_ps.items():
        after = found.after.path_ps[part]
        if before == after == 0:
            continue
        cells = [part.replace("_", " "), time_text(before), percent_text(before / max(found.measured_ps, 1))]
        if found.settings:
            cells += [time_text(after), percent_text(after / max(found.predicted_ps, 1))]
        table.add_row(*cells)
    return table


def _sensitivities(outcome: Outcome) -> Table:
    table = Table(title="What the makespan depends on (derivatives on the critical path)", title_justify="left")
    table.add_column("locality")
    table.add_column("parameter")
    table.add_column("grows by", justify="right")
    for locality, values in outcome.sensitivities.items():
        for parameter, value in values.items():
            if value:
                unit = "ns per ns/B" if parameter == "G" else "ns per ns"
                table.add_row(locality, parameter, f"{value:,.0f} {unit}")
    table.add_row("", "computation", f"{time_text(outcome.compute_ps / 100)} per 1 %")
    return table


def _regions(changed: list[RegionChange]) -> Table:
    table = Table(title="Regions that change most (sum over locations)", title_justify="left")
    table.add_column("region", overflow="fold")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right")
    table.add_column("change", justify="right")
    for one in changed:
        sign = "-" if one.gain_ps > 0 else "+"
        table.add_row(
            Text(safe(shorten(one.region, 60))),
            time_text(one.before_ps),
            time_text(one.after_ps),
            sign + time_text(abs(one.gain_ps)),
        )
    return table


def _print_sweep(sweep: Sweep, measured_ps: int, console: Console) -> None:
    values = [point.makespan_ps for point in sweep.points]
    least, most = min(values), max(values)
    line = "".join(BARS[round((value - least) / max(most - least, 1) * (len(BARS) - 1))] for value in values)
    console.print(Text(f"{sweep.name}: {sweep.points[0].text} {line} {sweep.points[-1].text}", style="bold"))
    table = Table()
    table.add_column(safe(sweep.name), justify="right")
    table.add_column("predicted", justify="right")
    table.add_column("between", justify="right")
    table.add_column("against measured", justify="right")
    for point in sweep.points:
        low, high = point.interval_ps
        table.add_row(
            point.text,
            time_text(point.makespan_ps),
            f"{time_text(low)} to {time_text(high)}",
            f"{100 * (point.makespan_ps / max(measured_ps, 1) - 1):+.2f} %",
        )
    console.print(table)
    if sweep.pieces:
        _print_pieces(sweep, console)
    else:
        if sweep.sampled:
            console.print(f"no breakpoints: {sweep.sampled}; the makespan is known at these points only")
        if sweep.bands:
            said = sweep.axis.said
            console.print(", ".join(f"{one.name} {said(one.begin)} to {said(one.end)}" for one in sweep.bands))
    for one in sweep.tolerances:
        console.print(f"{one.percent:>3} % more time: {safe(_tolerated(sweep, one))}")


def _tolerated(sweep: Sweep, one: Tolerance) -> str:
    factor = None if one.factor is None else f"{one.factor:.4g} times {sweep.name}"
    if one.value is None:
        return "at no value" if factor is None else f"at {factor}"
    value = f"at {sweep.name} = {sweep.axis.show(float(f'{one.value:.4g}'))}"
    return value if factor is None else f"{value}, {factor}"


def _print_pieces(sweep: Sweep, console: Console) -> None:
    count = len(sweep.pieces) - 1
    title = f"Breakpoints: {count}" if count else "No breakpoint: one critical path"
    table = Table(title=title, title_justify="left")
    table.add_column("from", justify="right")
    table.add_column("to", justify="right")
    table.add_column("predicted", justify="right")
    table.add_column(f"on the path: {safe(sweep.name)}", justify="right")
    table.add_column("region")
    unit = " B" if sweep.name.rpartition(".")[2] == "G" else ""
    shown = sweep.pieces
    if len(shown) > MOST_PIECES:
        shown = [*shown[: MOST_PIECES // 2], *shown[-MOST_PIECES // 2 :]]
    for one in shown:
        table.add_row(one.start, one.end, time_text(one.start_ps), f"{one.count:,.0f}{unit}", one.region)
    console.print(table)
    if len(shown) < len(sweep.pieces):
        console.print(f"{len(sweep.pieces) - len(shown)} pieces in the middle: see --json")
    regions: list[tuple[str, str, str]] = []
    for one in sweep.pieces:
        joined = bool(regions) and regions[-1][0] == one.region
        regions[-1 if joined else len(regions) :] = [(one.region, regions[-1][1] if joined else one.start, one.end)]
    console.print(", ".join(f"{name} {start} to {end}" for name, start, end in regions))
    if sweep.above_ps > 0:
        console.print(
            f"there are more breakpoints: the makespan is above these pieces by {time_text(sweep.above_ps)} at most"
        )
