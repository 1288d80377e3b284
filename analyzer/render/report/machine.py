"""Render the machine of a split with units, uncertainties and sources, and its model error."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from logpost.analyzer.report.data import Report
from logpost.analyzer.run.manifest import MachineUsed, MachineValue
from logpost.analyzer.run.undivided import TITLE
from logpost.analyzer.words.units import bytes_text, percent_text, quantity_text, safe
from logpost.replay.cost.message_models import MessageModel

NOT_STATED = "not stated"


def value_text(value: MachineValue) -> str:
    """`1.43 µs ± 20.0 ns`: the value and its uncertainty, or that none is stated, or that no value was found."""
    shown, error = value_and_error(value)
    if value.low is not None:
        return f"{shown} ({error})" if error else shown
    if error == NOT_STATED:
        return f"{shown} (± {error})"
    return f"{shown} {error}" if error.startswith("±") else f"{shown} ({error})"


def is_stated(value: MachineValue) -> bool:
    """Whether anything is stated of the value: 0 stands for one that the machine's file does not have."""
    known = value.uncertainty is not None or value.high is not None
    return value.parameter == "eager_limit" or value.value != 0 or known


def value_and_error(value: MachineValue) -> tuple[str, str]:
    """The value and its uncertainty apart. One that is next to nothing within its uncertainty is not identifiable.

    An interval is its two ends. So is an uncertainty that is as large as the value: no value is below 0.
    """
    shown = quantity_text(value.value, value.unit)
    if value.low is not None and value.high is not None:
        ends = quantity_text(value.low, value.unit), quantity_text(value.high, value.unit)
        if value.high == 0 and value.reason is not None:
            return shown, value.reason
        if value.bound_only and value.low == 0:
            return f"at most {ends[1]}", f"not measured: {value.reason}"
        between = f"between {ends[0]} and {ends[1]}"
        if value.reason is None:
            return _measured(value, value.low, value.high) or (shown, _span(value.low, value.high, value.unit))
        return (between, f"not measured: {value.reason}") if value.bound_only else (shown, f"{between}: {value.reason}")
    if value.uncertainty is None:
        return shown, NOT_STATED
    low, high = value.value - value.uncertainty, value.value + value.uncertainty
    if found := _measured(value, low, high):
        return found
    return shown, _span(0.0, high, value.unit) if low <= 0 else f"± {quantity_text(value.uncertainty, value.unit)}"


def _span(low: float, high: float, unit: str) -> str:
    return f"{quantity_text(low, unit)} to {quantity_text(high, unit)}"


def _measured(value: MachineValue, low: float, high: float) -> tuple[str, str] | None:
    """What to say of a value that is next to nothing within its interval; None of any other."""
    if low > 0:  # most reports need not load the machines' package, and its arrays
        return None
    from logpost.machines.values.text import measured

    found = measured(value.value, low, high, value.unit)
    return None if found.identifiable else (found.value, found.interval)


def machine_table(machine: MachineUsed) -> Table:
    """One row per parameter, locality and message-size range; the source with each, or once where all share it."""
    sources = {value.source for value in machine.values}
    names = ["locality", "parameter", "up to", "value"] + (["source"] if len(sources) > 1 else [])
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name, justify="right" if name == "up to" else "left", overflow="fold")
    for value in filter(is_stated, machine.values):
        row: list[str | Text] = [
            value.locality.replace("_", " "),
            value.parameter,
            bytes_text(value.up_to_bytes) if value.up_to_bytes is not None else "",
            value_text(value),
        ]
        table.add_row(*row, *([Text(safe(value.source))] if len(sources) > 1 else []))
    return table


def common_source(machine: MachineUsed) -> str:
    """The source that every value shares, as a line; empty where they differ or there is none."""
    sources = {value.source for value in machine.values}
    return f"source of every value: {sources.pop()}" if len(sources) == 1 else ""


def used_text(machine: MachineUsed) -> str:
    """The machine as people know it, and the model where that is not the whole."""
    return machine.label if machine.model is MessageModel.full else f"{machine.label}; {machine.model.label} alone"


def machine_error(report: Report) -> str:
    """The model error of the split, to be shown with every modelled number."""
    machine = report.machine
    errors = []
    if report.messages.count or machine.transfer_deficit_share is None:
        residual = (
            f"residual (measured, not explained) is not distinguished from {TITLE.partition(',')[0]}"
            if "residual" in machine.undivided
            else f"{percent_text(machine.residual_share)} of message time is residual (measured, not explained)"
        )
        errors.append(f"{residual}, {percent_text(machine.deficit_share)} deficit (explained beyond what was measured)")
    if transfers := transfer_error(machine):
        errors.append(transfers)
    return f"model error ({used_text(machine)}): {'; '.join(errors)}"


def transfer_error(machine: MachineUsed) -> str:
    """The same of one-sided transfers; empty where there are none."""
    if machine.transfer_residual_share is None or machine.transfer_deficit_share is None:
        return ""
    deficit = f"{percent_text(machine.transfer_deficit_share)} deficit"
    if "residual" in machine.undivided:
        return f"of the time of one-sided transfers, {deficit}"
    return f"of the time of one-sided transfers, {percent_text(machine.transfer_residual_share)} residual, {deficit}"
