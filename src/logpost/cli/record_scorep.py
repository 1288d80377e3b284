"""`logpost record --with scorep`: what is said of a measurement by Score-P."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from logpost.cli.output import print_json


def measure(
    program: list[str],
    output: Path | None,
    memory: str | None,
    filter_file: Path | None,
    machine: Path | None,
    say: Callable[[str], None],
    hush: Callable[[str], None],
    *,
    as_json: bool,
) -> int:
    """Measure a program and name its archive; return its exit status. `machine`: a file to keep with the archive."""
    from logpost.cli.next_step import analyze_next
    from logpost.collectors.scorep.measure import Settings
    from logpost.collectors.scorep.measure import measure as run
    from logpost.machines.schema.load import RECORDED

    done = run(program, Settings(output, memory, filter_file), say, hush)
    found = done.archive
    if found is None:
        return done.status
    if machine is not None:
        shutil.copyfile(machine, found.path / RECORDED)
    if as_json:
        variables = {v.name: {"value": v.value, "set_by": "user" if v.theirs else "record"} for v in done.variables}
        about = {"archive": str(found.path), "locations": found.locations, "bytes": found.bytes}
        print_json({**about, "variables": variables}, sys.stderr, indent=None)
    else:
        hush(f"{found.locations} locations, {found.bytes} bytes of events in {found.path / 'traces.otf2'}")
        hush(analyze_next(found.path))
    return done.status
