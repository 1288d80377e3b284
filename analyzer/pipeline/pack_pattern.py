"""The regular expression that names packing regions. Imports no table library: the command line refuses a wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from logpost.errors import InputError

NAMED = 8
"""Regions named where a pattern matches none of them."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern.

    Raises:
        InputError: it is no regular expression.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(f"--pack {pattern}: no regular expression: {error}") from None


def check(pattern: str, regions: Iterable[str]) -> None:
    """Refuses a pattern that matches none of an archive's user regions.

    Raises:
        InputError: it does not, or is no regular expression.
    """
    wanted, user = compiled(pattern), sorted(set(regions))
    if any(wanted.search(name) for name in user):
        return
    if not user:
        raise InputError(f"--pack {pattern}: the archive has no user regions; record it with an instrumented program")
    more = f" and {len(user) - NAMED:,} others" if len(user) > NAMED else ""
    raise InputError(f"--pack {pattern}: matches no user region of the archive; it has {', '.join(user[:NAMED])}{more}")
