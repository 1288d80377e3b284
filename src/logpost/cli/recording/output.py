"""`--output`, `--recover`, `--keep-raw`, `--json` and `--quiet`: where the archive is, and what is printed of it."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from logpost.cli.output import print_json

if TYPE_CHECKING:
    from logpost.collectors.assemble import Archive
    from logpost.machines.calibration.while_recording import Outcome

Say = Callable[[str], None]

Output = Annotated[Path | None, typer.Option("-o", "--output", help="Directory for the archive (default: here).")]

Recover = Annotated[
    Path | None, typer.Option("--recover", help="Assemble the archive from raw logs that a killed recording left.")
]

KeepRaw = Annotated[bool, typer.Option("--keep-raw", help="Keep the raw logs in the archive's folder.")]

AsJson = Annotated[bool, typer.Option("--json", help="Print what was recorded as JSON on standard error.")]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only problems.")]


def report(archive: Archive, machine: Path | None, say: Say, hush: Say, *, as_json: bool) -> None:
    """Print what was recorded.

    Args:
        archive: the one that was made.
        machine: file to keep with it; None: none is named.
        say: prints a problem.
        hush: prints what is no problem.
        as_json: one line of JSON instead of the summary.
    """
    from logpost.cli.next_step import analyze_next

    for warning in archive.warnings:
        say(warning)
    if machine is not None:
        from logpost.machines.schema.load import RECORDED

        shutil.copyfile(machine, archive.path / RECORDED)
    s, measured = archive.summary, archive.calibration
    if measured is not None:
        # A single rank has no messages to explain; any other reason is a problem.
        (say if measured.reason and measured.ranks != 1 else hush)(measured.sentence())
    if s.get("stopped"):
        say(f"{s['stopped']} threads stopped recording before the program ended (full disk or --limit)")
    if s.get("overwritten_calls"):
        hush(f"the rings have overwritten {s['overwritten_calls']} calls; the archive holds the later ones")
    if s.get("skipped_calls"):
        hush(f"recording was off at times, for {s['skipped_calls']} calls; the archive says when")
    if as_json:
        print_json({"archive": str(archive.path), **s, **_calibrated(measured)}, sys.stderr, indent=None)
    else:
        anchor = archive.path / "traces.otf2"
        hush(f"{s['recorded']} of {s['ranks']} ranks, {s['calls']} calls, {s['events']} events in {anchor}")
        hush(analyze_next(archive.path))


def _calibrated(measured: Outcome | None) -> dict[str, object]:
    return {} if measured is None else {"calibration": dataclasses.asdict(measured)}
