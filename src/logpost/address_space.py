"""A limit on the address space (`ulimit -v`), which libraries with many threads reach long before memory is full."""

from __future__ import annotations

import resource

LEAST_BYTES = 2_000_000_000
"""What the table library and its threads reserve before the first row is read, on two cores."""


def limit_bytes() -> int | None:
    """The soft limit on this process's address space in bytes; None without one."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def way_out() -> str | None:
    """What to do where memory ran out under a limit on the address space; None without such a limit."""
    limit = limit_bytes()
    if limit is None:
        return None
    return f"the address space is limited to {limit / 1e9:.2g} GB: raise the limit with `ulimit -v`"


def too_small() -> str | None:
    """The error for a limit under which the table library cannot even start; None where there is room."""
    limit = limit_bytes()
    if limit is None or limit >= LEAST_BYTES:
        return None
    return f"memory: {way_out()} to {LEAST_BYTES / 1e9:.2g} GB or more, or `ulimit -v unlimited`"
