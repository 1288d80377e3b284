"""The machine that a split used, with units, uncertainty and sources, and how far it explains what was measured."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from logpost.analyzer.manifest import MachineUsed, MachineValue
from logpost.analyzer.reporting.data import Report
from logpost.analyzer.reporting.units import bytes_text, percent_text, safe


def value_text(value: MachineValue) -> str:
    """`1.43 us ± 0.02 us`: four digits, and the uncertainty in the same unit, or that none is stated."""
    unit = "" if value.unit == "1" else f" {value.unit}"
    shown = f"{value.value:.4g}{unit}"
    return f"{shown} ± {value.uncertainty:.2g}{unit}" if value.uncertainty is not None else f"{shown} (± not stated)"


def machine_table(machine: MachineUsed) -> Table:
    """One row per parameter, locality and message-size range."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("locality", "parameter", "up to", "value", "source"):
        table.add_column(name, justify="right" if name == "up to" else "left", overflow="fold")
    for value in machine.values:
        table.add_row(
            value.locality.replace("_", " "),
            value.parameter,
            bytes_text(value.up_to_bytes) if value.up_to_bytes is not None else "",
            value_text(value),
            Text(safe(value.source)),
        )
    return table


def machine_error(report: Report) -> str:
    """The model error of the split, to stand beside every modelled number."""
    machine = report.machine
    return (
        f"model error: {percent_text(machine.residual_share)} of message time is residual (measured, not explained), "
        f"{percent_text(machine.deficit_share)} deficit (explained beyond what was measured), with {machine.label}"
    )
