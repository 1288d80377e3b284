"""Whether a run may be written to a place. Imports no table library: it is asked before anything else starts."""

from __future__ import annotations

from pathlib import Path

from logpost.errors import InputError

MANIFEST = "manifest.json"


def refuse_occupied(place: Path, *, force: bool) -> None:
    """Raise InputError when `place` holds something, unless it is a run (or empty) and `force` is set."""
    if not place.exists():
        return
    if not force:
        raise InputError(f"{place} already exists; pass --force to overwrite it")
    if not (place / MANIFEST).is_file() and not (place.is_dir() and not any(place.iterdir())):
        raise InputError(f"{place} exists and is not a run; choose another place with -o")
