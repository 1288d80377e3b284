"""A setting as people write it, NAME=VALUE, whatever it changes."""

from __future__ import annotations

import math
import re

from logpost.errors import InputError

_TIMES = re.compile(r"[*×](?P<behind>[\d.]+)|(?P<before>[\d.]+)[x*×]")
"""factors as other tools write them"""


def parted(text: str) -> tuple[str, str]:
    """The name and the value of a setting.

    Raises:
        InputError: it lacks one of them, or writes a factor otherwise than as xF.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name or not value:
        raise InputError(f"--set {text}: write NAME=VALUE, e.g. --set L=5us or --set L=x2")
    if (otherwise := _TIMES.fullmatch(value)) is not None:
        raise InputError(f"--set {text}: write a factor as {name}=x{otherwise['behind'] or otherwise['before']}")
    return name, value


def factor_of(name: str, value: str) -> float:
    """F of a value xF.

    Raises:
        InputError: F is not a finite number of 0 or more.
    """
    try:
        factor = float(value[1:])
    except ValueError:
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0.0):
        raise InputError(f"--set {name}={value}: write a factor as x2 or x0.5")
    return factor
