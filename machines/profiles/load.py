"""The profiles that are part of logpost: TOML to a checked `LibraryProfile`."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from logpost.errors import InputError, suggestion
from logpost.machines.profiles.profile import LibraryProfile

# One line for mypy, which checks against 3.10, where the standard library has no TOML reader yet.
tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

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
        return LibraryProfile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a library profile: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {place or 'the profile'}: {first['msg']}") from error
