"""`logpost predict MODEL`: evaluate a model for parameters or a machine, over sweeps, as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from logpost.replay.predict.prediction import Column, Prediction

MODEL = typer.Argument(..., metavar="MODEL", help="A model of `logpost models`.", show_default=False)
SET = typer.Option([], "--set", "-s", help="NAME=VALUE with a unit, e.g. L=5us, B=4KiB, G=10GB/s. Repeatable.")
SWEEP = typer.Option(
    [], "--sweep", help="NAME=FROM:TO:COUNT (geometric; :lin for even steps) or NAME=A,B,C. Repeatable: a grid."
)
MACHINE = typer.Option(None, "--machine", "-m", help="Machine (name or file) that supplies every value not set.")
LOCALITY = typer.Option(
    None,
    "--locality",
    help="The machine's locality class: self, same_socket, same_node, other_node.",
    show_default="other_node",
)
UNIT = typer.Option(None, "--unit", help="Unit of times, for bare numbers and in the table: ps, ns, us, ms, s, cycle.")
CLOCK = typer.Option(
    None, "--clock", help="Processor clock, e.g. 20MHz, for values in cycles where the machine file has none."
)
CSV = typer.Option(None, "--csv", help="Write the table as CSV to FILE instead of showing it (- for standard output).")
FORCE = typer.Option(False, "--force", help="Overwrite the CSV file.")
JSON = typer.Option(False, "--json", help="Print JSON instead of a table.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print only the results: tab-separated, no header.")


def command(
    name: str = MODEL,
    assignments: list[str] = SET,
    sweeps: list[str] = SWEEP,
    machine: str | None = MACHINE,
    locality: str | None = LOCALITY,
    unit: str | None = UNIT,
    clock: str | None = CLOCK,
    csv_file: str | None = CSV,
    force: bool = FORCE,
    as_json: bool = JSON,
    quiet: bool = QUIET,
) -> None:
    """Evaluate a model for given parameters or a machine.

    Example: logpost predict loggp --set L=5us --set o=1us --set G=10GB/s --sweep B=1:1MiB:21

    Example: logpost predict logpc-all-to-all --machine alewife --set B=8
    """
    from logpost.errors import InputError
    from logpost.machines import load_machine
    from logpost.replay.models.registry import model
    from logpost.replay.predict.prediction import predict
    from logpost.whole_file import refuse_existing, write_whole

    if csv_file == "-" and (as_json or quiet):
        other = "--json" if as_json else "--quiet"
        raise InputError(f"{other} and --csv - both write to standard output; drop one, or give --csv a file")
    if csv_file is not None and csv_file != "-":
        refuse_existing(Path(csv_file), force=force)
    found = predict(
        model(name),
        assignments,
        sweeps,
        machine=None if machine is None else load_machine(machine),
        locality=locality,
        unit=unit,
        clock_hz=None if clock is None else _hertz(clock),
    )
    if csv_file is not None and csv_file != "-":
        write_whole(Path(csv_file), _csv(found))
    if as_json:
        print_json(_document(found), ascii_only=False)
    elif quiet:
        for row in found.rows():
            print("\t".join(f"{row[name]:.10g}" for name in row))
    elif csv_file == "-":
        print(_csv(found), end="")
    elif csv_file is None:
        _table(found)


# Outside this range cycles would overflow as times.
_SLOWEST_HZ, _FASTEST_HZ = 1.0, 1e15


def _hertz(text: str) -> float:
    from logpost.errors import InputError
    from logpost.machines.values.units import UNITS, to_base

    number = text.rstrip("kMGHz ")
    unit = text[len(number) :].strip()
    try:
        value = to_base(float(number), unit or "Hz")
    except ValueError:
        value = math.nan
    known = not unit or (unit in UNITS and UNITS[unit].dimension == "frequency")
    if not known or not _SLOWEST_HZ <= value <= _FASTEST_HZ:
        raise InputError(f"--clock {text} is not a clock rate; write e.g. --clock 20MHz")
    return value


def _table(found: Prediction) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for start, values in ((f"{found.model.name} with ", found.used), ("and ", found.defaults)):
        parts = [f"{name} = {value}" + ("" if origin == "given" else f" ({origin})") for name, value, origin in values]
        if parts:
            console.print(start + ", ".join(parts), markup=False, highlight=False)
    for one in found.beyond:
        console.print(one.text(found.count), markup=False, highlight=False)
    if found.uncertain is not None:
        console.print(_about_intervals(*found.uncertain), markup=False, highlight=False)
    columns = (*found.swept, *found.results)
    cells = [_cells(found, column) for column in columns]
    if found.swept:
        table = Table(caption=f"{found.model.title}")
        shown: list[list[str]] = []
        for column, texts in zip(columns, cells, strict=True):
            header = f"{column.name}\n{column.unit}" if column.unit else column.name
            table.add_column(header, justify="right", no_wrap=True)
            shown.append(texts)
            if (ends := _interval_cells(column)) is not None:
                table.add_column(f"{column.name}\n95 %", justify="right", no_wrap=True)
                shown.append(ends)
        for row in zip(*shown, strict=True):
            table.add_row(*row)
    else:
        table = Table()
        table.add_column("result")
        table.add_column("value", justify="right")
        if found.uncertain is not None:
            table.add_column("95 %", justify="right")
        table.add_column("unit")
        table.add_column("meaning", overflow="fold")
        for column, (value,) in zip(columns, cells, strict=True):
            ends = [] if found.uncertain is None else (_interval_cells(column) or [""])
            table.add_row(column.name, value, *ends, column.unit, column.meaning)
    # A table wider than the terminal wraps, because a truncated figure would be worse.
    needed = console.measure(table, options=console.options.update(width=10_000)).maximum
    wide = console if needed <= console.width else Console(width=needed)
    wide.print(table)


def _cells(found: Prediction, column: Column) -> list[str]:
    """A column's values as text; infinite ones read as saturated where a saturated channel causes them."""
    return [
        "-" if math.isnan(value) else "inf (saturated)" if saturated else f"{value:.7g}"
        for value, saturated in zip(column.values.tolist(), found.saturated(column), strict=True)
    ]


def _interval_cells(column: Column) -> list[str] | None:
    """The bounds of a column's intervals as text, None where it has none."""
    if column.interval is None:
        return None
    return [
        "-" if math.isnan(low + high) else f"{low:.4g} to {high:.4g}"
        for low, high in zip(*(ends.tolist() for ends in column.interval), strict=True)
    ]


def _about_intervals(stated: int, entering: int) -> str:
    if stated == entering:
        return "95 % intervals follow from the uncertainties of the machine's values"
    return (
        f"95 % intervals follow from {stated} of the {entering} machine values used; the others state no "
        "uncertainty, so the intervals are too narrow"
    )


def _csv(found: Prediction) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = (*found.swept, *found.results)
    table: list[tuple[str, list[float]]] = []
    for c in columns:
        unit = f" [{c.unit}]" if c.unit else ""
        table.append((f"{c.name}{unit}", c.values.tolist()))
        for end, values in zip(("low", "high"), c.interval or (), strict=False):
            table.append((f"{c.name} {end}{unit}", values.tolist()))
    writer.writerow([name for name, _ in table])
    for row in zip(*(values for _, values in table), strict=True):
        writer.writerow(["" if math.isnan(value) else repr(value) for value in row])
    return text.getvalue()


def _document(found: Prediction) -> dict[str, object]:
    def plain(value: float) -> float | str | None:
        return None if math.isnan(value) else ("inf" if math.isinf(value) else value)

    columns = (*found.swept, *found.results)
    intervals = {c.name: list(zip(*c.interval, strict=True)) for c in found.results if c.interval is not None}
    uncertainty: dict[str, object] = {}
    if found.uncertain is not None:
        uncertainty["interval"] = [
            {name: [plain(float(low)), plain(float(high))] for name, (low, high) in zip(intervals, row, strict=True)}
            for row in zip(*intervals.values(), strict=True)
        ]
        uncertainty["interval_level"] = 0.95
        uncertainty["interval_from"] = dict(zip(("stated", "entering"), found.uncertain, strict=True))
    return {
        "model": found.model.name,
        "parameters": [{"name": n, "value": v, "from": origin} for n, v, origin in (*found.used, *found.defaults)],
        "columns": [{"name": c.name, "unit": c.unit, "meaning": c.meaning} for c in columns],
        "rows": [{name: plain(value) for name, value in row.items()} for row in found.rows()],
        **uncertainty,
        "extrapolated": [{"values": list(one.names), "why": one.why, "rows": one.rows} for one in found.beyond],
    }
