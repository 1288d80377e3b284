"""Content of a calibration's page: figures of the measurements, and every value with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.words.units import bytes_text, time_text
from logpost.dashboards.figures import calibration as figures
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import significant
from logpost.dashboards.report.calibration_strides import mean_error, strided_points
from logpost.dashboards.report.html import fill
from logpost.dashboards.report.tables import Grid
from logpost.machines.calibration.compose import Calibration
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.locality import LocalityValues, by_size, estimate
from logpost.machines.schema import Machine
from logpost.machines.show.row import Row
from logpost.machines.show.rows import observation_rows, rows
from logpost.machines.values.quantity import Quantity
from logpost.machines.values.text import shown
from logpost.whole_file import write_whole

PS = 1e12
"""Of a second."""


@dataclass(frozen=True)
class ClassSection:
    """One locality class: its figures by name and its tables."""

    locality: str
    signatures: tuple[tuple[str, str, list[tuple[str, str, str]]], ...]
    """Chart name, heading, and what was read off: parameter, value, interval."""
    sizes: str | None
    bandwidth: str | None
    switch: str | None
    grid: str | None


@dataclass(frozen=True)
class CalibrationPage:
    """Everything the template needs."""

    calibration: Calibration
    title: str
    lead: str
    facts: list[tuple[str, str, str]]
    stride_errors: list[tuple[str, str, str]]
    """How far each model of strided messages is off: model, median, remark."""
    classes: list[ClassSection]
    charts: dict[str, Chart]
    grids: dict[str, Grid]
    refused: list[tuple[str, str, str]]
    """Place, value, reason."""


def write_calibration(found: Calibration, path: Path) -> None:
    """Write the page of a calibration as one HTML file. Raises InputError when the file cannot be written."""
    write_whole(path, render(build(found)))


def render(page: CalibrationPage) -> str:
    """The page as HTML text."""
    return fill("calibration.html.j2", page.charts, page=page)


def build(found: Calibration) -> CalibrationPage:
    """Compute the page of a calibration."""
    charts: dict[str, Chart] = {}
    grids: dict[str, Grid] = {}
    classes = [_class(found, one, charts, grids) for one in found.localities.values() if _shows(one)]
    if found.bursts:
        depth = found.machine.overlap.HD
        charts["bursts"] = figures.bursts(found.bursts, None if depth is None else round(depth.number()))
        grids["bursts"] = _bursts_grid(found)
    if found.gaps:
        charts["gaps"] = figures.gaps(found.gaps)
    errors = _strides(found, charts, grids)
    grids["values"] = _values_grid(found.machine)
    if found.machine.observed:
        grids["observed"] = _observed_grid(found.machine)
    return CalibrationPage(
        calibration=found,
        title=found.machine.name,
        lead=_lead(found),
        facts=_facts(found),
        stride_errors=errors,
        classes=classes,
        charts=charts,
        grids=grids,
        refused=[
            (r.place, f"{significant(r.value, 3)} ± {significant(r.half_width, 2)} {r.unit}", r.reason)
            for r in found.refused
        ],
    )


def _shows(one: LocalityValues) -> bool:
    return bool(one.signatures or one.ranges or one.switch)


def _class(found: Calibration, one: LocalityValues, charts: dict[str, Chart], grids: dict[str, Grid]) -> ClassSection:
    here = one.locality
    headings: list[tuple[str, str, list[tuple[str, str, str]]]] = []
    for size, signature in one.signatures.items():
        name = f"signature_{here}_{size}"
        charts[name] = figures.signature(signature, f"{bytes_text(size)}, {here.replace('_', ' ')}")
        read = (("o_s", signature.o_s), ("o_r", signature.o_r), ("g", signature.g), ("L", signature.L))
        facts = [(key, "–" if item is None else time_text(item.value * PS), _interval(item)) for key, item in read]
        kind = "Small messages" if not headings else "Bulk requests"
        limited = "; the processor is the bottleneck, so g is o_s + o_r" if signature.overhead_limited else ""
        headings.append((name, f"{kind}, {bytes_text(size)}{limited}", facts))
    limit = one.switch.low if one.switch else None
    curves: dict[str, Mapping[int, Estimate]] = {
        "o_s(n)": by_size(found.samples, "message_overhead", locality=here, side="send"),
        "o_r(n)": by_size(found.samples, "message_overhead", locality=here, side="receive"),
        "T(n)": by_size(found.samples, "one_way", locality=here),
    }
    names: dict[str, str | None] = dict.fromkeys(("sizes", "bandwidth", "switch", "grid"))
    if one.ranges:
        names["sizes"], names["bandwidth"] = f"sizes_{here}", f"bandwidth_{here}"
        charts[f"sizes_{here}"] = figures.sizes(curves, one.ranges, limit)
        charts[f"bandwidth_{here}"] = figures.bandwidth(curves["T(n)"], one.ranges, limit)
    protocol = [(s.bytes, float(s["delay_s"]), estimate(s)) for s in found.samples.of("protocol", locality=here)]
    if protocol:
        names["switch"] = f"switch_{here}"
        charts[f"switch_{here}"] = figures.switch(protocol, limit)
    table = found.machine.loggp.of(here)
    if table is not None:
        names["grid"] = f"ranges_{here}"
        grids[f"ranges_{here}"] = _ranges_grid(found.machine, here)
    return ClassSection(here, tuple(headings), **names)


def _strides(found: Calibration, charts: dict[str, Chart], grids: dict[str, Grid]) -> list[tuple[str, str, str]]:
    """Chart and table of strided messages; returns how far the models are off."""
    points = strided_points(found)
    packed: dict[int, dict[int, Estimate]] = {}
    for sample in found.samples.of("layout", transfer="remote", form="packed"):
        if sample.locality == found.tables_of:
            packed.setdefault(sample.bytes, {})[int(sample["stride_bytes"])] = estimate(sample)
    if not points and not packed:
        return []
    measured: dict[int, dict[int, Estimate]] = {}
    predicted: dict[int, dict[int, float]] = {}
    for p in points:
        measured.setdefault(p.size, {})[p.stride] = p.measured
        if p.held_out is not None:
            predicted.setdefault(p.size, {})[p.stride] = p.held_out
    charts["strides"] = figures.strides(measured, predicted, packed)
    body = []
    for p in points:
        by_hand = packed.get(p.size, {}).get(p.stride)
        models = [_with_error(model, p.measured.value) for model in (p.held_out, p.to_self, p.contiguous)]
        hand = "–" if by_hand is None else _shown(by_hand)
        body.append((bytes_text(p.size), bytes_text(p.stride), _shown(p.measured), *models, hand))
    head = ("size", "stride", "measured", "log3P, held out", "log3P, to oneself", "LogGP", "packed by hand")
    grids["strides"] = Grid(head, body, frozenset(range(7)))
    errors = []
    for label, model in (
        ("log3P at points held out", "held_out"),
        ("log3P from messages to oneself", "to_self"),
        ("LogGP", "contiguous"),
    ):
        mean, middle, count = mean_error(points, model)
        if count:
            errors.append((label, f"{middle * 100:.1f} %", f"median over {count} points; mean {mean * 100:.1f} %"))
    return errors


def _shown(found: Estimate) -> str:
    return f"{time_text(found.value * PS)} ± {time_text(found.half_width * PS)}"


def _with_error(model: float | None, measured: float) -> str:
    """What a model says, and how far off it is; nothing is a share of a time of 0."""
    if model is None:
        return "–"
    off = f" ({(model / measured - 1) * 100:+.0f} %)" if measured > 0.0 else ""
    return f"{time_text(model * PS)}{off}"


def _interval(found: Estimate | None) -> str:
    if found is None:
        return "refused or not measured"
    wide = "" if found.half_width <= 0.05 * found.value else ", ±5 % not reached"
    return f"{time_text(max(found.low, 0.0) * PS)} to {time_text(found.high * PS)}{wide}"


def _quantity(quantity: Quantity | None) -> str:
    return "–" if quantity is None else shown(quantity).value


def _error(quantity: Quantity | None) -> str:
    return "refused or not measured" if quantity is None else shown(quantity).interval


def _ranges_grid(machine: Machine, locality: str) -> Grid:
    table = machine.loggp.of(locality)
    assert table is not None
    body: list[tuple[str, ...]] = []
    for r in table.range:
        upto = "any" if r.up_to_bytes is None and len(table.range) == 1 else (
            "larger" if r.up_to_bytes is None else f"up to {bytes_text(r.up_to_bytes)}"
        )  # fmt: skip
        for name in ("L", "o_s", "o_s_per_byte", "o_r", "o_r_per_byte", "g", "G"):
            quantity: Quantity | None = getattr(r, name)
            if quantity is not None:
                key = name.replace("_per_byte", " per byte")
                body.append((upto, key, _quantity(quantity), _error(quantity), quantity.note or ""))
                upto = ""
    return Grid(("message size", "parameter", "value", "95 % interval", "note"), body, frozenset({2, 3}))


def _bursts_grid(found: Calibration) -> Grid:
    lengths = sorted({p.burst for p in found.bursts})
    cells = {(p.size, p.burst): p.o for p in found.bursts}
    body = [
        (bytes_text(size), *(time_text(cells[size, b].value * PS) if (size, b) in cells else "–" for b in lengths))
        for size in sorted({p.size for p in found.bursts})
    ]
    return Grid(("size", *(f"b = {b}" for b in lengths)), body, frozenset(range(1, len(lengths) + 1)))


def _values_grid(machine: Machine) -> Grid:
    # The source shares a column with the note: in one of its own its name broke in the middle.
    body = [
        (
            row.section,
            row.key,
            f"{row.value} {row.unit}".removesuffix(" 1"),
            _ends(row),
            ": ".join(part for part in (row.source, row.note) if part),
        )
        for row in rows(machine)
        if row.value
    ]
    return Grid(("table", "value of", "value", "95 % interval", "source and note"), body, frozenset({2, 3}))


def _ends(row: Row) -> str:
    """The interval; that it is one at 95 % is in the heading."""
    return row.uncertainty.removesuffix(" at 95%")


def _observed_grid(machine: Machine) -> Grid:
    body = [
        (row.key, f"{row.value} {row.unit}".removesuffix(" 1"), _ends(row), row.note)
        for row in observation_rows(machine)
    ]
    return Grid(("observed", "value", "95 % interval", "note"), body, frozenset({1, 2}))


def _lead(found: Calibration) -> str:
    host = found.samples.host
    refused = f"; {len(found.refused)} refused" if found.refused else ""
    wide = f", {len(found.not_reached)} of them with an interval wider than ±5 %" if found.not_reached else ""
    return (
        f"{found.values} values of {', '.join(dict.fromkeys(host.hosts))}, {host.ranks} ranks, measured on "
        f"{host.date[:10]}{wide}{refused}."
    )


def _facts(found: Calibration) -> list[tuple[str, str, str]]:
    names = [name for name in found.localities if found.machine.loggp.of(name) is not None]
    if not names:
        return []
    far = found.machine.loggp.of(names[-1])
    assert far is not None
    small, bulk = far.range[0], far.range[-1]
    where = names[-1].replace("_", " ")
    limit = far.eager_limit
    return [
        ("L", _quantity(small.L), f"{where}, {_error(small.L)}"),
        ("o_s", _quantity(small.o_s), _error(small.o_s)),
        ("o_r", _quantity(small.o_r), _error(small.o_r)),
        ("g", _quantity(small.g), _error(small.g)),
        ("G, large messages", _quantity(bulk.G), _error(bulk.G)),
        (
            "Eager limit",
            "–" if limit is None else figures.size_label(round(limit.number())),
            "no switch was found" if limit is None else where,
        ),
    ]


__all__ = ["CalibrationPage", "build", "render", "write_calibration"]
