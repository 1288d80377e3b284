"""A machine whose times, and their intervals, are so many times those of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from logpost.machines import Machine
from logpost.machines.schema.load import load_machine_file
from logpost.machines.schema.write import to_toml
from logpost.machines.values.toml import tomllib

FACTORS = (0.5, 0.8, 1.2, 2.0)


def scaled_machine(file: Path, factor: float, to: Path) -> Path:
    """The machine of a file, of which each time of LogGP is `factor` times as long, written to another file."""
    raw = tomllib.loads(to_toml(load_machine_file(file)))
    scaled = _scaled(raw.get("loggp", {}), factor)
    to.write_text(to_toml(Machine.model_validate(raw | {"loggp": scaled})))
    return to


def _scaled(item: Any, factor: float) -> Any:
    """Every value with a unit of time in it."""
    if isinstance(item, list):
        return [_scaled(one, factor) for one in item]
    if not isinstance(item, dict):
        return item
    if str(item.get("unit", "")).partition("/")[0] not in ("ps", "ns", "us", "ms", "s"):
        return {name: _scaled(one, factor) for name, one in item.items()}
    times = {name: item[name] for name in ("value", "uncertainty", "interval") if name in item}
    return item | {
        name: [end * factor for end in known] if isinstance(known, list) else known * factor
        for name, known in times.items()
    }
