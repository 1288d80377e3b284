"""The profiles that are part of logpost: TOML to a checked `LibraryProfile`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import ValidationError

from logpost.errors import InputError, suggestion
from logpost.machines.profiles.profile import LibraryProfile
from logpost.machines.values.toml import read_toml

LIBRARY = Path(__file__).resolve().parent / "library"


def profile_names() -> list[str]:
    """Names of the profiles, sorted."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


@cache
def load_profile(name: str) -> LibraryProfile:
    """The profile of this name.

    Raises:
        InputError: there is none.
    """
    if name not in profile_names():
        raise InputError(
            f"unknown library profile {name!r}; use one of {', '.join(profile_names())}"
            f"{suggestion(name, profile_names())}"
        )
    return read_profile(LIBRARY / f"{name}.toml")


def read_profile(path: Path) -> LibraryProfile:
    """The profile in a file.

    Raises:
        InputError: it is none, with the first problem.
    """
    try:
        return LibraryProfile.model_validate(read_toml(path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {place or 'the profile'}: {first['msg']}") from error
