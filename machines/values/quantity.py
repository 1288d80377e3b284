"""A value of a machine file: number, unit, source, uncertainty, and how the number was obtained.

A quantity in TOML, in its long and its short form:

    L = { value = 6.3, unit = "us", source = "LOGP", where = "Section 3.3", uncertainty = 0.1 }
    L = 6.3        # where the table says  source = "LOGP"  and  units = ["us"]

`source` names an entry of the file's `[sources]`. A missing `uncertainty` means "not stated by the source".
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from logpost.machines.values.units import UNITS, Dimension, to_base, units_of

Basis = Literal["printed", "measured", "derived", "inferred", "estimated"]
"""How a number was obtained.

printed: it is in the source. measured: by the file's own measurement. derived: computed from numbers that
are in the source (`note` says how). inferred: nowhere printed, chosen so that the source's other numbers come
out (`note` says which). estimated: fitted to a trace.
"""

NOT_STATED = "not stated by the source"


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def _sign(value: float) -> float:
    if value < 0:
        raise ValueError("must not be negative: no time, size or rate is")
    return value


Number = Annotated[float, AfterValidator(_finite), AfterValidator(_sign)]


class Quantity(BaseModel):
    """One number with unit and source. `range` stands for `value` where the source prints only a span."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    dimension: ClassVar[Dimension | None] = None

    value: Number | None = None
    range: tuple[Number, Number] | None = None
    unit: str
    source: str = Field(min_length=1)
    where: str | None = None
    uncertainty: Number | None = None
    interval: tuple[Number, Number] | None = None
    confidence: Annotated[float, Field(gt=0, lt=1)] | None = None
    samples: Annotated[int, Field(ge=1)] | None = None
    basis: Basis = "printed"
    note: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Quantity:
        if (self.value is None) == (self.range is None):
            raise ValueError("needs exactly one of value and range, e.g. value = 6.3 or range = [19.9, 20.1]")
        if self.unit not in UNITS:
            names = units_of(self.dimension) if self.dimension else list(UNITS)
            raise ValueError(f"unit {self.unit!r} is not known; use one of {', '.join(names)}")
        found = UNITS[self.unit].dimension
        if self.dimension is not None and found != self.dimension:
            raise ValueError(
                f"unit {self.unit!r} is a {found}, but this is a {self.dimension}; "
                f"use one of {', '.join(units_of(self.dimension))}"
            )
        for name, span in (("range", self.range), ("interval", self.interval)):
            if span is not None and span[0] > span[1]:
                raise ValueError(f"{name} = [{span[0]:g}, {span[1]:g}] runs backwards; write the lower end first")
        if self.interval is not None and self.uncertainty is not None:
            raise ValueError("has both uncertainty and interval; keep the one that the source gives")
        if self.interval is not None and self.value is not None:
            low, high = self.interval
            if not low <= self.value <= high:
                raise ValueError(f"interval = [{low:g}, {high:g}] does not contain value = {self.value:g}")
        if self.basis in ("derived", "inferred") and not self.note:
            raise ValueError(f'basis = {self.basis!r} needs a note that says from what, e.g. note = "0.25 * 1.45"')
        return self

    def number(self) -> float:
        """The value, or the middle of the range where only a span is printed."""
        if self.value is not None:
            return self.value
        assert self.range is not None
        return (self.range[0] + self.range[1]) / 2

    def base(self, clock_hz: float | None = None) -> float:
        """The value in the base unit of its dimension: ps, ps/B, B, B/s, Hz or 1."""
        return to_base(self.number(), self.unit, clock_hz)

    def half_width(self) -> float | None:
        """Half width of the error bar in the value's own unit; None where the source states none.

        Of an interval that is not centred on the value, the larger side.
        """
        if self.uncertainty is not None:
            return self.uncertainty
        span = self.interval or self.range
        return None if span is None else max(self.number() - span[0], span[1] - self.number())

    def base_error(self, clock_hz: float | None = None) -> float | None:
        """Half width of the error bar in base units; None where the source states none."""
        half = self.half_width()
        return None if half is None else to_base(half, self.unit, clock_hz)

    def uncertainty_text(self) -> str:
        """What `show` prints in the column of uncertainties."""
        level = f" at {self.confidence:.0%}" if self.confidence is not None else ""
        if self.uncertainty is not None:
            return f"± {self.uncertainty:g}{level}"
        if self.interval is not None:
            return f"{_end_text(self.interval[0])} to {_end_text(self.interval[1])}{level}"
        return NOT_STATED


def _end_text(end: float) -> str:
    """An end of an interval: four digits, which is more than any interval is worth, and whole numbers as they are."""
    whole = end.is_integer() or abs(end) >= 1e4
    return f"{end:.0f}" if whole and abs(end) < 1e9 else f"{end:.4g}"


Q = TypeVar("Q", bound=Quantity)


def _more_than_none(quantity: Q) -> Q:
    if quantity.number() <= 0:
        raise ValueError("must be more than 0; leave it out where the source does not give it")
    return quantity


class Time(Quantity):
    """A time, in s, ms, us, ns, ps or cycles of the processor clock."""

    dimension: ClassVar[Dimension | None] = "time"


class TimePerByte(Quantity):
    """A time per byte."""

    dimension: ClassVar[Dimension | None] = "time per byte"


class Bytes(Quantity):
    """An amount of data."""

    dimension: ClassVar[Dimension | None] = "bytes"


class PositiveBytes(Bytes):
    """An amount of data that nothing can be without, e.g. a packet."""

    @model_validator(mode="after")
    def _some(self) -> PositiveBytes:
        return _more_than_none(self)


class Bandwidth(Quantity):
    """Data per time: more than none, as at that rate nothing would ever arrive."""

    dimension: ClassVar[Dimension | None] = "bandwidth"

    @model_validator(mode="after")
    def _some(self) -> Bandwidth:
        return _more_than_none(self)


class Frequency(Quantity):
    """A clock rate: more than none, as a cycle would have no end."""

    dimension: ClassVar[Dimension | None] = "frequency"

    @model_validator(mode="after")
    def _some(self) -> Frequency:
        return _more_than_none(self)


class Count(Quantity):
    """A whole number of things, e.g. queue entries."""

    dimension: ClassVar[Dimension | None] = "number"

    @model_validator(mode="after")
    def _whole(self) -> Count:
        if self.unit != "1" or not float(self.number()).is_integer():
            unit = "" if self.unit == "1" else f" {self.unit}"
            raise ValueError(f'is a count: a whole number with unit "1", not {self.number():g}{unit}')
        return self


class PositiveCount(Count):
    """A number of things of which there is at least one, e.g. processors."""

    @model_validator(mode="after")
    def _some(self) -> PositiveCount:
        if self.number() < 1:
            raise ValueError("must be at least 1; leave it out where the source does not give it")
        return self


class Ratio(Quantity):
    """A pure number or a share."""

    dimension: ClassVar[Dimension | None] = "number"


class Table(BaseModel):
    """A TOML table whose `source`, `where`, `units`, `basis`, `confidence` are defaults for what it holds.

    The defaults reach the table's own quantities and, unless they set their own, its sub-tables. `units` lists at
    most one unit per dimension; a number takes the one that fits its dimension.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _hand_down(cls, raw: Any) -> Any:
        return hand_down(cls, raw) if isinstance(raw, dict) else raw


DEFAULT_KEYS = ("source", "where", "units", "basis", "confidence")


def quantity_type(annotation: Any) -> type[Quantity] | None:
    """The Quantity class inside an annotation such as `Time | None`, else None."""
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, Quantity):
            return candidate
    return None


def unit_of_dimension(units: Any, dimension: Dimension | None) -> str | None:
    """The unit in the list `units` that has this dimension, if there is exactly one."""
    if not isinstance(units, list) or dimension is None:
        return None
    found = [u for u in units if isinstance(u, str) and u in UNITS and UNITS[u].dimension == dimension]
    return found[0] if len(found) == 1 else None


def hand_down(cls: type[BaseModel], raw: dict[str, Any]) -> dict[str, Any]:
    """Give the table's defaults to its quantities and sub-tables; the defaults themselves are consumed.

    Raises ValueError when `units` holds an unknown unit or two units of one dimension, because then a number
    without a unit of its own would be ambiguous.
    """
    own = {key: raw[key] for key in DEFAULT_KEYS if key in raw}
    check_default_units(own.get("units"))
    for key in ("source", "where", "basis"):
        if key in own and not isinstance(own[key], str):
            raise ValueError(f"{key} = {own[key]!r} must be text in quotes")
    fields = {field.alias or name: field for name, field in cls.model_fields.items()}
    filled: dict[str, Any] = {}
    for key, item in raw.items():
        if key in own:
            continue
        annotation = fields[key].annotation if key in fields else None
        kind = quantity_type(annotation)
        if kind is not None:
            filled[key] = _fill_quantity(kind, item, own)
        elif holds_table(annotation) and isinstance(item, dict):
            filled[key] = _push(own, item)
        elif holds_table(annotation) and isinstance(item, list):
            filled[key] = [_push(own, entry) if isinstance(entry, dict) else entry for entry in item]
        else:
            filled[key] = item
    # A table that declares `source` and `where` as fields (a topology: its dimensions are values too) keeps them.
    filled.update({key: own[key] for key in ("source", "where") if key in own and key in fields})
    return filled


def holds_table(annotation: Any) -> bool:
    """Whether the annotation is a Table, or a union or list of them."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return True
    return any(holds_table(part) for part in getattr(annotation, "__args__", ()))


def check_default_units(units: Any) -> None:
    """Raise ValueError unless `units` is absent or a list of known units, one per dimension."""
    if units is None:
        return
    if not isinstance(units, list) or not all(isinstance(u, str) for u in units):
        raise ValueError(f'units = {units!r} must be a list of units, e.g. units = ["us", "ns/B"]')
    seen: dict[str, str] = {}
    for unit in units:
        if unit not in UNITS:
            raise ValueError(f"units holds {unit!r}, which is not a known unit; use some of {', '.join(UNITS)}")
        dimension = UNITS[unit].dimension
        if dimension in seen:
            raise ValueError(f"units holds {seen[dimension]!r} and {unit!r}, both a {dimension}; keep one of them")
        seen[dimension] = unit


def _push(own: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """A sub-table with the outer defaults where it has none itself.

    `where` belongs to its `source`: a table with a source of its own does not inherit the outer `where`.
    """
    merged = dict(table)
    for key, default in own.items():
        if key == "where" and "source" in table:
            continue
        mine = table.get("units")
        if key == "units" and isinstance(mine, list) and all(isinstance(u, str) for u in mine):
            taken = {UNITS[u].dimension for u in mine if u in UNITS}
            merged["units"] = mine + [u for u in default if UNITS[u].dimension not in taken]
        else:
            merged.setdefault(key, default)
    return merged


def _fill_quantity(kind: type[Quantity], item: Any, own: dict[str, Any]) -> Any:
    if isinstance(item, bool) or not isinstance(item, (int, float, dict)):
        return item
    given: dict[str, Any] = {"value": item} if not isinstance(item, dict) else dict(item)
    if "source" in own and "source" not in given:
        given["source"] = own["source"]
        if "where" in own and "where" not in given:
            given["where"] = own["where"]
    if "basis" in own and "basis" not in given:
        given["basis"] = own["basis"]
    if "confidence" in own and "confidence" not in given and ("interval" in given or "uncertainty" in given):
        given["confidence"] = own["confidence"]
    if "unit" not in given:
        unit = "1" if issubclass(kind, Count) else unit_of_dimension(own.get("units"), kind.dimension)
        if unit is not None:
            given["unit"] = unit
    return given
