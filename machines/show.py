"""What `logpost machines show` and `list` print, as plain data: rows of parameters, lines over the message size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from logpost.machines.quantity import Quantity
from logpost.machines.schema import LOCALITIES, Machine, Observation, Range

FloatArray = npt.NDArray[np.float64]

SMALLEST, LARGEST = 1, 4 * 2**20
LARGEST_WITHOUT_G = 64
"""A class without any G says nothing about long messages, so its lines end early."""

MOST_LINES = 8
"""Lines of one figure that are still told apart."""

MOST_ENTRIES = 32
"""Entries of a list (the nodes of ranks) that are shown."""

WIRE, WIRE_WITHOUT_G = "L + (B-1) G", "L (no G is given)"


@dataclass(frozen=True)
class Row:
    """One value as people read it: `section` is the table of the file, `key` the name in it."""

    section: str
    key: str
    value: str
    unit: str
    uncertainty: str
    source: str
    basis: str
    note: str


@dataclass(frozen=True)
class Line:
    """A curve of the terminal plot: times in picoseconds over message sizes in bytes."""

    label: str
    sizes: FloatArray
    times_ps: FloatArray


@dataclass(frozen=True)
class Figure:
    """Curves that belong together."""

    title: str
    lines: tuple[Line, ...]


def rows(machine: Machine) -> list[Row]:
    """Every value of the file but the observations, and what its tables say in words, in the file's order."""
    return list(_rows(machine, ""))


def _rows(table: BaseModel, section: str) -> Iterator[Row]:
    for name, field in type(table).model_fields.items():
        item = getattr(table, name)
        key = field.alias or name
        inner = f"{section}.{key}" if section else key
        if isinstance(item, Quantity):
            yield _row(section, key, item)
        elif isinstance(item, BaseModel):
            yield from _facts(item, inner)
            yield from _rows(item, inner)
        elif isinstance(item, list):
            before = None
            for entry in item:
                if isinstance(entry, Range):
                    yield from _rows(entry, section + _sizes(entry, before))
                    before = entry
                elif isinstance(entry, BaseModel) and not isinstance(entry, Observation):
                    yield from _entry_rows(inner, entry)


def _facts(table: BaseModel, section: str) -> Iterator[Row]:
    """What a table says in words or in plain numbers, with the source of the table where it keeps one."""
    source = getattr(table, "source", None)
    where = getattr(table, "where", None)
    cited = ", ".join(part for part in (source, where) if part) if isinstance(source, str) else ""
    for name, item in table:
        if name not in table.model_fields_set or name in ("source", "where", "note"):
            continue
        if not isinstance(item, (str, int, list)) or _tables(item):
            continue
        text = f"{name} = {_words(item)}"
        note = getattr(table, "note", None) or ""
        yield Row(section, text, "", "", "", cited, "printed", note if name == "kind" else "")


def _words(item: object) -> str:
    """A plain value as TOML writes it, lists without their brackets and no longer than a few lines."""
    if isinstance(item, list):
        shown = ", ".join(map(_words, item[:MOST_ENTRIES]))
        return shown if len(item) <= MOST_ENTRIES else f"{shown}, ... ({len(item)} entries)"
    return str(item).lower() if isinstance(item, bool) else str(item)


def _sizes(entry: Range, before: Range | None) -> str:
    """The sizes of a range, after the name of its class."""
    if entry.up_to_bytes is not None:
        return f", up to {entry.up_to_bytes} B"
    return "" if before is None else f", above {before.up_to_bytes} B"


def _tables(item: object) -> bool:
    return isinstance(item, list) and (not item or isinstance(item[0], BaseModel))


def _entry_rows(section: str, entry: BaseModel) -> Iterator[Row]:
    """One entry of a list: a row of its own when it holds one value, a section when it holds several."""
    values = [(name, item) for name, item in entry if isinstance(item, Quantity)]
    if len(values) == 1:
        yield _row(section, f"{values[0][0]}: {entry_name(entry)}", values[0][1])
    else:
        yield from _rows(entry, f"{section}: {entry_name(entry)}")


def entry_name(entry: BaseModel) -> str:
    """What tells one entry of a list from the others, e.g. "size 1024 B, burst 8"."""
    plain = []
    for name, item in entry:
        if isinstance(item, int):
            plain.append(f"{name.removesuffix('_bytes')} {item} B" if name.endswith("_bytes") else f"{name} {item}")
        elif isinstance(item, str):
            plain.append(item)
    return ", ".join(plain)


def source_lines(machine: Machine) -> list[str]:
    """Each source in a sentence: what it is, where to look it up; of a measurement date, host and method.

    What a source says like one before it is not said again.
    """
    found: list[str] = []
    first: dict[str, str] = {}
    for key, source in machine.sources.items():
        place = " ".join(part for part in (f"<{source.url}>" if source.url else "", source.path or "") if part)
        made = ", ".join(part for part in (source.date, f"on {source.host}" if source.host else None) if part)
        text = "; ".join(part for part in (source.text, place, made) if part)
        shown = f"as {first[text]}" if text in first else text
        first.setdefault(text, key)
        found.append(f"{key}: {shown}" + (f"; {source.method}" if source.method else ""))
    return found


def observation_rows(machine: Machine) -> list[Row]:
    """The observations, with their sentence as the key."""
    return [_row(o.name, o.what, o.result) for o in machine.observed]


def _row(section: str, key: str, quantity: Quantity) -> Row:
    where = f", {quantity.where}" if quantity.where else ""
    return Row(
        section=section,
        key=key,
        value=value_text(quantity),
        # The unit of a pure number says nothing.
        unit="" if quantity.unit == "1" else quantity.unit,
        uncertainty=quantity.uncertainty_text(),
        source=quantity.source + where,
        basis=quantity.basis,
        note=quantity.note or "",
    )


def value_text(quantity: Quantity) -> str:
    """The number as the source prints it; a span as "300 to 600"."""
    if quantity.value is not None:
        return f"{quantity.value:.12g}"
    assert quantity.range is not None
    return f"{quantity.range[0]:.12g} to {quantity.range[1]:.12g}"


def figures(machine: Machine) -> list[Figure]:
    """The piecewise lines that the file's values give: message cost per class, l_mw per stride, o(S, b) per burst.

    Cycles of unknown length are no times, so that a file with such values has no lines.
    """
    if machine.lacks_clock:
        return []
    found = [figure for name in LOCALITIES if (figure := _class_figure(machine, name)) is not None]
    if len(machine.log3p.point) > 1:
        found.append(Figure("log3P, contiguous: time over message size", tuple(_log3p_lines(machine))))
        found.append(_few("log3P: l_mw over message size", list(_stride_lines(machine))))
    if machine.overlap.o:
        found.append(_few("o(S, b) over message size", list(_burst_lines(machine))))
    if machine.overlap.G:
        found.append(_few("G(P, S, pattern): time per byte over message size", list(_gap_lines(machine))))
    return [figure for figure in found if figure.lines]


def _class_figure(machine: Machine, locality: str) -> Figure | None:
    table = machine.loggp.of(locality)
    if table is None:
        return None
    clock = machine.clock_hz
    parts: dict[str, list[tuple[float, float]]] = {"o_s": [], WIRE: [], WIRE_WITHOUT_G: [], "o_r": [], "sum": []}
    low = float(SMALLEST)
    largest = LARGEST if any(r.G is not None for r in table.range) else LARGEST_WITHOUT_G
    for r in table.range:
        high = float(r.up_to_bytes) if r.up_to_bytes is not None else max(float(largest), low)
        if high < low:
            continue
        sizes = np.unique(np.round(np.geomspace(low, high, 24)))
        pieces = _pieces(r, sizes, clock)
        for name, times in pieces.items():
            parts[name] += zip(sizes.tolist(), times.tolist(), strict=True)
        low = high + 1
    lines = [
        Line(name, np.array([s for s, _ in points]), np.array([t for _, t in points]))
        for name, points in parts.items()
        if points
    ]
    return Figure(f"{locality}: time over message size", tuple(lines)) if lines else None


def _pieces(r: Range, sizes: FloatArray, clock: float | None) -> dict[str, FloatArray]:
    """The parts of a message's time that the range gives; `sum` only when all of them are there."""
    found: dict[str, FloatArray] = {}
    for name, fixed, per_byte in (("o_s", r.o_s, r.o_s_per_byte), ("o_r", r.o_r, r.o_r_per_byte)):
        if fixed is not None:
            slope = per_byte.base(clock) if per_byte is not None else 0.0
            found[name] = fixed.base(clock) + slope * sizes
    latency = None
    if r.L is not None:
        latency = r.L.base(clock)
    elif r.round_trip_L is not None:
        latency = r.round_trip_L.base(clock) / 2
    if latency is not None:
        gap = r.G.base(clock) if r.G is not None else 0.0
        found[WIRE if r.G is not None else WIRE_WITHOUT_G] = latency + gap * np.maximum(sizes - 1, 0)
    if len(found) == 3:
        found["sum"] = np.sum(list(found.values()), axis=0)
    return found


def _few(title: str, lines: list[Line]) -> Figure:
    """At most `MOST_LINES` of the lines, the first and the last among them: each needs a symbol of its own."""
    if len(lines) <= MOST_LINES:
        return Figure(title, tuple(lines))
    chosen = np.unique(np.round(np.linspace(0, len(lines) - 1, MOST_LINES)).astype(int))
    return Figure(f"{title} ({len(chosen)} of {len(lines)} lines)", tuple(lines[i] for i in chosen))


def _log3p_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    for name in ("o_mw", "o_net", "T_mem"):
        pairs = {p.size_bytes: q.base(clock) for p in machine.log3p.point if (q := getattr(p, name)) is not None}
        yield from _line(name, pairs)


def _stride_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    for stride in sorted({p.stride_bytes for p in machine.log3p.point if p.stride_bytes is not None}):
        points = [p for p in machine.log3p.point if p.stride_bytes == stride]
        yield from _line(f"stride {stride} B", {p.size_bytes: p.l_mw.base(clock) for p in points if p.l_mw})


def _burst_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    for burst in sorted({p.burst for p in machine.overlap.o}):
        points = {p.size_bytes: p.o.base(clock) for p in machine.overlap.o if p.burst == burst}
        yield from _line(f"b = {burst}", points)


def _gap_lines(machine: Machine) -> Iterator[Line]:
    clock = machine.clock_hz
    kinds = sorted({(p.pattern, p.processors, p.level) for p in machine.overlap.G})
    for pattern, processors, level in kinds:
        points = {
            p.size_bytes: p.G.base(clock)
            for p in machine.overlap.G
            if (p.pattern, p.processors, p.level) == (pattern, processors, level)
        }
        yield from _line(f"{pattern}, P = {processors}, {level} bandwidth", points)


def _line(label: str, points: dict[int, float]) -> Iterator[Line]:
    if points:
        sizes = sorted(points)
        yield Line(label, np.array(sizes, dtype=np.float64), np.array([points[s] for s in sizes]))
